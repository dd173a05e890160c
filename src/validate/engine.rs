//! Validation itself: plan, replay in batches, perturb in rounds, decide, roll up.

use std::collections::hash_map::Entry;
use std::collections::HashMap;

use mlx_rs::Array;
use mlx_sys::function::Role;
use mlx_sys::raw;

use crate::capture::{Call, CallId, Op, OpKind, Origin, PayloadPolicy, Recorded, Trace, ValueId};
use crate::graph::{self, Difference};
use crate::vocabulary::{Decision, Reason, State};

use super::candidate::Candidate;
use super::coverage;
use super::decision::{severity, CallDecision, Detail, OpDecision, Operand, Routes};
use super::replay::{has_function_route, replay, Route, Streams, Substitution};
use super::status::{Status, Work};
use super::tolerance::Closeness;

/// How many replays are evaluated at once: as fast as all at once, with bounded memory; one by one takes about
/// twice as long.
const BATCH: usize = 64;

/// Validates a trace on this thread.
///
/// On another thread than the capturing one only the function route is left, since primitives hold their thread's
/// streams; the decisions' routes say so.
pub fn validate(trace: &Trace) -> Status {
    // A trace without calls whose outputs come from a call has lost that call: this is a fault, not an absence.
    let nothing_computed = trace.calls().is_empty() && coverage::gaps_of_trace(trace).is_empty();
    if trace.payload_policy() == PayloadPolicy::None || nothing_computed {
        return unavailable(
            trace,
            "there is nothing to replay with: no payloads were kept, or nothing was computed",
        );
    }
    if let Err(error) = trace.evaluate() {
        return unavailable(
            trace,
            &format!("the payloads could not be evaluated: {}", error.message),
        );
    }
    Engine::new(trace).run()
}

fn unavailable(trace: &Trace, message: &str) -> Status {
    let ops = trace
        .ops()
        .iter()
        .map(|op| OpDecision {
            label: op.label(),
            decision: Decision::Unproven,
            reason: Some(Reason::ParentPayloadMissing),
            call: op.calls().first().copied(),
            routes: Routes::default(),
        })
        .collect();
    Status {
        state: State::Unavailable,
        message: message.to_string(),
        calls: Vec::new(),
        ops,
        gaps: Vec::new(),
        work: Work::default(),
    }
}

/// What is known of one call so far.
struct Plan {
    verdict: Option<(Reason, Detail)>,
    routes: Routes,
    closeness: Closeness,
    operands: Vec<Tried>,
}

/// One operand on its way to a proof.
struct Tried {
    operand: Operand,
    value: ValueId,
    role: Role,
    parameter: &'static str,
    /// Whether MLX's graph reaches it.
    reached: bool,
    /// Whether it has elements, and some result has any that could depend on them.
    has_data: bool,
    proof: Option<Candidate>,
}

/// What a job replays.
#[derive(Clone, Copy)]
struct Job {
    call: usize,
    route: Route,
    /// The operand's place in the plan and the candidate, for a perturbation.
    perturbed: Option<(usize, Candidate)>,
}

/// The lazy results of a job; `None` where a candidate has nothing to change.
type Built = Result<Option<Vec<Array>>, String>;

/// A value, the role it is perturbed in, what bounds its indices, and how it is perturbed.
type Perturbed = (ValueId, Role, i64, Candidate);

struct Engine<'a> {
    trace: &'a Trace,
    plans: Vec<Plan>,
    streams: Streams,
    work: Work,
    same_thread: bool,
    /// Perturbed arrays of the round, made once for all consumers of a value.
    perturbed: HashMap<Perturbed, Option<Array>>,
}

impl<'a> Engine<'a> {
    fn new(trace: &'a Trace) -> Self {
        Self {
            trace,
            plans: Vec::with_capacity(trace.calls().len()),
            streams: Streams::new(),
            work: Work::default(),
            same_thread: trace.thread() == std::thread::current().id(),
            perturbed: HashMap::new(),
        }
    }

    fn run(mut self) -> Status {
        let trace = self.trace;
        for (index, call) in trace.calls().iter().enumerate() {
            let plan = self.plan(CallId(index as u32), call);
            self.plans.push(plan);
        }
        self.replay_all();
        self.perturb_all();
        let calls: Vec<CallDecision> = (0..trace.calls().len()).map(|index| self.decide(index)).collect();
        let gaps = coverage::gaps_of_trace(trace);
        self.conclude(calls, gaps)
    }

    fn plan(&self, id: CallId, call: &Call) -> Plan {
        let reached = self.trace.subgraph(call).map(|subgraph| subgraph.boundary());
        // Where no result has an element, nothing can depend on any operand's elements.
        let carries_data = !call.results().iter().all(|result| is_empty(self.trace, *result));
        let operands = operands(call)
            .into_iter()
            .map(|(operand, value, role, parameter)| Tried {
                operand,
                value,
                role,
                parameter,
                reached: reached.as_ref().is_none_or(|reached| reached.contains(&value.0)),
                has_data: carries_data && !is_empty(self.trace, value),
                proof: None,
            })
            .collect();
        let closeness = call
            .arguments()
            .iter()
            .find_map(|argument| match argument {
                Recorded::Stream(key) => Some(Closeness::of_device(key.device)),
                _ => None,
            })
            .unwrap_or(Closeness::of_device(raw::mlx_device_type__MLX_CPU));
        Plan {
            verdict: self.flaw(id, call),
            routes: Routes::default(),
            closeness,
            operands,
        }
    }

    /// What is wrong with a call before anything is replayed.
    fn flaw(&self, id: CallId, call: &Call) -> Option<(Reason, Detail)> {
        let trace = self.trace;
        if let Some(message) = coverage::gap_of_call(trace, id, call) {
            return Some((Reason::ReplayCoverageIncomplete, Detail::Gap { message }));
        }
        if let Some(subgraph) = trace.subgraph(call) {
            let undeclared = subgraph
                .boundary()
                .into_iter()
                .map(ValueId)
                .find(|reached| !call.operands().any(|operand| operand == *reached));
            if let Some(value) = undeclared {
                let message = format!(
                    "MLX's graph reads value {}, which the call does not declare",
                    value.0
                );
                return Some((
                    Reason::DeclaredParentsInconsistent,
                    Detail::Parent { value, message },
                ));
            }
        }
        for (operand, value, _, parameter) in operands(call) {
            if trace.value(value).payload().is_none() {
                return Some((
                    Reason::ParentPayloadMissing,
                    Detail::Operand { operand, parameter },
                ));
            }
        }
        None
    }

    fn routes_of(&self, index: usize) -> Vec<Route> {
        let call = &self.trace.calls()[index];
        let mut routes = Vec::new();
        if has_function_route(call) {
            routes.push(Route::Function);
        }
        // A lone leaf has no primitive: giving it back proves nothing.
        let graph_says_something = self
            .trace
            .subgraph(call)
            .is_some_and(|graph| !graph.is_empty() || graph.leaves() == 0);
        if graph_says_something && self.same_thread {
            routes.push(Route::Graph);
        }
        routes
    }

    fn replay_all(&mut self) {
        let jobs: Vec<Job> = (0..self.plans.len())
            .filter(|index| self.plans[*index].verdict.is_none())
            .flat_map(|call| {
                self.routes_of(call).into_iter().map(move |route| Job {
                    call,
                    route,
                    perturbed: None,
                })
            })
            .collect();
        self.work.replays += jobs.len() as u64;
        self.evaluate(&jobs, |engine, job, outcome| {
            let route = job.route.name();
            let plan = &mut engine.plans[job.call];
            match outcome {
                Err(message) => {
                    plan.verdict
                        .get_or_insert((Reason::ReplayMismatch, Detail::ReplayFailed { route, message }));
                }
                Ok(Some((result, difference))) => {
                    plan.verdict.get_or_insert((
                        Reason::ReplayMismatch,
                        Detail::Mismatch {
                            route,
                            result,
                            difference,
                        },
                    ));
                }
                Ok(None) => match job.route {
                    Route::Function => plan.routes.function = true,
                    Route::Graph => plan.routes.graph = true,
                },
            }
        });
    }

    /// Round after round: each operand that is not proven yet gets its next candidate.
    fn perturb_all(&mut self) {
        for round in 0.. {
            let mut jobs = Vec::new();
            for call in 0..self.plans.len() {
                let plan = &self.plans[call];
                if plan.verdict.is_some() {
                    continue;
                }
                // The function reacts place by place; the graph knows values only.
                let route = match (plan.routes.function, plan.routes.graph) {
                    (true, _) => Route::Function,
                    (false, true) => Route::Graph,
                    (false, false) => continue,
                };
                for (place, tried) in plan.operands.iter().enumerate() {
                    let dtype = self.trace.value(tried.value).dtype();
                    let next = Candidate::all(tried.role, dtype).get(round);
                    if let (None, Some(&candidate)) = (tried.proof, next) {
                        jobs.push(Job {
                            call,
                            route,
                            perturbed: Some((place, candidate)),
                        });
                    }
                }
            }
            if jobs.is_empty() {
                break;
            }
            self.work.perturbations += jobs.len() as u64;
            self.evaluate(&jobs, |engine, job, outcome| {
                // A perturbed replay that fails where the plain one did not has reacted too.
                let reacted = !matches!(outcome, Ok(None));
                if let (true, Some((place, candidate))) = (reacted, job.perturbed) {
                    engine.plans[job.call].operands[place].proof = Some(candidate);
                }
            });
            self.perturbed.clear();
        }
    }

    /// Replays jobs in batches and hands each outcome to `judge`: the first result that differs from the payload.
    fn evaluate(
        &mut self,
        jobs: &[Job],
        mut judge: impl FnMut(&mut Self, Job, Result<Option<(usize, Difference)>, String>),
    ) {
        for batch in jobs.chunks(BATCH) {
            let built: Vec<(Job, Built)> = batch.iter().map(|job| (*job, self.build(*job))).collect();
            let pending = built
                .iter()
                .filter_map(|(_, built)| built.as_ref().ok()?.as_ref())
                .flatten();
            let evaluated = graph::evaluate(pending);
            for (job, built) in built {
                let outcome = match (built, &evaluated) {
                    (Err(message), _) => Err(message),
                    // Nothing to perturb: no reaction.
                    (Ok(None), _) => Ok(None),
                    (Ok(Some(results)), Ok(())) => self.compare(job, &results),
                    // One of the batch failed and MLX does not say which; what is built anew is whole again.
                    (Ok(Some(_)), Err(_)) => self.alone(job),
                };
                judge(self, job, outcome);
            }
        }
    }

    /// The lazy results of a job; `None` where a candidate has nothing to change.
    fn build(&mut self, job: Job) -> Built {
        let trace = self.trace;
        let call = &trace.calls()[job.call];
        let Some((place, candidate)) = job.perturbed else {
            return replay(trace, call, job.route, &mut self.streams, None).map(Some);
        };
        let (operand, value, role) = {
            let tried = &self.plans[job.call].operands[place];
            (tried.operand, tried.value, tried.role)
        };
        let bound = match role {
            Role::Index => smallest_extent(trace, call),
            _ => 0,
        };
        let key = (value, role, bound, candidate);
        let made = match self.perturbed.entry(key) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(match trace.value(value).payload() {
                Some(array) => candidate
                    .apply(role, bound, array)
                    .map_err(|error| error.to_string())?,
                None => None,
            }),
        };
        let Some(array) = made else {
            return Ok(None);
        };
        let substitution = Substitution {
            operand,
            value,
            array,
        };
        replay(trace, call, job.route, &mut self.streams, Some(substitution)).map(Some)
    }

    fn alone(&mut self, job: Job) -> Result<Option<(usize, Difference)>, String> {
        match self.build(job)? {
            None => Ok(None),
            Some(results) => {
                graph::evaluate(&results).map_err(|error| error.message)?;
                self.compare(job, &results)
            }
        }
    }

    fn compare(&self, job: Job, found: &[Array]) -> Result<Option<(usize, Difference)>, String> {
        let call = &self.trace.calls()[job.call];
        let expected = call.results();
        if found.len() != expected.len() {
            return Err(format!(
                "{} results where {} were recorded",
                found.len(),
                expected.len()
            ));
        }
        for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
            let expected = self
                .trace
                .value(*expected)
                .payload()
                .ok_or("a result's payload was not kept")?;
            let closeness = match job.perturbed {
                // Any reaction counts.
                Some(_) => Closeness::Bits,
                None => self.plans[job.call].closeness,
            };
            let difference = closeness
                .compare(expected, found)
                .map_err(|error| error.to_string())?;
            if !difference.is_none() {
                return Ok(Some((place, difference)));
            }
        }
        Ok(None)
    }

    fn decide(&self, index: usize) -> CallDecision {
        let plan = &self.plans[index];
        let call = &self.trace.calls()[index];
        let (decision, reason, detail) = match &plan.verdict {
            Some((reason, detail)) => (reason.decision(), Some(*reason), detail.clone()),
            None => self.weigh(call, plan),
        };
        CallDecision {
            call: CallId(index as u32),
            decision,
            reason,
            detail,
            routes: plan.routes,
            proofs: plan
                .operands
                .iter()
                .map(|tried| (tried.operand, tried.proof))
                .collect(),
        }
    }

    /// The decision on a call whose replays, if any, gave what was recorded.
    fn weigh(&self, call: &Call, plan: &Plan) -> (Decision, Option<Reason>, Detail) {
        let with = |reason: Reason, detail: Detail| (reason.decision(), Some(reason), detail);
        if call.is_producer_leaf() {
            return with(Reason::ConstantProducerLeaf, Detail::None);
        }
        if !plan.routes.function && !plan.routes.graph {
            return with(Reason::NoReplayableFunction, Detail::None);
        }
        // What the graph does not reach the function must not react to, and the other way round.
        if let Some(hidden) = plan
            .operands
            .iter()
            .find(|tried| !tried.reached && tried.proof.is_some())
        {
            let message = format!(
                "the function reacts to value {} ({}), which MLX's graph does not reach",
                hidden.value.0, hidden.parameter
            );
            return with(
                Reason::DeclaredParentsInconsistent,
                Detail::Parent {
                    value: hidden.value,
                    message,
                },
            );
        }
        let unproven = plan
            .operands
            .iter()
            .find(|tried| tried.reached && tried.has_data && tried.proof.is_none());
        if let Some(Tried {
            operand, parameter, ..
        }) = unproven
        {
            return with(
                Reason::PerturbationInsensitive,
                Detail::Operand {
                    operand: *operand,
                    parameter,
                },
            );
        }
        if plan
            .operands
            .iter()
            .all(|tried| !tried.reached || !tried.has_data)
        {
            return with(Reason::OperandNotRead, Detail::None);
        }
        let constant = plan.operands.iter().any(|tried| {
            tried.proof.is_some() && *self.trace.value(tried.value).origin() == Origin::Constant
        });
        match constant {
            true => with(Reason::ConstantParentPayload, Detail::None),
            false => (Decision::Verified, None, Detail::None),
        }
    }

    fn conclude(self, calls: Vec<CallDecision>, gaps: Vec<String>) -> Status {
        let trace = self.trace;
        let rows = trace.ops();
        let by_call: HashMap<CallId, &CallDecision> =
            calls.iter().map(|decision| (decision.call, decision)).collect();
        let ops: Vec<OpDecision> = rows.iter().map(|op| roll_up(op, &by_call)).collect();
        let worst = ops
            .iter()
            .map(|op| op.decision)
            .max_by_key(|decision| severity(*decision));
        let state = match worst {
            Some(Decision::Failed) => State::Failed,
            _ if !gaps.is_empty() => State::Failed,
            Some(Decision::Unproven) => State::Unverified,
            _ if !trace.capture_verified() => State::Unverified,
            _ => State::Passed,
        };
        let message = message(trace, &ops, &by_call, &gaps, state);
        Status {
            state,
            message,
            ops,
            gaps,
            work: self.work,
            calls,
        }
    }
}

/// A call's array operands with their roles and parameter names.
fn operands(call: &Call) -> Vec<(Operand, ValueId, Role, &'static str)> {
    let mut found = Vec::new();
    for (index, (parameter, argument)) in call
        .function()
        .parameters
        .iter()
        .zip(call.arguments())
        .enumerate()
    {
        for (place, value) in argument.operands().iter().enumerate() {
            found.push((
                Operand {
                    argument: index,
                    place,
                },
                *value,
                parameter.role,
                parameter.name,
            ));
        }
    }
    let beside = call.arguments().len();
    let declared = found.len();
    for (place, value) in call.operands().skip(declared).enumerate() {
        found.push((
            Operand {
                argument: beside,
                place,
            },
            value,
            Role::Value,
            "captured",
        ));
    }
    found
}

fn is_empty(trace: &Trace, value: ValueId) -> bool {
    trace.value(value).shape().contains(&0)
}

/// The smallest extent of a call's first operand, which is what its indices point into.
fn smallest_extent(trace: &Trace, call: &Call) -> i64 {
    let source = call.operands().next().map(|source| trace.value(source).shape());
    source
        .and_then(|shape| shape.iter().min())
        .copied()
        .unwrap_or(0)
        .into()
}

/// The worst decision of an op's calls.
fn roll_up(op: &Op, by_call: &HashMap<CallId, &CallDecision>) -> OpDecision {
    let decided: Vec<&CallDecision> = op
        .calls()
        .iter()
        .filter_map(|call| by_call.get(call).copied())
        .collect();
    let worst = decided.iter().max_by_key(|decision| severity(decision.decision));
    let (decision, mut reason, call) = match (worst, op.kind()) {
        (Some(worst), _) => (worst.decision, worst.reason, Some(worst.call)),
        (None, OpKind::Input | OpKind::Constant) => {
            (Decision::Exempt, Some(Reason::ConstantProducerLeaf), None)
        }
        (None, OpKind::Unwrapped) => (Decision::Unproven, Some(Reason::NoReplayableFunction), None),
        // A layer that made no call gave back its argument, and reads nothing of it.
        (None, OpKind::Literal | OpKind::Op) => (Decision::Exempt, Some(Reason::OperandNotRead), None),
    };
    if decision == Decision::Verified {
        let constant = Some(Reason::ConstantParentPayload);
        reason = decided
            .iter()
            .map(|decision| decision.reason)
            .find(|reason| *reason == constant)
            .flatten();
    }
    let all = |route: fn(&Routes) -> bool| !decided.is_empty() && decided.iter().all(|it| route(&it.routes));
    OpDecision {
        label: op.label(),
        decision,
        reason,
        call,
        routes: Routes {
            function: all(|routes| routes.function),
            graph: all(|routes| routes.graph),
        },
    }
}

fn message(
    trace: &Trace,
    ops: &[OpDecision],
    by_call: &HashMap<CallId, &CallDecision>,
    gaps: &[String],
    state: State,
) -> String {
    let offends = match state {
        State::Failed => Decision::Failed,
        State::Unverified => Decision::Unproven,
        State::Passed | State::Unavailable => return String::new(),
    };
    if let Some(op) = ops.iter().find(|op| op.decision == offends) {
        let reason = op.reason.map_or(String::new(), |reason| format!(" {reason}"));
        let Some(call) = op.call else {
            return format!("{}: {}{reason}", op.label, op.decision);
        };
        let function = trace.calls()[call.index()].function().name;
        let detail = by_call
            .get(&call)
            .map(|decision| decision.detail.to_string())
            .unwrap_or_default();
        let detail = if detail.is_empty() {
            detail
        } else {
            format!(": {detail}")
        };
        return format!(
            "{}: {}{reason} (call {} {function}){detail}",
            op.label,
            op.decision,
            call.0 + 1
        );
    }
    if let (State::Failed, Some(gap)) = (state, gaps.first()) {
        return format!("{}: {gap}", Reason::ReplayCoverageIncomplete);
    }
    trace.warnings().join("; ")
}
