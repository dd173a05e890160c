//! Replays in batches, two at a time: while MLX computes one batch, the next is built and the one before is judged.

use mlx_rs::Array;
use smallvec::SmallVec;

use crate::graph;

/// How many replays are evaluated at once: as fast as all at once, with bounded memory; one by one takes about
/// twice as long.
pub(super) const BATCH: usize = 64;

/// The lazy results of one replay, or why there are none.
pub(super) type Replayed = Result<Vec<Array>, String>;

/// The replays of one task; none where there is nothing to replay.
pub(super) type Replays = SmallVec<[Replayed; 2]>;

/// For each task `build` gives its lazy replays, and `judge` gets them back: computed if its last argument says so. It
/// does not where one of the batch failed, and MLX does not say which: what is built anew is whole again.
///
/// With `guarded`, a batch that MLX may never end is not begun, and counts as failed.
pub(super) fn in_flight<S, T>(
    state: &mut S,
    tasks: &[T],
    batch: usize,
    guarded: bool,
    mut build: impl FnMut(&mut S, &T) -> Replays,
    mut judge: impl FnMut(&mut S, &T, Replays, bool),
) {
    let mut ahead: Option<(&[T], Vec<Replays>, bool)> = None;
    let mut land = |state: &mut S, (tasks, built, begun): (&[T], Vec<Replays>, bool)| {
        let computed = begun && graph::evaluate(arrays(&built)).is_ok();
        for (task, replays) in tasks.iter().zip(built) {
            judge(state, task, replays, computed);
        }
    };
    for tasks in tasks.chunks(batch.max(1)) {
        let built: Vec<Replays> = tasks.iter().map(|task| build(state, task)).collect();
        let endless = guarded && graph::endless(arrays(&built)).unwrap_or(true);
        let begun = !endless && graph::begin(arrays(&built)).is_ok();
        if let Some(before) = ahead.replace((tasks, built, begun)) {
            land(state, before);
        }
    }
    if let Some(last) = ahead {
        land(state, last);
    }
}

fn arrays(built: &[Replays]) -> impl Iterator<Item = &Array> {
    built
        .iter()
        .flatten()
        .filter_map(|replayed| replayed.as_ref().ok())
        .flatten()
}

/// The replays of a task computed on their own.
pub(super) fn alone(replays: Replays) -> Replays {
    let compute = |replayed: Replayed| {
        let results = replayed?;
        graph::evaluate(&results).map_err(|error| error.message)?;
        Ok(results)
    };
    replays.into_iter().map(compute).collect()
}
