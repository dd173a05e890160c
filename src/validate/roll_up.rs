//! From the decisions on calls to those on ops, and to the state of the trace.

use std::collections::HashMap;

use crate::capture::{CallId, Op, OpKind, Trace};
use crate::vocabulary::{Decision, Reason, State};

use super::decision::{severity, CallDecision, OpDecision, Routes};
use super::inside::Inside;
use super::status::{Status, Work};

pub(super) fn unavailable(trace: &Trace, message: &str) -> Status {
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
        insides: Vec::new(),
    }
}

/// The status that follows from the decisions on all calls.
pub(super) fn conclude(
    trace: &Trace,
    mut calls: Vec<CallDecision>,
    gaps: Vec<String>,
    work: Work,
    insides: Vec<Inside>,
) -> Status {
    let rows = trace.ops();
    for row in &rows {
        for call in row.calls() {
            // Calls are decided in their order.
            if let Some(decision) = calls.get_mut(call.index()) {
                decision.op = row.label();
            }
        }
    }
    let by_call: HashMap<CallId, &CallDecision> =
        calls.iter().map(|decision| (decision.call, decision)).collect();
    let ops: Vec<OpDecision> = rows
        .iter()
        .map(|op| {
            let replaced = trace
                .replacements()
                .iter()
                .any(|it| op.results().contains(&it.original) || op.results().contains(&it.replacement));
            roll_up(op, &by_call, replaced)
        })
        .collect();
    let mut status = Status {
        state: State::Passed,
        message: String::new(),
        ops,
        gaps,
        work,
        calls,
        insides,
    };
    settle(trace, &mut status);
    status
}

/// State and message, from the decisions as they stand.
pub(super) fn settle(trace: &Trace, status: &mut Status) {
    let worst = status
        .ops
        .iter()
        .map(|op| op.decision)
        .max_by_key(|decision| severity(*decision));
    status.state = match worst {
        Some(Decision::Failed) => State::Failed,
        _ if !status.gaps.is_empty() => State::Failed,
        _ if status.insides.iter().any(|inside| inside.failure().is_some()) => State::Failed,
        Some(Decision::Unproven) => State::Unverified,
        _ if !trace.capture_verified() => State::Unverified,
        _ => State::Passed,
    };
    let by_call: HashMap<CallId, &CallDecision> = status
        .calls
        .iter()
        .map(|decision| (decision.call, decision))
        .collect();
    status.message = message(trace, &status.ops, &by_call, &status.gaps, status.state);
    // An op that is wrong as a whole says more than its inside does.
    let op_failed = status.ops.iter().any(|op| op.decision == Decision::Failed) || !status.gaps.is_empty();
    let inside = status
        .insides
        .iter()
        .find_map(|inside| Some((inside.call, inside.failure()?)));
    if let (false, Some((call, failure))) = (op_failed, inside) {
        let name = trace.call(call).name();
        status.message = format!("{name} (call {}): {failure}", call.0 + 1);
    }
}

/// The worst decision of an op's calls.
fn roll_up(op: &Op, by_call: &HashMap<CallId, &CallDecision>, replaced: bool) -> OpDecision {
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
    // What it computed is proven as ever, and others saw something else.
    let (decision, reason) = match (replaced, decision) {
        (true, Decision::Verified | Decision::Exempt) => {
            (Decision::Exempt, Some(Reason::UserInterventionReplacement))
        }
        _ => (decision, reason),
    };
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
