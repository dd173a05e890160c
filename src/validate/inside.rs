//! The insides of calls that ran a closure: the closure's own forward is validated like any trace, and each primitive of
//! the derivative is computed again from what it reads, and shown to react to it.

use mlx_rs::{Array, Dtype};
use mlx_sys::function::Role;

use crate::capture::{CallId, Primitive, Trace, Transform};
use crate::graph::{self, Subgraph};
use crate::vocabulary::{Decision, Reason, State};

use super::candidate::Candidate;
use super::engine::validate;
use super::flight::{alone, in_flight, Replayed, Replays, BATCH};
use super::status::{Status, Work};

/// What validation makes of the inside of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Inside {
    pub(crate) call: CallId,
    pub(crate) forward: Status,
    pub(crate) derivative: Vec<PrimitiveDecision>,
    /// Why the derivative as a whole is not what was recorded, if it is not.
    pub(crate) parted: Option<String>,
    pub(crate) work: Work,
}

/// What validation concluded about one primitive of a derivative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimitiveDecision {
    /// Its label: `Multiply_1`.
    pub label: String,
    /// The decision.
    pub decision: Decision,
    /// Why.
    pub reason: Option<Reason>,
    /// Extents and element type of each result.
    pub results: Vec<(Vec<i32>, Dtype)>,
}

impl Inside {
    /// The call, in the trace around.
    pub fn call(&self) -> CallId {
        self.call
    }

    /// The status of the closure's own forward.
    pub fn forward(&self) -> &Status {
        &self.forward
    }

    /// One decision for each of [`Transform::primitives`]; none where there was nothing to replay with.
    pub fn derivative(&self) -> &[PrimitiveDecision] {
        &self.derivative
    }

    /// What was shown to be wrong, if anything.
    pub fn failure(&self) -> Option<String> {
        if let Some(parted) = &self.parted {
            return Some(parted.clone());
        }
        if self.forward.state() == State::Failed {
            return Some(format!("inside its closure: {}", self.forward.message()));
        }
        let failed = self.derivative.iter().find(|it| it.decision == Decision::Failed);
        failed.map(|it| format!("primitive {} of its derivative does not replay", it.label))
    }
}

/// Validates the inside of a call of `trace`.
pub(super) fn validate_inside(trace: &Trace, transform: &Transform) -> Inside {
    let mut inside = Inside {
        call: transform.call(),
        forward: validate(transform.forward()),
        derivative: Vec::new(),
        parted: None,
        work: Work::default(),
    };
    let here = trace.thread() == std::thread::current().id();
    if let (Some(graph), true) = (transform.derivative(), here) {
        match unfolded(trace, transform, graph) {
            Ok(Some(slots)) => {
                let mut replaying = Replaying::new(graph, transform.primitives(), slots);
                inside.derivative = replaying.run();
                inside.work = replaying.work;
            }
            Ok(None) => {}
            Err(parted) => inside.parted = Some(parted),
        }
    }
    inside
}

/// What is behind each slot of the derivative, computed from the forward's payloads; `None` where some were not kept.
///
/// # Errors
///
/// How the results part from the call's.
fn unfolded(trace: &Trace, transform: &Transform, graph: Subgraph<'_>) -> Result<Option<Vec<Array>>, String> {
    let forward = transform.forward();
    let boundary: Option<Vec<&Array>> = graph
        .boundary()
        .into_iter()
        .map(|number| forward.values().get(number as usize)?.payload())
        .collect();
    let Some(boundary) = boundary else {
        return Ok(None);
    };
    let told =
        |error: graph::GraphError| format!("its derivative cannot be computed again: {}", error.message);
    let slots = graph.unfold(&boundary).map_err(told)?;
    graph::evaluate(&slots).map_err(told)?;
    let recorded = trace.call(transform.call()).results();
    for (place, (slot, value)) in graph.results().iter().zip(recorded).enumerate() {
        let Some(payload) = trace.value(*value).payload() else {
            continue;
        };
        let same = graph::compare(payload, &slots[*slot as usize]).map_err(|error| error.to_string())?;
        if !same.is_none() {
            return Err(format!(
                "its derivative gives another result {place} than was recorded"
            ));
        }
    }
    Ok(Some(slots))
}

/// One replay: a primitive as it is, or with one of its inputs perturbed.
#[derive(Clone, Copy)]
struct Task {
    primitive: usize,
    perturbed: Option<(usize, Candidate)>,
}

struct Replaying<'a> {
    graph: Subgraph<'a>,
    primitives: Vec<Primitive>,
    slots: Vec<Array>,
    /// For each primitive the slots that it reads.
    inputs: Vec<Vec<u32>>,
    /// For each primitive, whether it gave what it gave before; and for each input, whether it reacted.
    same: Vec<bool>,
    reacted: Vec<Vec<bool>>,
    work: Work,
}

impl<'a> Replaying<'a> {
    fn new(graph: Subgraph<'a>, primitives: Vec<Primitive>, slots: Vec<Array>) -> Self {
        let inputs: Vec<Vec<u32>> = graph.steps().into_iter().map(|step| step.inputs).collect();
        Self {
            same: vec![false; primitives.len()],
            reacted: inputs.iter().map(|inputs| vec![false; inputs.len()]).collect(),
            graph,
            primitives,
            slots,
            inputs,
            work: Work::default(),
        }
    }

    fn run(&mut self) -> Vec<PrimitiveDecision> {
        let plain: Vec<Task> = (0..self.primitives.len())
            .map(|primitive| Task {
                primitive,
                perturbed: None,
            })
            .collect();
        self.work.replays += plain.len() as u64;
        self.replay(&plain);
        for round in 0.. {
            let tasks = self.next_round(round);
            if tasks.is_empty() {
                break;
            }
            self.work.perturbations += tasks.len() as u64;
            self.replay(&tasks);
        }
        (0..self.primitives.len())
            .map(|primitive| self.decide(primitive))
            .collect()
    }

    /// The next candidate for each input that no result reacted to so far.
    fn next_round(&self, round: usize) -> Vec<Task> {
        let mut tasks = Vec::new();
        for primitive in (0..self.primitives.len()).filter(|primitive| self.same[*primitive]) {
            for place in 0..self.inputs[primitive].len() {
                if self.reacted[primitive][place] || !self.has_data(primitive, place) {
                    continue;
                }
                let next = self.candidates(primitive, place).nth(round);
                tasks.extend(next.map(|candidate| Task {
                    primitive,
                    perturbed: Some((place, candidate)),
                }));
            }
        }
        tasks
    }

    /// Matrices that are decomposed stay regular, and what may be an index stays in range.
    fn candidates(&self, primitive: usize, place: usize) -> impl Iterator<Item = Candidate> {
        const DELICATE: &[&str] = &["Cholesky", "Eig", "Eigh", "Inverse", "LUF", "QRF", "SVD"];
        let delicate = DELICATE.contains(&self.primitives[primitive].name.as_str());
        let input = self.input(primitive, place);
        let all = Candidate::all(role(input), input.dtype()).iter().copied();
        all.filter(move |candidate| {
            !delicate
                || matches!(
                    candidate,
                    Candidate::Noise | Candidate::Shift | Candidate::Reversal
                )
        })
    }

    fn input(&self, primitive: usize, place: usize) -> &Array {
        &self.slots[self.inputs[primitive][place] as usize]
    }

    fn has_data(&self, primitive: usize, place: usize) -> bool {
        let slots = &self.primitives[primitive].slots;
        let some_result = slots.iter().any(|slot| self.slots[*slot as usize].size() > 0);
        some_result && self.input(primitive, place).size() > 0
    }

    fn replay(&mut self, tasks: &[Task]) {
        in_flight(
            self,
            tasks,
            BATCH,
            false,
            |replaying, task| replaying.build(*task),
            |replaying, task, replays, computed| {
                let replays = match computed {
                    true => replays,
                    false => alone(replaying.build(*task)),
                };
                if let Some(replayed) = replays.into_iter().next() {
                    replaying.judge(*task, replayed);
                }
            },
        );
    }

    fn build(&self, task: Task) -> Replays {
        let mut made = None;
        if let Some((place, candidate)) = task.perturbed {
            let input = self.input(task.primitive, place);
            // The first thing that a primitive reads is what its indices point into.
            let extents = self.input(task.primitive, 0).shape().iter().min();
            let bound = i64::from(extents.copied().unwrap_or(0));
            match candidate.apply(role(input), bound, input) {
                Ok(Some(array)) => made = Some((place, array)),
                _ => return Replays::new(),
            }
        }
        let slots = &self.inputs[task.primitive];
        let inputs: Vec<&Array> = (0..slots.len())
            .map(|place| match &made {
                Some((perturbed, array)) if *perturbed == place => array,
                _ => self.input(task.primitive, place),
            })
            .collect();
        let step = self.primitives[task.primitive].step;
        let replayed = self
            .graph
            .replay_step(step, &inputs)
            .map_err(|error| error.to_string());
        [replayed].into_iter().collect()
    }

    fn judge(&mut self, task: Task, replayed: Replayed) {
        let slots = &self.primitives[task.primitive].slots;
        let same = replayed.is_ok_and(|results| {
            results.len() == slots.len()
                && results.iter().zip(slots).all(|(result, slot)| {
                    graph::differ(&self.slots[*slot as usize], result)
                        .is_ok_and(|difference| difference.is_none())
                })
        });
        match task.perturbed {
            None => self.same[task.primitive] = same,
            Some((place, _)) if !same => self.reacted[task.primitive][place] = true,
            Some(_) => {}
        }
    }

    fn decide(&self, primitive: usize) -> PrimitiveDecision {
        let told = &self.primitives[primitive];
        let places = 0..self.inputs[primitive].len();
        let with_data: Vec<usize> = places.filter(|place| self.has_data(primitive, *place)).collect();
        let reason = if !self.same[primitive] {
            Some(Reason::ReplayMismatch)
        } else if self.inputs[primitive].is_empty() {
            Some(Reason::ConstantProducerLeaf)
        } else if with_data.is_empty() {
            Some(Reason::OperandNotRead)
        } else if with_data.iter().any(|place| !self.reacted[primitive][*place]) {
            Some(Reason::PerturbationInsensitive)
        } else {
            None
        };
        let result = |slot: &u32| {
            let array = &self.slots[*slot as usize];
            (array.shape().to_vec(), array.dtype())
        };
        PrimitiveDecision {
            label: told.label(),
            decision: reason.map_or(Decision::Verified, Reason::decision),
            reason,
            results: told.slots.iter().map(result).collect(),
        }
    }
}

/// What an input may be perturbed as: integers may point into another one, and MLX checks no bounds.
fn role(input: &Array) -> Role {
    match input.dtype() {
        dtype if dtype.is_float() || dtype.is_complex() || dtype == Dtype::Bool => Role::Value,
        _ => Role::Index,
    }
}

#[cfg(test)]
mod tests {
    use mlx_rs::{ops, transforms, Array};

    use super::*;
    use crate::capture::Origin;
    use crate::Session;

    fn gradient() -> Trace {
        let x = Array::from_slice(&[0.5_f32, -1.0, 2.0], &[3]);
        let f = |x: &Array| ops::sum(ops::multiply(x.square()?, x)?, None);
        Session::new().run(&x, || transforms::grad(f)(&x)).unwrap().0
    }

    /// Puts another payload in the place of one inside, and validates.
    fn damaged(which: impl Fn(&Origin) -> bool) -> Status {
        let mut trace = gradient();
        assert_eq!(validate(&trace).state(), State::Passed);
        let values = &mut trace.transforms[0].forward.tables.values;
        let value = values.iter_mut().find(|value| which(&value.origin)).unwrap();
        let wrong = Array::from_slice(&[3.0_f32, 1.0, 4.0], &[3]);
        value.payload = Some(wrong);
        validate(&trace)
    }

    #[test]
    fn a_wrong_payload_inside_fails_the_forward_and_the_trace() {
        let status = damaged(|origin| matches!(origin, Origin::Result { .. }));
        assert_eq!(status.state(), State::Failed);
        assert_eq!(status.insides()[0].forward().state(), State::Failed);
    }

    #[test]
    fn a_wrong_argument_inside_gives_another_derivative() {
        let status = damaged(|origin| matches!(origin, Origin::Input { .. }));
        let parted = status.insides()[0].failure().unwrap();
        assert!(parted.contains("its derivative gives another result"), "{parted}");
        assert_eq!(status.state(), State::Failed);
    }

    #[test]
    fn arguments_in_another_order_than_mlx_gave_them_are_noticed() {
        let (x, y) = (Array::from_f32(2.0), Array::from_f32(3.0));
        let f = |inputs: &[Array]| ops::multiply(inputs[0].square()?, &inputs[1]);
        let captured = Session::new().run(&(&x, &y), || transforms::grad(f)(&[x.clone(), y.clone()]));
        let mut trace = captured.unwrap().0;
        assert_eq!(validate(&trace).state(), State::Passed);
        let operands = trace.tables.calls[0].arguments.iter_mut();
        operands
            .filter(|it| it.operands().len() == 2)
            .for_each(|it| it.operands_mut().swap(0, 1));
        let status = validate(&trace);
        assert_eq!(
            status.calls()[0].reason,
            Some(Reason::DeclaredParentsInconsistent)
        );
    }
}
