//! One worker process, from the outside: started, asked, watched, and ended if it must be.

use super::flight::{self, Spot};
use super::places::Place;
use super::protocol::{frame, take, Answer, ProtocolError, Request};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{kill_process_group, waitid, Pid, Signal, WaitId, WaitIdOptions};
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How often a running cell's memory, output and time are looked at. Most cells end before the first look.
#[cfg(target_os = "linux")]
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);
/// The same where a look starts a process.
#[cfg(not(target_os = "linux"))]
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// How long a process may take to end once it closed its socket.
const TO_END: Duration = Duration::from_secs(2);

/// How much a cell may print before it is ended: it would fill the disk.
const MOST_OUTPUT: u64 = 64 << 20;

/// How much room a disk must have left for a cell's output to be told whole, in bytes.
const LEAST_ROOM: u64 = 256 << 10;

/// How much of a cell's output is kept: its end, where the reason stands.
const KEPT_OUTPUT: u64 = 16 << 10;

/// What one exchange may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Until it is ended.
    pub time: Duration,
    /// Resident memory of the process, in bytes.
    pub memory: u64,
}

/// A worker cannot be started.
#[derive(Debug, Error)]
#[error("cannot start a worker process ({program}): {source}")]
pub struct StartError {
    program: String,
    #[source]
    source: std::io::Error,
}

/// How an exchange ended.
#[derive(Debug)]
pub enum Exchange {
    /// With an answer; the worker is ready for more.
    Answered(Answer),
    /// The process is gone by itself.
    Ended(ExitStatus),
    /// The time was up.
    TooLate,
    /// It took too much memory.
    TooLarge,
    /// It printed too much.
    TooLoud,
    /// It sent something that is no answer.
    Nonsense(ProtocolError),
    /// Nobody wants the answer any more.
    Interrupted,
}

/// A worker process.
pub struct Child {
    process: std::process::Child,
    socket: UnixStream,
    flight: File,
    output: File,
    /// Where the output of the first cell that was asked begins.
    output_from: u64,
    /// Where the output of the cell that was answered last ends.
    output_to: Option<u64>,
    /// Bytes of requests that the socket has not taken yet.
    unsent: Vec<u8>,
    /// The cells that were asked and not answered yet.
    asked: VecDeque<String>,
    /// Files whose text it has.
    told: HashSet<String>,
    buffer: Vec<u8>,
    /// How the process ended, once it did.
    status: Option<ExitStatus>,
    _place: Place,
}

impl Child {
    /// Starts `program worker`.
    ///
    /// The child leads a process group of its own, so that it can be ended with everything that it starts, and so that
    /// an interrupt from the keyboard does not reach it.
    /// `place` is the processor that it keeps to, as the worker counts those it may use.
    pub fn start(program: &Path, place: Place) -> Result<Self, StartError> {
        let start = move || -> std::io::Result<Self> {
            let (socket, theirs) = UnixStream::pair()?;
            socket.set_nonblocking(true)?;
            let (flight, output) = (flight::file()?, tempfile::tempfile()?);
            // Both of the worker's streams go there, and must not write over each other.
            rustix::fs::fcntl_setfl(&output, rustix::fs::OFlags::APPEND)?;
            let process = Command::new(program)
                .args(["worker", "--place", &place.number.to_string()])
                .stdin(Stdio::from(OwnedFd::from(theirs)))
                .stdout(Stdio::from(flight.try_clone()?))
                .stderr(Stdio::from(output.try_clone()?))
                .process_group(0)
                .spawn()?;
            Ok(Self {
                process,
                socket,
                flight,
                output,
                output_from: 0,
                output_to: None,
                unsent: Vec::new(),
                asked: VecDeque::new(),
                told: HashSet::new(),
                buffer: Vec::new(),
                status: None,
                _place: place,
            })
        };
        start().map_err(|source| StartError {
            program: program.display().to_string(),
            source,
        })
    }

    /// Whether the worker has the text of this file.
    pub fn knows(&self, file: &str) -> bool {
        self.told.contains(file)
    }

    /// Asks; the answer comes after those to everything asked before. The worker goes on by itself from one cell to the
    /// next, so that it does not wait for this process in between.
    ///
    /// # Errors
    ///
    /// The request cannot be framed.
    pub fn ask(&mut self, request: &Request) -> Result<(), ProtocolError> {
        self.unsent.extend(frame(request)?);
        self.asked.push_back(request.cell.clone());
        if request.text.is_some() {
            self.told.insert(request.file.clone());
        }
        Ok(())
    }

    /// Whether the next answer is about this cell.
    pub fn was_asked(&self, cell: &str) -> bool {
        self.asked.front().is_some_and(|asked| asked == cell)
    }

    /// Waits for how the first cell that was asked ends. After anything but an answer the process is gone.
    pub fn wait(&mut self, bounds: Bounds, stop: &dyn Fn() -> bool) -> Exchange {
        if let Some(end) = self.output_to.take() {
            self.output_from = end;
        }
        let exchange = self.exchange(bounds, stop);
        match &exchange {
            Exchange::Answered(answer) => {
                self.asked.pop_front();
                if let Answer::Ran { printed, .. } = answer {
                    self.output_to = Some(*printed);
                }
            }
            Exchange::Ended(_) => {}
            _ => drop(self.end()),
        }
        exchange
    }

    fn exchange(&mut self, bounds: Bounds, stop: &dyn Fn() -> bool) -> Exchange {
        let start = Instant::now();
        let mut chunk = [0; 64 << 10];
        loop {
            match take::<Answer>(&mut self.buffer) {
                Ok(Some(answer)) => return Exchange::Answered(answer),
                Ok(None) => {}
                Err(error) => return Exchange::Nonsense(error),
            }
            let left = bounds.time.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Exchange::TooLate;
            }
            let flags = match self.unsent.is_empty() {
                true => PollFlags::IN,
                false => PollFlags::IN | PollFlags::OUT,
            };
            let mut watched = [PollFd::new(&self.socket, flags)];
            // Both durations are short enough for any clock.
            let wait = Timespec::try_from(left.min(BETWEEN_LOOKS)).ok();
            let ready = poll(&mut watched, wait.as_ref()).unwrap_or(0);
            let told = watched[0].revents();
            if ready == 0 {
                if stop() {
                    return Exchange::Interrupted;
                }
                if self.resident().is_some_and(|bytes| bytes > bounds.memory) {
                    return Exchange::TooLarge;
                }
                if self.printed() > MOST_OUTPUT {
                    return Exchange::TooLoud;
                }
                continue;
            }
            if told.contains(PollFlags::OUT) {
                match self.socket.write(&self.unsent) {
                    Ok(sent) => drop(self.unsent.drain(..sent)),
                    Err(error) if is_passing(&error) => {}
                    // Its end is closed: reading tells how it ended.
                    Err(_) => self.unsent.clear(),
                }
            }
            if told.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                match self.socket.read(&mut chunk) {
                    Ok(0) => return Exchange::Ended(self.ended()),
                    Ok(read) => self.buffer.extend_from_slice(&chunk[..read]),
                    Err(error) if is_passing(&error) => continue,
                    Err(_) => return Exchange::Ended(self.ended()),
                }
            }
        }
    }

    /// Where the worker was.
    pub fn spot(&self) -> Option<Spot> {
        flight::read(&self.flight)
    }

    /// The end of what the latest cell printed.
    pub fn output(&self) -> String {
        let to = self.output_to.unwrap_or_else(|| self.length());
        let from = self.output_from.max(to.saturating_sub(KEPT_OUTPUT));
        let mut bytes = vec![0; to.saturating_sub(from) as usize];
        // What cannot be read was not printed, as far as a report is concerned.
        let read = self.output.read_at(&mut bytes, from).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    }

    /// Whether the disk that its output and its flight record lie on has no room left: nothing that a cell came to there
    /// says anything about it.
    pub fn is_out_of_room(&self) -> bool {
        let left = rustix::fs::fstatvfs(&self.output).map(|it| it.f_bavail.saturating_mul(it.f_frsize));
        left.is_ok_and(|bytes| bytes < LEAST_ROOM)
    }

    /// Whether its output has grown so long that another worker should take over.
    pub fn is_worn(&self) -> bool {
        self.length() > MOST_OUTPUT / 4
    }

    fn length(&self) -> u64 {
        self.output.metadata().map_or(0, |metadata| metadata.len())
    }

    fn printed(&self) -> u64 {
        self.length().saturating_sub(self.output_from)
    }

    /// Resident memory of the process, in bytes.
    ///
    /// Not its address space, which a limit on the process itself would bound: MLX and its threads reserve far more than
    /// they use, and a failed allocation is an error in MLX and no end.
    #[cfg(target_os = "linux")]
    fn resident(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.process.id())).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    #[cfg(not(target_os = "linux"))]
    fn resident(&self) -> Option<u64> {
        let id = self.process.id().to_string();
        let listed = Command::new("ps").args(["-o", "rss=", "-p", &id]).output().ok()?;
        let kilobytes: u64 = String::from_utf8(listed.stdout).ok()?.trim().parse().ok()?;
        Some(kilobytes << 10)
    }

    /// The status of a process that closed its socket.
    fn ended(&mut self) -> ExitStatus {
        let start = Instant::now();
        while start.elapsed() < TO_END && !self.has_ended() {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.end()
    }

    /// Whether the process has ended; it is still there to be waited for, so that nobody else can have its number.
    fn has_ended(&self) -> bool {
        let Some(id) = Pid::from_raw(self.process.id() as i32) else {
            return true;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(id), options), Ok(None))
    }

    /// Ends the process and whatever it started, and takes it off the system's list.
    fn end(&mut self) -> ExitStatus {
        if let Some(status) = self.status {
            return status;
        }
        if let Some(id) = Pid::from_raw(self.process.id() as i32) {
            // Nobody else can have the number before the wait below. Fails where all are gone already.
            let _ = kill_process_group(id, Signal::KILL);
        }
        // The process exists and is ours, so waiting cannot fail; if it did, it would count as ended.
        let status = self.process.wait().unwrap_or_else(|_| ExitStatus::from_raw(0));
        self.status = Some(status);
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

fn is_passing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
