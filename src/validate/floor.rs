//! What no validation can do without: each call computed again by both routes, and once more for each operand, with no
//! bookkeeping, no comparison and no decision. Benches hold validation against it, and against the same with what
//! validation does beside: the graph once more, with all operands perturbed, to meet the function.

use crate::capture::Trace;
use crate::graph;

use super::bound::bound;
use super::flight::BATCH;
use super::perturbed::{candidates, operands};
use super::replay::{has_function_route, replay, Route, StandIn, Streams, Substitution};

/// The replays of a trace, ready to run.
pub struct Floor<'a> {
    trace: &'a Trace,
    streams: Streams,
    jobs: Vec<Job>,
}

/// One replay: the call's place, the route, and what stands in operands' places.
type Job = (usize, Route, Vec<StandIn>);

impl<'a> Floor<'a> {
    /// Evaluates the payloads and makes the perturbed arrays, so that [`run`](Self::run) only replays.
    ///
    /// # Errors
    ///
    /// What MLX says.
    pub fn new(trace: &'a Trace) -> Result<Self, String> {
        Self::of(trace, false)
    }

    /// As [`new`](Self::new), with the replays in which graph and function meet.
    ///
    /// # Errors
    ///
    /// What MLX says.
    pub fn with_meetings(trace: &'a Trace) -> Result<Self, String> {
        Self::of(trace, true)
    }

    fn of(trace: &'a Trace, meetings: bool) -> Result<Self, String> {
        trace.evaluate().map_err(|error| error.message)?;
        let mut jobs = Vec::new();
        for (index, call) in trace.calls().iter().enumerate() {
            let by_function = has_function_route(call);
            if by_function {
                jobs.push((index, Route::Function, Vec::new()));
            }
            let by_graph = trace.subgraph(call).is_some();
            if by_graph {
                jobs.push((index, Route::Graph, Vec::new()));
            }
            let route = if by_function {
                Route::Function
            } else {
                Route::Graph
            };
            let mut together = Vec::new();
            for (operand, value, role, _) in operands(call) {
                let Some(payload) = trace.value(value).payload() else {
                    continue;
                };
                let Some(candidate) = candidates(call, role, payload.dtype()).next() else {
                    continue;
                };
                let made = candidate.apply(role, bound(trace, call, role), payload);
                if let Some(array) = made.map_err(|error| error.to_string())? {
                    let stand_in = StandIn {
                        operand,
                        value,
                        array,
                    };
                    together.push(stand_in.clone());
                    jobs.push((index, route, vec![stand_in]));
                }
            }
            if meetings && by_function && by_graph && !together.is_empty() {
                jobs.push((index, Route::Graph, together));
            }
        }
        Ok(Self {
            trace,
            streams: Streams::new(),
            jobs,
        })
    }

    /// How many replays there are.
    pub fn replays(&self) -> usize {
        self.jobs.len()
    }

    /// Runs them, in batches as validation does.
    ///
    /// # Errors
    ///
    /// What MLX says.
    pub fn run(&mut self) -> Result<(), String> {
        for batch in self.jobs.chunks(BATCH) {
            let mut pending = Vec::with_capacity(batch.len());
            for (index, route, perturbed) in batch {
                let substitution = Substitution::Places(perturbed);
                let call = &self.trace.calls()[*index];
                pending.extend(replay(self.trace, call, *route, &mut self.streams, substitution)?);
            }
            graph::evaluate(&pending).map_err(|error| error.message)?;
        }
        Ok(())
    }
}
