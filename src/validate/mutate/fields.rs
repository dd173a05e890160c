//! Every field of a trace's calls and values altered once: rejected with a named reason, or proven equivalent.

use std::collections::BTreeMap;

use mlx_rs::error::Exception;
use mlx_rs::{ops, random, Array, Dtype};
use mlx_sys::function::Function;
use mlx_sys::raw;

use super::equivalent::proof;
use super::saved::Saved;
use super::Touched;
use crate::capture::{CallId, Origin, Recorded, Session, StreamKey, Trace, ValueId};
use crate::graph;
use crate::validate::validate;
use crate::vocabulary::{Decision, Reason, State};

/// A forward with every kind of value: input, parameter, constant ready and not, literal, draw, alias, two results.
fn sample() -> Trace {
    let x = Array::from_slice(&[0.5_f32, -1.0, 2.0, 0.25], &[2, 2]);
    let weight = Array::from_slice(&[1.5_f32, 2.0, -0.5, 1.0], &[2, 2]);
    let ready = Array::from_slice(&[3.0_f32, -2.0], &[2]);
    let lazy = ops::exp(Array::from_slice(&[0.5_f32, 0.25], &[2])).unwrap();
    let parameters = mlx_rs::nn::Linear {
        weight: mlx_rs::module::Param::new(weight.clone()),
        bias: mlx_rs::module::Param::new(None),
    };
    random::seed(0).unwrap();
    let session = Session::new().module(&parameters);
    let forward = || -> Result<Array, Exception> {
        let y = ops::matmul(&x, &weight)?;
        let y = ops::add(y.as_type::<f32>()?, &ready)?;
        let y = ops::multiply(y, &lazy)?;
        let y = ops::subtract(y, Array::from_f32(0.5))?;
        let y = ops::add(y, random::normal::<f32>(&[2, 2], None, None, None)?)?;
        let parts = ops::split_equal(&y, 2, 0)?;
        let joined = ops::concatenate(&[&parts[1], &parts[0]], 0)?;
        ops::sum_axis(joined, 0, true)
    };
    session.run(&x, forward).unwrap().0
}

type Alter = fn(&mut Trace, usize) -> bool;

/// Each field, and how it is altered; false where the value or call at the place offers nothing.
const OF_VALUES: &[(&str, Alter)] = &[
    ("value.origin", |trace, place| {
        let origin = &mut trace.tables.values[place].origin;
        *origin = match origin {
            Origin::Constant => Origin::Unwrapped,
            _ => Origin::Constant,
        };
        true
    }),
    ("value.origin.call", |trace, place| {
        match &mut trace.tables.values[place].origin {
            Origin::Result { call, .. } => {
                call.0 = call.0.wrapping_add(1);
                true
            }
            _ => false,
        }
    }),
    ("value.origin.index", |trace, place| {
        match &mut trace.tables.values[place].origin {
            Origin::Result { index, .. } => {
                *index += 1;
                true
            }
            _ => false,
        }
    }),
    ("value.shape", |trace, place| {
        trace.tables.values[place].shape.push(1);
        true
    }),
    ("value.dtype", |trace, place| {
        let dtype = &mut trace.tables.values[place].dtype;
        *dtype = match dtype {
            Dtype::Float64 => Dtype::Float32,
            _ => Dtype::Float64,
        };
        true
    }),
    ("value.payload (a bit)", |trace, place| {
        let Some(payload) = trace.tables.values[place].payload.clone() else {
            return false;
        };
        let mut memory = graph::span(&payload).unwrap();
        let Some(byte) = memory.get_mut(2) else {
            return false;
        };
        *byte ^= 0x40;
        trace.tables.values[place].payload = Some(graph::respan(&payload, &memory).unwrap());
        true
    }),
    ("value.payload (gone)", |trace, place| {
        trace.tables.values[place].payload.take().is_some()
    }),
    ("value.had_producer", |trace, place| {
        trace.tables.values[place].had_producer ^= true;
        true
    }),
];

const OF_CALLS: &[(&str, Alter)] = &[
    ("call.function", |trace, place| {
        let call = &mut trace.tables.calls[place];
        let other = match call.function.name {
            "mlx_add" => "mlx_subtract",
            "mlx_subtract" => "mlx_add",
            "mlx_multiply" => "mlx_maximum",
            "mlx_matmul" => "mlx_outer",
            _ => return false,
        };
        call.function = Function::by_name(other).unwrap();
        true
    }),
    ("call.arguments (an operand)", |trace, place| {
        let end = trace.tables.calls[place].results[0].0;
        let mut arguments = trace.tables.calls[place].arguments.iter_mut();
        let operand = arguments.find_map(|argument| argument.operands_mut().first_mut());
        match operand {
            // Any earlier value, whatever its kind; an index of an unknown value would be read as it is.
            Some(operand) if end > 1 && trace.tables.values[operand.index()].dtype == Dtype::Float32 => {
                operand.0 = if operand.0 == 0 { 1 } else { 0 };
                true
            }
            _ => false,
        }
    }),
    ("call.arguments (a scalar)", |trace, place| {
        super::scalars::change(trace, CallId(place as u32)).is_some()
    }),
    ("call.arguments (the stream's number)", |trace, place| {
        stream(trace, place, |key| key.index += 1)
    }),
    ("call.arguments (the stream's device)", |trace, place| {
        stream(trace, place, |key| key.device = raw::mlx_device_type__MLX_GPU)
    }),
    ("call.results (gone)", |trace, place| {
        trace.tables.calls[place].results.pop().is_some()
    }),
    ("call.results (another)", |trace, place| {
        trace.tables.calls[place].results[0] = ValueId(0);
        true
    }),
    ("call.page (gone)", |trace, place| {
        trace.tables.calls[place].page.take().is_some()
    }),
    ("call.page (another's)", |trace, place| {
        let other = trace.tables.calls[(place + 1) % trace.tables.calls.len()].page;
        let own = std::mem::replace(&mut trace.tables.calls[place].page, other);
        own != other
    }),
    ("call.captured", |trace, place| {
        trace.tables.calls[place].captured.push(ValueId(0));
        true
    }),
    ("call.scope", |trace, place| {
        trace.tables.calls[place].scope = None;
        true
    }),
];

fn stream(trace: &mut Trace, place: usize, change: fn(&mut StreamKey)) -> bool {
    let mut arguments = trace.tables.calls[place].arguments.iter_mut();
    match arguments.find_map(|argument| match argument {
        Recorded::Stream(key) => Some(key),
        _ => None,
    }) {
        Some(key) => {
            change(key);
            true
        }
        None => false,
    }
}

/// What becomes of an altered trace, in a word: the reason, or `equivalent`.
fn fate(saved: &Saved, trace: &Trace) -> String {
    let status = validate(trace);
    let worst = [Decision::Failed, Decision::Unproven].iter().find_map(|wanted| {
        let ops = status.ops().iter().filter(|op| op.decision() == *wanted);
        ops.filter_map(|op| op.reason()).next()
    });
    match (status.state(), worst) {
        (State::Passed, _) => match proof(saved, trace, &Touched::default()) {
            Some(_) => "equivalent".to_string(),
            None => format!("PASSED: {status}"),
        },
        (_, Some(reason)) => reason.to_string(),
        (State::Failed, None) if !status.gaps().is_empty() => Reason::ReplayCoverageIncomplete.to_string(),
        (state, None) => format!("{state} without a reason"),
    }
}

#[test]
fn every_field_altered_once_is_rejected_with_a_reason_or_proven_equivalent() {
    let mut trace = sample();
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    let mut table: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let values = OF_VALUES.iter().map(|field| (field, trace.tables.values.len()));
    let calls = OF_CALLS.iter().map(|field| (field, trace.tables.calls.len()));
    let all: Vec<_> = values.chain(calls).collect();
    for ((name, alter), places) in all {
        for place in 0..places {
            let saved = Saved::of(&trace);
            if alter(&mut trace, place) {
                let fate = fate(&saved, &trace);
                *table.entry((name, fate)).or_default() += 1;
            }
            saved.restore(&mut trace);
        }
    }
    let lines: Vec<String> = table
        .iter()
        .map(|((name, fate), count)| format!("{name}: {fate} {count}"))
        .collect();
    let named = |line: &String| !line.contains("PASSED") && !line.contains("without a reason");
    assert!(lines.iter().all(named), "{lines:#?}");
    insta::assert_snapshot!(lines.join("\n"));
}
