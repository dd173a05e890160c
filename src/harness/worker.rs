//! The inside of a worker process: takes cells one after another and answers what came of them.
//!
//! A worker is started with three things in place of its standard streams: a socket to whoever asks (input), a file for
//! its flight record (output), and a file for whatever is printed (errors). It moves the first two out of the way before
//! anything else runs, so that nothing a cell prints, reads or closes by number can disturb them.

use super::flight::Flight;
use super::protocol::{frame, take, Answer, ProtocolError, Request};
use super::seam::Runner;
use crate::case::cell::Cell;
use crate::case::check;
use crate::case::load::{self, Source};
use crate::case::names::Names;
use crate::model::allow_faults;
use rustix::process::{kill_current_process_group, setrlimit, Resource, Rlimit, Signal};
use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;
use thiserror::Error;

/// The stack of the thread that runs cells: the same everywhere, so that what overflows it does so everywhere.
const STACK: usize = 8 << 20;

/// The lowest descriptor that the moved streams may get.
const OUT_OF_THE_WAY: i32 = 10;

/// A worker cannot work.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// Somebody started it by hand.
    #[error("a worker is started by assay itself, with a socket to talk over; use `assay run`")]
    ByHand,
    /// Its streams cannot be moved out of the way.
    #[error("cannot take over the standard streams: {0}")]
    Streams(#[source] std::io::Error),
    /// It cannot have its threads.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The other side is gone, or sent something else.
    #[error("cannot talk to whoever started this worker: {0}")]
    Talk(#[source] std::io::Error),
    /// What was asked is no request.
    #[error("cannot understand what is asked: {0}")]
    Asked(#[from] ProtocolError),
}

/// Answers until nobody asks any more.
///
/// # Errors
///
/// See [`WorkerError`].
pub fn serve(names: Names, runner: Arc<dyn Runner>, place: usize) -> Result<(), WorkerError> {
    let (socket, flight) = take_over_streams()?;
    keep_to(place);
    // A dump of memory for each crash that a case provokes would fill the disk. Where it cannot be forbidden, so be it.
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    );
    let asking = socket.try_clone().map_err(WorkerError::Streams)?;
    let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
    let (sender, requests) = channel();
    thread("requests")
        .spawn(move || {
            if read_requests(asking, &sender).is_ok() {
                // No cell outlives the run, also where it hangs.
                let _ = kill_current_process_group(Signal::KILL);
            }
        })
        .map_err(WorkerError::Thread)?;
    allow_faults();
    let answer = move || {
        Worker {
            names,
            runner,
            flight: Flight::start(&flight).map_err(WorkerError::Streams)?,
            files: HashMap::new(),
        }
        .answer_all(&requests, socket)
    };
    let cells = thread("cell")
        .stack_size(STACK)
        .spawn(answer)
        .map_err(WorkerError::Thread)?;
    // A panic there has been printed, and ends the process here.
    cells.join().unwrap_or(Ok(()))
}

/// Keeps this process, whose threads all begin later, to one of the processors that it may use; see
/// [`places`](super::places).
#[cfg(target_os = "linux")]
fn keep_to(place: usize) {
    use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};
    // Where it is not allowed, it is only slower.
    let Ok(allowed) = sched_getaffinity(None) else {
        return;
    };
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|it| allowed.is_set(*it)).collect();
    if let Some(processor) = processors.get(place % processors.len().max(1)) {
        let mut only = CpuSet::new();
        only.set(*processor);
        let _ = sched_setaffinity(None, &only);
    }
}

/// The system lets nobody choose.
#[cfg(not(target_os = "linux"))]
fn keep_to(_place: usize) {}

/// The socket and the flight record's file; afterwards input is empty, and output goes where errors go.
fn take_over_streams() -> Result<(UnixStream, File), WorkerError> {
    let moved = |stream: &dyn std::os::fd::AsFd| -> Result<OwnedFd, WorkerError> {
        rustix::io::fcntl_dupfd_cloexec(stream.as_fd(), OUT_OF_THE_WAY)
            .map_err(|error| WorkerError::Streams(error.into()))
    };
    let socket = UnixStream::from(moved(&std::io::stdin())?);
    if socket.peer_addr().is_err() {
        return Err(WorkerError::ByHand);
    }
    let flight = File::from(moved(&std::io::stdout())?);
    let nothing = File::open("/dev/null").map_err(WorkerError::Streams)?;
    rustix::stdio::dup2_stdin(&nothing).map_err(|error| WorkerError::Streams(error.into()))?;
    rustix::stdio::dup2_stdout(std::io::stderr()).map_err(|error| WorkerError::Streams(error.into()))?;
    Ok((socket, flight))
}

/// Hands on what is asked until the other side is closed, by whatever end of its process.
///
/// It reads all the time, also while a cell runs: to read nothing more is how every system tells that the other side is
/// gone, where what else could be waited for differs.
///
/// # Errors
///
/// What is asked is no request, which whoever takes the requests is told too, or nobody takes them any more.
fn read_requests(
    mut socket: impl Read,
    requests: &Sender<Result<Request, WorkerError>>,
) -> Result<(), Unread> {
    let mut buffer = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        loop {
            match take(&mut buffer) {
                Ok(None) => break,
                Ok(Some(request)) => requests.send(Ok(request)).map_err(|_| Unread)?,
                Err(error) => {
                    // Where nobody takes it, the process is on its way out already.
                    let _ = requests.send(Err(error.into()));
                    return Err(Unread);
                }
            }
        }
        match socket.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // An error is an end too: nothing more can be asked.
            Ok(0) | Err(_) => return Ok(()),
            Ok(read) => buffer.extend_from_slice(&chunk[..read]),
        }
    }
}

/// No more requests are read, though the other side is still there.
#[derive(Debug)]
struct Unread;

/// How many bytes this process has printed.
fn printed() -> u64 {
    // What cannot be flushed or measured is told as the next cell's.
    let _ = std::io::stdout().flush();
    rustix::fs::fstat(std::io::stderr()).map_or(0, |it| u64::try_from(it.st_size).unwrap_or(0))
}

struct Worker {
    names: Names,
    runner: Arc<dyn Runner>,
    flight: Rc<Flight>,
    /// The cells of each file told so far.
    files: HashMap<String, HashMap<String, Cell>>,
}

impl Worker {
    fn answer_all(
        mut self,
        requests: &Receiver<Result<Request, WorkerError>>,
        mut socket: UnixStream,
    ) -> Result<(), WorkerError> {
        for request in requests {
            let answer = self.answer(request?);
            socket.write_all(&frame(&answer)?).map_err(WorkerError::Talk)?;
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Answer {
        if let Some(text) = request.text {
            match self.cells(&request.file, text.into()) {
                Ok(cells) => drop(self.files.insert(request.file.clone(), cells)),
                Err(message) => return Answer::Failed { message },
            }
        }
        let cell = self
            .files
            .get(&request.file)
            .and_then(|cells| cells.get(&request.cell));
        let Some(cell) = cell else {
            let message = format!("{} has no cell {}", request.file, request.cell);
            return Answer::Failed { message };
        };
        self.flight.begin(request.pace);
        let outcome = Box::new(self.runner.run(cell));
        Answer::Ran {
            fit: self.runner.is_fit_after(cell, &outcome),
            outcome,
            printed: printed(),
        }
    }

    fn cells(&self, file: &str, text: Arc<str>) -> Result<HashMap<String, Cell>, String> {
        let id = load::id(file).map_err(|fault| fault.to_string())?;
        let source = Source {
            id,
            file: file.to_owned(),
            text,
        };
        let cells = check::case(&source, &self.names).map_err(|problems| {
            let texts: Vec<String> = problems.iter().map(|problem| problem.to_string()).collect();
            format!("{file}: {}", texts.join("; "))
        })?;
        Ok(cells.into_iter().map(|cell| (cell.id.clone(), cell)).collect())
    }
}
