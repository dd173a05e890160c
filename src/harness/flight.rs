//! The flight recorder: what a worker is doing, in a file that outlives it.
//!
//! Before each call crosses into C the worker writes which one it is, into a mapped file; when the process is gone,
//! whoever started it reads where it was. What is written lies in the page cache and survives the process, whatever ends
//! it, so nothing is ever flushed, and a call costs no more than copying its name. (Written by `pwrite` it would cost 1 µs,
//! which is a twentieth of a small cell.)
//!
//! MLX is lazy: most of what a call asks for happens at the next evaluation. With [`Pace::Eager`] each call's results are
//! evaluated right after it, so that the record names the op that did it.

use crate::capture::{stand_beside, Bystander};
use crate::graph;
use crate::model::dtype_name;
use crate::vocabulary::Shape;
use memmap2::{MmapMut, MmapOptions};
use mlx_sys::function::{Argument, CallView, Class, Output};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

/// How many bytes a record may have.
const LONGEST: usize = 1024;

/// What comes before the text: phase, position, two bytes of nothing, the call's number and the text's length.
const HEAD: usize = 12;

/// When results are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// When MLX likes.
    #[default]
    Lazy,
    /// After each call.
    Eager,
}

/// What is being done with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its program and inputs are made.
    Building,
    /// The forward runs.
    Capturing,
    /// The forward runs again, with other inputs.
    CapturingAgain,
    /// The trace is replayed, perturbed, and seeded with a fault.
    Validating,
    /// The expected values are computed, and everything is compared.
    Judging,
}

const PHASES: [Phase; 5] = [
    Phase::Building,
    Phase::Capturing,
    Phase::CapturingAgain,
    Phase::Validating,
    Phase::Judging,
];

/// Where a worker was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// What was being done.
    pub phase: Phase,
    /// The latest call, if there was one in this phase.
    pub call: Option<CallSpot>,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSpot {
    /// Its number in the forward, from 1.
    pub number: u32,
    /// Whether it had returned.
    pub returned: bool,
    /// The function and, at an eager pace, its operands: `floor_divide`, `int32 (2, 3)`, `int32 ()`.
    pub function: String,
    /// The operands, as one reads them.
    pub operands: String,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Phase::Building | Phase::Validating | Phase::Judging, _) | (_, None) =
            (self.phase, &self.call)
        {
            return f.write_str(match self.phase {
                Phase::Building => "while its program was built",
                Phase::Capturing => "before its first call",
                Phase::CapturingAgain => "in the second capture, before its first call",
                Phase::Validating => "while its trace was validated",
                Phase::Judging => "while it was judged",
            });
        }
        if let Some(call) = &self.call {
            let word = if call.returned { "after" } else { "in" };
            write!(f, "{word} {} (call {})", call.function, call.number)?;
            if !call.operands.is_empty() && !call.returned {
                write!(f, ", parents {}", call.operands)?;
            }
        }
        match self.phase {
            Phase::CapturingAgain => f.write_str(", in the second capture"),
            _ => Ok(()),
        }
    }
}

/// A file for a record, of its whole length from the start: a page that the disk has no room for would end whoever
/// writes to it.
pub fn file() -> std::io::Result<File> {
    let file = tempfile::tempfile()?;
    file.write_all_at(&[0; LONGEST], 0)?;
    Ok(file)
}

/// What the file says; `None` where nothing was begun.
pub fn read(file: &File) -> Option<Spot> {
    let mut bytes = [0; LONGEST];
    let length = file.read_at(&mut bytes, 0).ok()?;
    let bytes = &bytes[..length];
    let phase = *PHASES.get(usize::from(*bytes.first()?).checked_sub(1)?)?;
    let number = |at: usize| {
        bytes
            .get(at..at + 4)
            .and_then(|it| it.try_into().ok())
            .map(u32::from_le_bytes)
    };
    let (call, text) = (number(4)?, number(8)? as usize);
    let text = String::from_utf8_lossy(bytes.get(HEAD..HEAD + text)?).into_owned();
    let (function, operands) = text.split_once('\n').unwrap_or((&text, ""));
    let call = (call > 0).then(|| CallSpot {
        number: call,
        returned: bytes[1] == 1,
        function: function.to_owned(),
        operands: operands.to_owned(),
    });
    Some(Spot { phase, call })
}

thread_local! {
    static FLIGHT: RefCell<Option<Rc<Flight>>> = const { RefCell::new(None) };
}

/// Writes what this thread does with a cell, if the thread has a flight recorder.
pub fn enter(phase: Phase) {
    if let Some(flight) = FLIGHT.with_borrow(Clone::clone) {
        flight.phase.set(phase);
        flight.calls.set(0);
        flight.write(false, "", "");
    }
}

/// The flight recorder of the thread that runs cells.
pub struct Flight {
    record: RefCell<MmapMut>,
    pace: Cell<Pace>,
    phase: Cell<Phase>,
    /// Calls so far in this phase.
    calls: Cell<u32>,
}

impl Flight {
    /// Has what this thread does recorded in `file`, which is one that [`file`] made.
    ///
    /// # Errors
    ///
    /// The file cannot be mapped, or is too short.
    pub fn start(file: &File) -> std::io::Result<Rc<Self>> {
        let flight = Rc::new(Self {
            record: RefCell::new(map(file)?),
            pace: Cell::default(),
            phase: Cell::new(Phase::Building),
            calls: Cell::default(),
        });
        FLIGHT.set(Some(flight.clone()));
        stand_beside(Some(flight.clone()));
        Ok(flight)
    }

    /// Begins a cell: nothing is said about it yet, and results are computed at this pace.
    pub fn begin(&self, pace: Pace) {
        self.pace.set(pace);
        self.record.borrow_mut()[..HEAD].fill(0);
    }

    fn write(&self, returned: bool, function: &str, operands: &str) {
        let mut bytes = self.record.borrow_mut();
        let place = PHASES
            .iter()
            .position(|phase| *phase == self.phase.get())
            .unwrap_or(0);
        bytes[0] = place as u8 + 1;
        bytes[1] = returned.into();
        bytes[4..8].copy_from_slice(&self.calls.get().to_le_bytes());
        let mut end = HEAD;
        for part in [function, "\n", operands] {
            let length = part.len().min(LONGEST - end);
            bytes[end..end + length].copy_from_slice(&part.as_bytes()[..length]);
            end += length;
        }
        bytes[8..12].copy_from_slice(&((end - HEAD) as u32).to_le_bytes());
    }
}

/// Maps a record.
fn map(file: &File) -> std::io::Result<MmapMut> {
    if file.metadata()?.len() < LONGEST as u64 {
        return Err(std::io::Error::other("the file is too short for a record"));
    }
    // SAFETY: the file has no name, so only this worker and whoever started it have it. The other side only
    // reads it, so no byte changes under a borrow and the file never gets shorter.
    unsafe { MmapOptions::new().len(LONGEST).map_mut(file) }
}

impl Bystander for Flight {
    fn before(&self, call: &CallView<'_>) {
        if !matches!(call.function.class, Class::Evaluation | Class::Reading) {
            self.calls.set(self.calls.get() + 1);
        }
        let operands = match self.pace.get() {
            Pace::Lazy => String::new(),
            Pace::Eager => operands(call),
        };
        self.write(false, plain(call.function.name), &operands);
    }

    fn after(&self, call: &CallView<'_>, results: &[Output], status: c_int) {
        if self.pace.get() == Pace::Eager {
            if status == 0 {
                // What fails here fails again where the program evaluates, and is an error there.
                let _ = graph::evaluate_raw(&graph::results(results));
            }
            self.write(true, plain(call.function.name), "");
        }
    }
}

/// `floor_divide`, of `mlx_floor_divide`.
fn plain(function: &str) -> &str {
    function.strip_prefix("mlx_").unwrap_or(function)
}

/// `int32 (2, 3), int32 ()`.
fn operands(call: &CallView<'_>) -> String {
    let mut texts = Vec::new();
    let mut push = |array| {
        if let Some((shape, dtype)) = graph::shape_and_dtype(array) {
            texts.push(format!("{} {}", dtype_name(dtype), Shape(&shape)));
        }
    };
    for argument in call.arguments {
        match *argument {
            Argument::Array(array) => push(array),
            Argument::Arrays(list) => graph::list(list).for_each(&mut push),
            _ => {}
        }
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(returned: bool, calls: u32, phase: Phase) -> Option<String> {
        let file = file().expect("a file for the test");
        let flight = Flight {
            record: RefCell::new(map(&file).expect("mapped")),
            pace: Cell::new(Pace::Eager),
            phase: Cell::new(phase),
            calls: Cell::new(calls),
        };
        flight.write(returned, "floor_divide", "int32 (2, 3), int32 ()");
        read(&file).map(|spot| spot.to_string())
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let text = |returned, calls, phase| written(returned, calls, phase).expect("a spot");
        let texts = [
            text(false, 3, Phase::Capturing),
            text(true, 3, Phase::Capturing),
            text(false, 1, Phase::CapturingAgain),
            text(false, 0, Phase::Capturing),
            text(false, 0, Phase::Building),
            text(true, 3, Phase::Validating),
        ];
        insta::assert_snapshot!(texts.join("\n"), @r"
        in floor_divide (call 3), parents int32 (2, 3), int32 ()
        after floor_divide (call 3)
        in floor_divide (call 1), parents int32 (2, 3), int32 (), in the second capture
        before its first call
        while its program was built
        while its trace was validated
        ");
    }

    #[test]
    fn a_file_that_says_nothing_gives_no_spot() {
        let file = file().expect("a file for the test");
        assert_eq!(read(&file), None);
        file.write_all_at(&[9; 100], 0).expect("written");
        assert_eq!(read(&file), None);
    }
}
