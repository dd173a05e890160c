//! Random draws. Without a key, mlx-rs draws from the thread's state.

use mlx_rs::random::{self, RandomState, ShapeOrCount};
use mlx_rs::Dtype::{Float32, Int32};

use super::table::{exception, functions, typed};

functions! {
    random.bernoulli(; p: Array, shape: Ints, key: Array) => random::bernoulli(p.as_ref(), shape.as_deref(), key.as_ref());
    random.categorical(logits: Array; axis: Int, shape: Ints, count: Int, key: Array) => {
        let shape = shape.as_deref().map(ShapeOrCount::Shape).or(count.map(ShapeOrCount::Count));
        random::categorical(&logits, axis, shape, key.as_ref())
    };
    random.gumbel(; shape: Ints, dtype: DType, key: Array) => typed!(dtype.unwrap_or(Float32), T => random::gumbel::<T>(shape.as_deref(), key.as_ref()));
    random.key(seed: Int) => random::key(u64::try_from(seed).map_err(exception)?);
    random.multivariate_normal(mean: Array, covariance: Array; shape: Ints, dtype: DType, key: Array) => typed!(dtype.unwrap_or(Float32), T => {
        random::multivariate_normal::<T>(&mean, &covariance, shape.as_deref(), key.as_ref())
    });
    random.normal(; shape: Ints, loc: Float, scale: Float, dtype: DType, key: Array) => typed!(dtype.unwrap_or(Float32), T => {
        random::normal::<T>(shape.as_deref(), loc, scale, key.as_ref())
    });
    random.randint(low: Array, high: Array; shape: Ints, dtype: DType, key: Array) => typed!(dtype.unwrap_or(Int32), T => {
        random::randint::<_, T>(low.clone(), high.clone(), shape.as_deref(), key.as_ref())
    });
    random.seed(seed: Int; shape: Ints) => {
        random::seed(u64::try_from(seed).map_err(exception)?)?;
        random::normal::<f32>(shape.as_deref(), None, None, None)
    };
    random.split(key: Array; num: Int) => random::split(&key, num.unwrap_or(2));
    random.truncated_normal(low: Array, high: Array; shape: Ints, dtype: DType, key: Array) => typed!(dtype.unwrap_or(Float32), T => {
        random::truncated_normal::<_, T>(low.clone(), high.clone(), shape.as_deref(), key.as_ref())
    });
    random.uniform(low: Array, high: Array; shape: Ints, dtype: DType, key: Array) => typed!(dtype.unwrap_or(Float32), T => {
        random::uniform::<_, T>(low.clone(), high.clone(), shape.as_deref(), key.as_ref())
    });

    // A state of one's own.
    random_state.new(; shape: Ints) => random::with_random_state(RandomState::new()?, || {
        random::normal::<f32>(shape.as_deref(), None, None, None)
    });
    random_state.with_seed(seed: Int; shape: Ints) => {
        let state = RandomState::with_seed(u64::try_from(seed).map_err(exception)?)?;
        random::with_random_state(state, || random::normal::<f32>(shape.as_deref(), None, None, None))
    };
    random_state.from_key(key: Array; shape: Ints) => random::with_random_state(RandomState::from_key(key), || {
        random::normal::<f32>(shape.as_deref(), None, None, None)
    });
    random_state.next_key(key: Array) => {
        let mut state = RandomState::from_key(key);
        Ok((state.next_key()?, state.next_key()?))
    };
    random_state.seed(key: Array, seed: Int) => {
        let mut state = RandomState::from_key(key);
        state.seed(u64::try_from(seed).map_err(exception)?)?;
        state.next_key()
    };
    random_state.as_array(key: Array) => {
        let mut state = RandomState::from_key(key);
        let _drawn = state.next_key()?;
        Ok(state.as_array().clone())
    };
}
