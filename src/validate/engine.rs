//! Validation itself: plan, replay in batches, let both routes meet off the record, perturb in rounds, decide, roll
//! up.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use mlx_rs::Array;
use mlx_sys::function::{Class, Role};
use mlx_sys::raw;

use crate::capture::{Call, CallId, Origin, PayloadPolicy, Recorded, Trace, ValueId};
use crate::graph::{self, Difference};
use crate::vocabulary::{Decision, Reason};

use super::bound::bound;
use super::candidate::Candidate;
use super::contrast::Contrast;
use super::coverage;
use super::decision::{CallDecision, Detail, Operand, Proof, Reaction, Routes};
use super::flight::{alone, in_flight, Replayed, Replays, BATCH};
use super::inside::{validate_inside, Inside};
use super::perturbed::{candidates, operands, strictest};
use super::replay::{has_function_route, replay, Route, StandIn, Streams, Substitution};
use super::roll_up;
use super::status::{Partial, Status, Work};
use super::tolerance::Closeness;

/// How many elements of a result are few.
const FEW: i32 = 16;

/// Validates a trace on this thread.
///
/// On another thread than the capturing one only the function route is left, since primitives hold their thread's
/// streams; the decisions' routes say so.
pub fn validate(trace: &Trace) -> Status {
    // A trace without calls whose outputs come from a call has lost that call: this is a fault, not an absence.
    let nothing_computed = trace.calls().is_empty() && coverage::gaps_of_trace(trace).is_empty();
    if *trace.payload_policy() == PayloadPolicy::None || nothing_computed {
        return roll_up::unavailable(
            trace,
            "there is nothing to replay with: no payloads were kept, or nothing was computed",
        );
    }
    if let Err(error) = trace.evaluate() {
        return roll_up::unavailable(
            trace,
            &format!("the payloads could not be evaluated: {}", error.message),
        );
    }
    let every: Vec<usize> = (0..trace.calls().len()).collect();
    let mut engine = Engine::new(trace, &every);
    let calls = engine.run();
    let mut work = engine.work;
    let insides: Vec<Inside> = trace
        .transforms()
        .iter()
        .map(|transform| validate_inside(trace, transform))
        .collect();
    for inside in &insides {
        let of_forward = inside.forward().work();
        work.replays += inside.work.replays + of_forward.replays;
        work.perturbations += inside.work.perturbations + of_forward.perturbations;
    }
    roll_up::conclude(trace, calls, coverage::gaps_of_trace(trace), work, insides)
}

/// Validates some calls again, after a change that touches no other; what is missing is looked for in the whole
/// trace.
pub(super) fn revalidate(trace: &Trace, calls: &[CallId]) -> Partial {
    let chosen: Vec<usize> = calls.iter().map(|call| call.index()).collect();
    let calls = match trace.evaluate() {
        Ok(()) => Engine::new(trace, &chosen).run(),
        Err(_) => Vec::new(),
    };
    Partial {
        calls,
        gaps: coverage::gaps_of_trace(trace),
    }
}

/// What is known of one call so far.
struct Plan {
    /// The call's place in the trace.
    index: usize,
    verdict: Option<(Reason, Detail)>,
    routes: Routes,
    closeness: Closeness,
    /// How far a replay lay from the payload at most.
    distance: f64,
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
    proof: Option<(Candidate, Reaction)>,
}

/// What a job replays.
#[derive(Clone, Copy)]
struct Job {
    /// The place of the plan.
    plan: usize,
    route: Route,
    /// The operand's place in the plan and the candidate, for a perturbation.
    perturbed: Option<(usize, Candidate)>,
}

/// A value, the role it is perturbed in, what bounds its indices, how it is perturbed, and with which salt.
type Perturbed = (ValueId, Role, i64, Candidate, usize);

struct Engine<'a> {
    trace: &'a Trace,
    plans: Vec<Plan>,
    streams: Streams,
    work: Work,
    same_thread: bool,
    /// Whether some array has no elements, so that a replay, of a damaged record above all, may not end.
    guarded: bool,
    /// Perturbed arrays of the round, made once for all consumers of a value.
    perturbed: HashMap<Perturbed, Option<Array>>,
    /// The calls whose closure evaluated something, and the function that did.
    evaluated_inside: HashMap<CallId, &'static str>,
}

impl<'a> Engine<'a> {
    fn new(trace: &'a Trace, chosen: &[usize]) -> Self {
        let mut engine = Self {
            trace,
            plans: Vec::with_capacity(chosen.len()),
            streams: Streams::new(),
            work: Work::default(),
            same_thread: !trace.is_loaded() && trace.thread() == std::thread::current().id(),
            guarded: trace.values().iter().any(|value| value.shape().contains(&0)),
            perturbed: HashMap::new(),
            evaluated_inside: evaluated_inside(trace),
        };
        for &index in chosen {
            if let Some(call) = trace.calls().get(index) {
                let plan = engine.plan(index, call);
                engine.plans.push(plan);
            }
        }
        engine
    }

    fn run(&mut self) -> Vec<CallDecision> {
        self.replay_all();
        self.step_all();
        self.meet_apart();
        self.perturb_all();
        (0..self.plans.len()).map(|plan| self.decide(plan)).collect()
    }

    fn plan(&self, index: usize, call: &Call) -> Plan {
        let id = CallId(index as u32);
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
            index,
            verdict: self.flaw(id, call),
            routes: Routes::default(),
            closeness,
            distance: 0.0,
            operands,
        }
    }

    /// What is wrong with a call before anything is replayed.
    fn flaw(&self, id: CallId, call: &Call) -> Option<(Reason, Detail)> {
        let trace = self.trace;
        if let Some(message) = coverage::gap_of_call(trace, id, call) {
            return Some((Reason::ReplayCoverageIncomplete, Detail::Gap { message }));
        }
        if let Some(detail) = coverage::parent_at_odds(trace, id, call) {
            return Some((Reason::DeclaredParentsInconsistent, detail));
        }
        // What this thread captured, it captured on a device that is here.
        let elsewhere =
            |argument: &Recorded| matches!(argument, Recorded::Stream(key) if !Streams::has(key.device));
        if self.same_thread && call.arguments().iter().any(elsewhere) {
            let (route, message) = ("function", "there is no device of the recorded kind".to_string());
            return Some((Reason::ReplayMismatch, Detail::ReplayFailed { route, message }));
        }
        if let Some(detail) = coverage::metadata_of_call(trace, call) {
            return Some((Reason::ReplayMismatch, detail));
        }
        for (operand, value, _, parameter) in operands(call) {
            if trace.value(value).payload().is_none() {
                return Some((
                    Reason::ParentPayloadMissing,
                    Detail::Operand { operand, parameter },
                ));
            }
        }
        for (place, value) in call.results().iter().enumerate() {
            if trace.value(*value).payload().is_none() {
                let message = format!("the payload of result {place} was not kept");
                return Some((Reason::ParentPayloadMissing, Detail::Gap { message }));
            }
        }
        None
    }

    fn call(&self, plan: usize) -> &'a Call {
        &self.trace.calls()[self.plans[plan].index]
    }

    fn routes_of(&self, plan: usize) -> Vec<Route> {
        let call = self.call(plan);
        let mut routes = Vec::new();
        if has_function_route(call) {
            routes.push(Route::Function);
        }
        if self.trace.subgraph(call).is_some() && self.same_thread {
            routes.push(Route::Graph);
        }
        routes
    }

    /// Replays in waves: MLX checks no bounds, so a call is replayed only once what made its indices is shown to be
    /// true. Nearly all calls have none, and are in the first wave.
    fn replay_all(&mut self) {
        let mut waiting: Vec<usize> = (0..self.plans.len())
            .filter(|plan| self.plans[*plan].verdict.is_none())
            .collect();
        let place_of: HashMap<usize, usize> = self
            .plans
            .iter()
            .enumerate()
            .map(|(place, plan)| (plan.index, place))
            .collect();
        while !waiting.is_empty() {
            let still: HashSet<usize> = waiting.iter().copied().collect();
            let (mut wave, mut later) = (Vec::new(), Vec::new());
            for &plan in &waiting {
                let makers = self.makers_of_indices(plan, &place_of);
                if makers.iter().any(|maker| self.plans[*maker].verdict.is_some()) {
                    let message =
                        "what made its indices is not as recorded, and MLX checks no bounds".to_string();
                    self.plans[plan].verdict = Some((Reason::ParentPayloadMissing, Detail::Gap { message }));
                } else if makers.iter().any(|maker| still.contains(maker)) {
                    later.push(plan);
                } else {
                    wave.push(plan);
                }
            }
            // Calls that wait for one another have been found out before: each reads what stands before it.
            if wave.is_empty() && later.len() == waiting.len() {
                break;
            }
            self.replay_wave(&wave);
            waiting = later;
        }
    }

    /// The plans of the calls that made what a call uses as indices or lengths.
    fn makers_of_indices(&self, plan: usize, place_of: &HashMap<usize, usize>) -> Vec<usize> {
        let pointing = self.plans[plan]
            .operands
            .iter()
            .filter(|tried| matches!(tried.role, Role::Index | Role::Count));
        pointing
            .filter_map(|tried| match self.trace.value(tried.value).origin() {
                Origin::Result { call, .. } => place_of.get(&call.index()).copied(),
                _ => None,
            })
            .collect()
    }

    fn replay_wave(&mut self, wave: &[usize]) {
        let jobs: Vec<Job> = wave
            .iter()
            .flat_map(|&plan| {
                self.routes_of(plan).into_iter().map(move |route| Job {
                    plan,
                    route,
                    perturbed: None,
                })
            })
            .collect();
        self.work.replays += jobs.len() as u64;
        self.evaluate(&jobs, |engine, job, outcome| {
            let route = job.route.name();
            let call = engine.call(job.plan);
            // A lone leaf has no primitive: that the array is still the one that was made is all it shows.
            let computes = engine
                .trace
                .subgraph(call)
                .is_some_and(|graph| !graph.is_empty() || graph.leaves() == 0);
            let plan = &mut engine.plans[job.plan];
            match outcome {
                Err(message) => {
                    plan.verdict
                        .get_or_insert((Reason::ReplayMismatch, Detail::ReplayFailed { route, message }));
                }
                Ok(Some(Part {
                    result,
                    difference,
                    contrast,
                })) => {
                    plan.verdict.get_or_insert((
                        Reason::ReplayMismatch,
                        Detail::Mismatch {
                            route,
                            result,
                            difference,
                            contrast,
                        },
                    ));
                }
                Ok(None) => match job.route {
                    Route::Function => plan.routes.function = true,
                    Route::Graph => plan.routes.graph = computes,
                },
            }
        });
    }

    /// Off the record, step by step: one operand more is perturbed each time, and the function must react to it; with all
    /// of them perturbed, each otherwise, function and graph must still compute the same. A record that is wrong about a
    /// scalar or about the order of the operands may give the saved payload all the same (`x - y` where `x = y`, a sum
    /// of zeros along another axis); here it parts from MLX's graph.
    fn step_all(&mut self) {
        let plans: Vec<usize> = (0..self.plans.len())
            .filter(|plan| {
                let plan = &self.plans[*plan];
                plan.verdict.is_none() && plan.routes.function && plan.routes.graph
            })
            .collect();
        // What stands in, of the calls under way.
        let stepping: RefCell<HashMap<usize, Vec<(StandIn, Candidate)>>> = RefCell::default();
        // Most calls have one operand or two, and so two or three replays.
        in_flight(
            self,
            &plans,
            BATCH / 2,
            false,
            |engine, plan| {
                let stand_ins = engine.stand_ins(*plan);
                let replays = engine.build_steps(*plan, &stand_ins);
                stepping.borrow_mut().insert(*plan, stand_ins);
                replays
            },
            |engine, plan, replays, computed| {
                let stand_ins = stepping.borrow_mut().remove(plan).unwrap_or_default();
                let replays = match computed {
                    true => replays,
                    false => alone(engine.build_steps(*plan, &stand_ins)),
                };
                engine.judge_steps(*plan, &stand_ins, replays);
            },
        );
        self.perturbed.clear();
    }

    /// A few elements say little: where operands were exchanged, or a number is another one, a single perturbation may
    /// give the same (`all_close`, which is not symmetric; what `nan_to_num` puts in the place of a NaN). There each operand
    /// is perturbed on its own too, in every way, and the routes must meet.
    fn meet_apart(&mut self) {
        let mut tasks: Vec<(usize, ValueId, Role, Candidate)> = Vec::new();
        for (number, plan) in self.plans.iter().enumerate() {
            let both = plan.verdict.is_none() && plan.routes.function && plan.routes.graph;
            let call = self.call(number);
            let elements = |value: &ValueId| self.trace.value(*value).shape().iter().product::<i32>();
            let few = call.results().iter().all(|result| elements(result) <= FEW);
            // Of a lone operand without anything beside it nothing can be mistaken.
            let ambiguous = plan.operands.len() > 1 || call.arguments().iter().any(Recorded::is_plain);
            if !(both && few && ambiguous) {
                continue;
            }
            for (value, role) in strictest(plan.operands.iter().map(|tried| (tried.value, tried.role))) {
                let candidates = candidates(call, role, self.trace.value(value).dtype());
                tasks.extend(candidates.map(|candidate| (number, value, role, candidate)));
            }
        }
        in_flight(
            self,
            &tasks,
            BATCH / 2,
            false,
            |engine, task| engine.build_apart(*task),
            |engine, task, replays, computed| {
                let replays = match computed {
                    true => replays,
                    false => alone(engine.build_apart(*task)),
                };
                if engine.plans[task.0].verdict.is_none() {
                    let mut replays = replays.into_iter();
                    if let (Some(function), Some(graph)) = (replays.next(), replays.next()) {
                        engine.judge_meeting(task.0, &function, &graph);
                    }
                }
            },
        );
        self.perturbed.clear();
    }

    /// Function and graph with one value perturbed.
    fn build_apart(&mut self, (plan, value, role, candidate): (usize, ValueId, Role, Candidate)) -> Replays {
        let call = self.call(plan);
        let key = (value, role, bound(self.trace, call, role), candidate, 0);
        let made = self.make(key).ok().and_then(|()| self.perturbed[&key].clone());
        let Some(array) = made else {
            return Replays::new();
        };
        self.work.perturbations += 2;
        // At each place of the value: the graph knows no other.
        let places: Vec<StandIn> = self.plans[plan]
            .operands
            .iter()
            .filter(|tried| tried.value == value)
            .map(|tried| StandIn {
                operand: tried.operand,
                value,
                array: array.clone(),
            })
            .collect();
        let mut build = |route| {
            let substitution = Substitution::Places(&places);
            replay(self.trace, call, route, &mut self.streams, substitution)
        };
        [build(Route::Function), build(Route::Graph)]
            .into_iter()
            .collect()
    }

    /// The function with one operand more perturbed each time, then the graph with all of them.
    fn build_steps(&mut self, plan: usize, stand_ins: &[(StandIn, Candidate)]) -> Replays {
        if stand_ins.is_empty() {
            return Replays::new();
        }
        let call = self.call(plan);
        let places: Vec<StandIn> = stand_ins.iter().map(|(stand_in, _)| stand_in.clone()).collect();
        let mut build = |route, upto: usize| {
            let substitution = Substitution::Places(&places[..upto]);
            replay(self.trace, call, route, &mut self.streams, substitution)
        };
        let mut replays: Replays = (1..=places.len())
            .map(|upto| build(Route::Function, upto))
            .collect();
        replays.push(build(Route::Graph, places.len()));
        self.work.perturbations += replays.len() as u64;
        replays
    }

    /// What stands in at each place that can be perturbed; the same at each place of one value.
    fn stand_ins(&mut self, plan: usize) -> Vec<(StandIn, Candidate)> {
        let call = self.call(plan);
        let operands = &self.plans[plan].operands;
        let roles = strictest(operands.iter().map(|tried| (tried.value, tried.role)));
        let places: Vec<(Operand, ValueId)> = self.plans[plan]
            .operands
            .iter()
            .map(|tried| (tried.operand, tried.value))
            .collect();
        let mut stand_ins = Vec::with_capacity(places.len());
        for (operand, value) in places {
            let Some(salt) = roles.iter().position(|(known, _)| *known == value) else {
                continue;
            };
            let role = roles[salt].1;
            let Some(candidate) = candidates(call, role, self.trace.value(value).dtype()).next() else {
                continue;
            };
            let key = (value, role, bound(self.trace, call, role), candidate, salt);
            // What cannot be perturbed is left as it is.
            if self.make(key).is_ok() {
                if let Some(array) = self.perturbed[&key].clone() {
                    let stand_in = StandIn {
                        operand,
                        value,
                        array,
                    };
                    stand_ins.push((stand_in, candidate));
                }
            }
        }
        stand_ins
    }

    /// Whether function and graph computed the same; a verdict where they did not.
    fn judge_meeting(&mut self, plan: usize, function: &Replayed, graph: &Replayed) -> bool {
        let (function, graph) = match (function, graph) {
            (Ok(function), Ok(graph)) => (function, graph),
            (Err(message), Ok(_)) | (Ok(_), Err(message)) => {
                let (route, message) = ("perturbed", message.clone());
                self.plans[plan].verdict =
                    Some((Reason::ReplayMismatch, Detail::ReplayFailed { route, message }));
                return false;
            }
            // What cannot be computed there cannot be computed by either.
            (Err(_), Err(_)) => return false,
        };
        let closeness = self.plans[plan].closeness;
        for (result, (graph, function)) in graph.iter().zip(function).enumerate() {
            let difference = closeness.compare(graph, function).unwrap_or(Difference::Shape);
            if !difference.is_none() {
                let contrast = Contrast::of(graph, function, difference);
                self.plans[plan].verdict =
                    Some((Reason::ReplayMismatch, Detail::RoutesPart { result, contrast }));
                return false;
            }
        }
        true
    }

    fn judge_steps(&mut self, plan: usize, stand_ins: &[(StandIn, Candidate)], mut replays: Replays) {
        let (Some(graph), Some(function)) = (replays.pop(), replays.last()) else {
            return;
        };
        if !self.judge_meeting(plan, function, &graph) {
            return;
        }
        // Each step against the one before, the first against the record.
        let recorded: Replayed = self
            .call(plan)
            .results()
            .iter()
            .map(|result| self.trace.value(*result).payload().cloned())
            .collect::<Option<Vec<Array>>>()
            .ok_or_else(|| "a result's payload was not kept".to_string());
        let mut before = &recorded;
        for ((stand_in, candidate), step) in stand_ins.iter().zip(&replays) {
            let found = match (before, step) {
                (Ok(before), Ok(step)) => reaction_between(before, step),
                (Ok(_), Err(_)) | (Err(_), Ok(_)) => Some(Reaction::Otherwise),
                (Err(_), Err(_)) => None,
            };
            let tried = self.plans[plan].operands.iter_mut();
            if let (Some(found), Some(tried)) =
                (found, tried.into_iter().find(|it| it.operand == stand_in.operand))
            {
                tried.proof = Some((*candidate, found));
            }
            before = step;
        }
    }

    /// Round after round: each operand that is not proven yet gets its next candidate.
    fn perturb_all(&mut self) {
        for round in 0.. {
            let mut jobs = Vec::new();
            for (number, plan) in self.plans.iter().enumerate() {
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
                    let next = candidates(self.call(number), tried.role, dtype).nth(round);
                    if let (None, Some(candidate)) = (tried.proof, next) {
                        jobs.push(Job {
                            plan: number,
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
                if let (Some(reaction), Some((place, candidate))) = (reaction(&outcome), job.perturbed) {
                    engine.plans[job.plan].operands[place].proof = Some((candidate, reaction));
                }
            });
            self.perturbed.clear();
        }
    }

    /// Replays jobs in batches and hands each outcome to `judge`: the first result that differs from the payload.
    fn evaluate(
        &mut self,
        jobs: &[Job],
        mut judge: impl FnMut(&mut Self, Job, Result<Option<Part>, String>),
    ) {
        let guarded = self.guarded;
        in_flight(
            self,
            jobs,
            BATCH,
            guarded,
            |engine, job| engine.build(*job).transpose().into_iter().collect(),
            |engine, job, mut replays, computed| {
                let outcome = match replays.pop() {
                    // Nothing to perturb: no reaction.
                    None => Ok(None),
                    Some(Err(message)) => Err(message),
                    Some(Ok(results)) if computed => engine.compare(*job, &results),
                    Some(Ok(_)) => engine.alone(*job),
                };
                judge(engine, *job, outcome);
            },
        );
    }

    /// The lazy results of a job; `None` where a candidate has nothing to change.
    fn build(&mut self, job: Job) -> Built {
        let trace = self.trace;
        let call = self.call(job.plan);
        let Some((place, candidate)) = job.perturbed else {
            return replay(
                trace,
                call,
                job.route,
                &mut self.streams,
                Substitution::Places(&[]),
            )
            .map(Some);
        };
        let (operand, value, role) = {
            let tried = &self.plans[job.plan].operands[place];
            (tried.operand, tried.value, tried.role)
        };
        let bound = bound(trace, call, role);
        let key = (value, role, bound, candidate, 0);
        self.make(key)?;
        let Some(array) = self.perturbed[&key].clone() else {
            return Ok(None);
        };
        let stand_in = [StandIn {
            operand,
            value,
            array,
        }];
        let substitution = Substitution::Places(&stand_in);
        replay(trace, call, job.route, &mut self.streams, substitution).map(Some)
    }

    /// Makes a perturbed array, unless it is made already.
    fn make(&mut self, key: Perturbed) -> Result<(), String> {
        if !self.perturbed.contains_key(&key) {
            let (value, role, bound, candidate, salt) = key;
            let made = match self.trace.value(value).payload() {
                Some(array) => candidate
                    .salted(salt, role, bound, array)
                    .map_err(|error| error.to_string())?,
                None => None,
            };
            self.perturbed.insert(key, made);
        }
        Ok(())
    }

    fn alone(&mut self, job: Job) -> Result<Option<Part>, String> {
        match self.build(job)? {
            None => Ok(None),
            Some(results) => {
                if self.guarded && graph::endless(&results).map_err(|error| error.message)? {
                    let message =
                        "MLX does not always end a reduction over the empty axes of such a view".to_string();
                    self.plans[job.plan].verdict.get_or_insert((
                        Reason::NoReplayableFunction,
                        Detail::Gap {
                            message: message.clone(),
                        },
                    ));
                    return Err(message);
                }
                graph::evaluate(&results).map_err(|error| error.message)?;
                self.compare(job, &results)
            }
        }
    }

    fn compare(&mut self, job: Job, found: &[Array]) -> Result<Option<Part>, String> {
        let expected = self.call(job.plan).results();
        if found.len() != expected.len() {
            return Err(format!(
                "{} results where {} were recorded",
                found.len(),
                expected.len()
            ));
        }
        for (result, (found, expected)) in found.iter().zip(expected).enumerate() {
            let expected = self
                .trace
                .value(*expected)
                .payload()
                .ok_or("a result's payload was not kept")?;
            let (difference, distance) = match job.perturbed {
                // Any reaction counts.
                Some(_) => graph::differ(expected, found).map(|difference| (difference, 0.0)),
                None => self.plans[job.plan].closeness.measure(expected, found),
            }
            .map_err(|error| error.to_string())?;
            if !difference.is_none() {
                return Ok(Some(Part {
                    result,
                    difference,
                    contrast: match job.perturbed {
                        // Nobody reads how a healthy call reacted.
                        Some(_) => Contrast::Nothing,
                        None => Contrast::of(expected, found, difference),
                    },
                }));
            }
            let farthest = &mut self.plans[job.plan].distance;
            *farthest = farthest.max(distance);
        }
        Ok(None)
    }

    fn decide(&self, plan: usize) -> CallDecision {
        let plan = &self.plans[plan];
        let call = &self.trace.calls()[plan.index];
        let id = CallId(plan.index as u32);
        let (decision, reason, detail) = match &plan.verdict {
            Some((reason, detail)) => (reason.decision(), Some(*reason), detail.clone()),
            None => self.weigh(id, call, plan),
        };
        CallDecision {
            call: id,
            function: call.function().name,
            op: String::new(),
            decision,
            reason,
            detail,
            routes: plan.routes,
            distance: plan.distance,
            proofs: plan
                .operands
                .iter()
                .map(|tried| Proof {
                    operand: tried.operand,
                    parameter: tried.parameter,
                    value: tried.value,
                    found: tried.proof,
                })
                .collect(),
        }
    }

    /// The decision on a call whose replays, if any, gave what was recorded.
    fn weigh(&self, id: CallId, call: &Call, plan: &Plan) -> (Decision, Option<Reason>, Detail) {
        let with = |reason: Reason, detail: Detail| (reason.decision(), Some(reason), detail);
        if call.is_producer_leaf() {
            return with(Reason::ConstantProducerLeaf, Detail::None);
        }
        if !plan.routes.function && !plan.routes.graph {
            return with(Reason::NoReplayableFunction, Detail::None);
        }
        if let Some(function) = self.evaluated_inside.get(&id) {
            return with(Reason::EvaluatedInsideTransform, Detail::Evaluated { function });
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
        // Where no function can be asked whether it reads what the graph does not reach, nobody knows: a closure may
        // ignore an input, and a record may invent one.
        let unproven = plan.operands.iter().find(|tried| {
            let unasked = !tried.reached && !plan.routes.function;
            tried.proof.is_none() && (unasked || (tried.reached && tried.has_data))
        });
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
}

/// Where a replay and the saved payload part.
struct Part {
    result: usize,
    difference: Difference,
    contrast: Contrast,
}

/// What building a job gave: lazy results, or `None` where a candidate has nothing to change.
type Built = Result<Option<Vec<Array>>, String>;

/// How the results of one replay differ from another's.
fn reaction_between(before: &[Array], after: &[Array]) -> Option<Reaction> {
    if before.len() != after.len() {
        return Some(Reaction::Otherwise);
    }
    before
        .iter()
        .zip(after)
        .map(|(before, after)| graph::differ(before, after).unwrap_or(Difference::Shape))
        .find_map(reacted)
}

fn reacted(difference: Difference) -> Option<Reaction> {
    match difference {
        Difference::None => None,
        Difference::Values { .. } => Some(Reaction::Values),
        Difference::Shape | Difference::Dtype => Some(Reaction::Otherwise),
    }
}

/// What a perturbed replay says of an operand. One that fails where the plain one did not has reacted too.
fn reaction(outcome: &Result<Option<Part>, String>) -> Option<Reaction> {
    match outcome {
        Ok(None) => None,
        Ok(Some(part)) => reacted(part.difference),
        Err(_) => Some(Reaction::Otherwise),
    }
}

/// The calls whose closure evaluated something: an application is recorded when it is over, so what it evaluated
/// stands right before it.
fn evaluated_inside(trace: &Trace) -> HashMap<CallId, &'static str> {
    let inside = trace.evaluations().iter().filter(|it| it.inside_transform());
    inside
        .map(|it| (CallId(it.after().map_or(0, |after| after.0 + 1)), it.function()))
        .filter(|(call, _)| {
            let call = trace.calls().get(call.index());
            call.is_some_and(|call| call.function().class == Class::Application)
        })
        .collect()
}

fn is_empty(trace: &Trace, value: ValueId) -> bool {
    trace.value(value).shape().contains(&0)
}
