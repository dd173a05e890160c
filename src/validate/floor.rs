//! What no validation can do without: each call computed again by both routes, and once more for each operand, with no
//! bookkeeping, no comparison and no decision. Benches hold validation against it.

use mlx_rs::Array;

use crate::capture::{Trace, ValueId};
use crate::graph;

use super::candidate::Candidate;
use super::decision::Operand;
use super::engine::{bound, operands};
use super::flight::BATCH;
use super::replay::{has_function_route, replay, Route, Streams, Substitution};

/// The replays of a trace, ready to run.
pub struct Floor<'a> {
    trace: &'a Trace,
    streams: Streams,
    jobs: Vec<Job>,
}

/// One replay: the call's place, the route, and what stands in an operand's place.
type Job = (usize, Route, Option<(Operand, ValueId, Array)>);

impl<'a> Floor<'a> {
    /// Evaluates the payloads and makes the perturbed arrays, so that [`run`](Self::run) only replays.
    ///
    /// # Errors
    ///
    /// What MLX says.
    pub fn new(trace: &'a Trace) -> Result<Self, String> {
        trace.evaluate().map_err(|error| error.message)?;
        let mut jobs = Vec::new();
        for (index, call) in trace.calls().iter().enumerate() {
            let by_function = has_function_route(call);
            if by_function {
                jobs.push((index, Route::Function, None));
            }
            if trace.subgraph(call).is_some() {
                jobs.push((index, Route::Graph, None));
            }
            let route = if by_function {
                Route::Function
            } else {
                Route::Graph
            };
            for (operand, value, role, _) in operands(call) {
                let Some(payload) = trace.value(value).payload() else {
                    continue;
                };
                let Some(candidate) = Candidate::all(role, payload.dtype()).first() else {
                    continue;
                };
                let made = candidate.apply(role, bound(trace, call, role), payload);
                if let Some(array) = made.map_err(|error| error.to_string())? {
                    jobs.push((index, route, Some((operand, value, array))));
                }
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
                let substitution = match perturbed {
                    None => Substitution::None,
                    Some((operand, value, array)) => Substitution::At {
                        operand: *operand,
                        value: *value,
                        array,
                    },
                };
                let call = &self.trace.calls()[*index];
                pending.extend(replay(self.trace, call, *route, &mut self.streams, substitution)?);
            }
            graph::evaluate(&pending).map_err(|error| error.message)?;
        }
        Ok(())
    }
}
