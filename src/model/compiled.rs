//! Compiled functions: what `transforms::compile` makes of pure ones, of ones that draw, and of ones with a state.

use mlx_rs::error::Exception;
use mlx_rs::random::{self, RandomState};
use mlx_rs::transforms::compile::{compile, compile_with_state};
use mlx_rs::{ops, Array};

use super::routines::{only, Routines};

/// What each of them does.
pub(super) static ROUTINES: Routines = &[
    ("pure", |inputs| {
        let [x, y] = inputs else {
            return Err(Exception::custom("two arrays are wanted"));
        };
        let f = |(x, y): (&Array, &Array)| -> Result<Array, Exception> {
            ops::add(ops::negative(x)?, y.square()?)
        };
        let mut compiled = compile(f, None);
        let first = compiled((x, y))?;
        Ok(vec![compiled((&first, y))?])
    }),
    // The same function twice: whether the second draw is another one depends on how it runs.
    ("stateless_draw", |inputs| {
        let draw = |x: &Array| -> Result<Array, Exception> {
            ops::add(x, random::normal::<f32>(&[4], None, None, None)?)
        };
        let mut compiled = compile(draw, None);
        let x = only(inputs)?;
        let (first, second) = (compiled(x)?, compiled(x)?);
        let apart = ops::max(ops::abs(ops::subtract(first, second)?)?, None)?;
        Ok(vec![ops::gt(apart, Array::from_f32(0.0))?])
    }),
    // mlx-rs's own example: the state goes in and comes out, so that each call draws on.
    ("state", |inputs| {
        let logits = only(inputs)?;
        let mut draws = Vec::new();
        for _ in 0..2 {
            let mut state = RandomState::with_seed(42)?;
            let mut compiled = compile_with_state(categorical, None);
            draws.push([compiled(&mut state, logits)?, compiled(&mut state, logits)?]);
        }
        let [[first, second], [again, _]] = &draws[..] else {
            return Err(Exception::custom("two draws from each of two states are wanted"));
        };
        let same_seed = ops::all(ops::eq(first, again)?, None)?;
        let consecutive = ops::any(ops::ne(first, second)?, None)?;
        Ok(vec![same_seed, consecutive])
    }),
];

fn categorical(state: &mut RandomState, logits: &Array) -> Result<Array, Exception> {
    let key = state.next_key()?;
    random::categorical(logits, None, None, Some(&key))
}
