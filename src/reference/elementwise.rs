//! Functions that work element by element.

use super::call::{broadcast, Call};
use super::error::NoReference;
use super::promote::{fractional, promoted};
use super::tensor::{Elements, Tensor};
use crate::vocabulary::{DType, Kind};
use ndarray::{ArrayD, Zip};
use num_complex::Complex64;

type Result1 = Result<Vec<Tensor>, NoReference>;

/// A complex number as its real and imaginary part, which is how complex numbers are ordered.
pub(super) type Pair = (f64, f64);

/// A function of one array that yields fractions: integers go in as `float32`.
pub(super) fn smooth(
    call: &Call<'_>,
    real: fn(f64) -> f64,
    complex: Option<fn(Complex64) -> Complex64>,
) -> Result1 {
    let x = call.array("x")?;
    match (&x.elements, complex) {
        (Elements::Complex(it), Some(complex)) => Ok(vec![Tensor::complexes(it.mapv(complex))]),
        (Elements::Complex(_), None) => Err(NoReference::DType(x.dtype)),
        _ => Ok(vec![Tensor::floats(
            fractional(x.dtype),
            x.to_floats()?.mapv(real),
        )]),
    }
}

/// A function of one array that keeps its type.
pub(super) fn keeping(
    call: &Call<'_>,
    int: fn(i64) -> i64,
    real: fn(f64) -> f64,
    complex: Option<fn(Complex64) -> Complex64>,
) -> Result1 {
    let x = call.array("x")?;
    let dtype = x.dtype;
    Ok(vec![match (x.elements, complex) {
        // A truth value is 0 or 1, and whatever is not 0 is true.
        (Elements::Bool(it), _) => Tensor::bools(it.mapv(|it| int(i64::from(it)) != 0)),
        (Elements::Int(it), _) => Tensor::ints(dtype, it.mapv(int)),
        (Elements::Float(it), _) => Tensor::floats(dtype, it.mapv(real)),
        (Elements::Complex(it), Some(complex)) => Tensor::complexes(it.mapv(complex)),
        _ => return Err(NoReference::DType(dtype)),
    }])
}

/// The magnitude: of a complex number a real one.
pub(super) fn abs(call: &Call<'_>) -> Result1 {
    match call.array("x")?.elements {
        Elements::Complex(it) => Ok(vec![Tensor::floats(DType::Float32, it.mapv(|it| it.norm()))]),
        _ => keeping(call, i64::wrapping_abs, f64::abs, None),
    }
}

/// -1, 0 or 1; NaN of NaN, since it has no sign; of a complex number its direction.
pub(super) fn sign(call: &Call<'_>) -> Result1 {
    let sign = |it: f64| if it.is_nan() || it == 0.0 { it } else { it.signum() };
    let direction = |it: Complex64| match it.norm() {
        0.0 => it,
        length => it / length,
    };
    keeping(call, i64::signum, sign, Some(direction))
}

/// To the nearest, halves to even, at so many decimals.
pub(super) fn round(call: &Call<'_>) -> Result1 {
    if call.int("decimals").is_some_and(|decimals| decimals != 0) {
        return Err(call.not_covered("decimals"));
    }
    let parts = |it: Complex64| Complex64::new(libm::rint(it.re), libm::rint(it.im));
    keeping(call, |it| it, libm::rint, Some(parts))
}

/// A question about each element.
pub(super) fn asked(call: &Call<'_>, real: fn(f64) -> bool) -> Result1 {
    let x = call.array("x")?;
    let answers = match &x.elements {
        Elements::Complex(it) => it.mapv(|it| real(it.re) || real(it.im)),
        _ => x.to_floats()?.mapv(real),
    };
    Ok(vec![Tensor::bools(answers)])
}

/// Whether each element is zero.
pub(super) fn logical_not(call: &Call<'_>) -> Result1 {
    Ok(vec![Tensor::bools(call.array("x")?.to_bools().mapv(|it| !it))])
}

/// Arithmetic on two arrays of a common type, each kind by its own rule.
pub(super) fn arithmetic(
    call: &Call<'_>,
    int: fn(i64, i64) -> i64,
    real: fn(f64, f64) -> f64,
    complex: Option<fn(Complex64, Complex64) -> Complex64>,
) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = promoted(a.dtype, b.dtype);
    Ok(vec![match (dtype.kind(), complex) {
        (Kind::Bool, _) => Tensor::bools(zip(&a.to_ints()?, &b.to_ints()?, |a, b| int(a, b) != 0)?),
        (Kind::Int, _) => Tensor::ints(dtype, zip(&a.to_ints()?, &b.to_ints()?, int)?),
        (Kind::Float, _) => Tensor::floats(dtype, zip(&a.to_floats()?, &b.to_floats()?, real)?),
        (Kind::Complex, Some(complex)) => {
            Tensor::complexes(zip(&a.to_complexes(), &b.to_complexes(), complex)?)
        }
        _ => return Err(NoReference::DType(dtype)),
    }])
}

/// A function of two arrays that yields fractions.
pub(super) fn fractions(
    call: &Call<'_>,
    real: fn(f64, f64) -> f64,
    complex: Option<fn(Complex64, Complex64) -> Complex64>,
) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = fractional(promoted(a.dtype, b.dtype));
    Ok(vec![match (dtype.kind(), complex) {
        (Kind::Complex, Some(complex)) => {
            Tensor::complexes(zip(&a.to_complexes(), &b.to_complexes(), complex)?)
        }
        (Kind::Complex, None) => return Err(NoReference::DType(dtype)),
        _ => Tensor::floats(dtype, zip(&a.to_floats()?, &b.to_floats()?, real)?),
    }])
}

/// A comparison of two arrays in their common type. Complex numbers are ordered as pairs, as NumPy orders them.
pub(super) fn compared(
    call: &Call<'_>,
    int: fn(&i64, &i64) -> bool,
    real: fn(&f64, &f64) -> bool,
    pair: fn(&Pair, &Pair) -> bool,
) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = promoted(a.dtype, b.dtype);
    let answers = match dtype.kind() {
        Kind::Bool | Kind::Int => zip(&a.to_ints()?, &b.to_ints()?, |a, b| int(&a, &b))?,
        Kind::Float => {
            let (a, b) = (a.cast(dtype)?.to_floats()?, b.cast(dtype)?.to_floats()?);
            zip(&a, &b, |a, b| real(&a, &b))?
        }
        Kind::Complex => zip(&a.to_complexes(), &b.to_complexes(), |a, b| {
            pair(&(a.re, a.im), &(b.re, b.im))
        })?,
    };
    Ok(vec![Tensor::bools(answers)])
}

/// Both, or either, of two truth values.
pub(super) fn logical(call: &Call<'_>, truth: fn(bool, bool) -> bool) -> Result1 {
    let (a, b) = (call.array("a")?.to_bools(), call.array("b")?.to_bools());
    Ok(vec![Tensor::bools(zip(&a, &b, truth)?)])
}

/// A divisor may be 0 where it is a truth value; an integer one ends the process, so that no case asks.
fn no_truth_values(call: &Call<'_>) -> Result<(), NoReference> {
    let (a, b) = (call.array("a")?.dtype, call.array("b")?.dtype);
    match promoted(a, b) {
        DType::Bool => Err(NoReference::DType(DType::Bool)),
        _ => Ok(()),
    }
}

/// Rounded towards minus infinity, also for integers.
pub(super) fn floor_divide(call: &Call<'_>) -> Result1 {
    no_truth_values(call)?;
    let int = |a: i64, b: i64| {
        let quotient = a.wrapping_div(b);
        let inexact = a.wrapping_rem(b) != 0;
        quotient - i64::from(inexact && (a < 0) != (b < 0))
    };
    arithmetic(call, int, |a, b| (a / b).floor(), None)
}

/// What floor division leaves: of the divisor's sign.
pub(super) fn remainder(call: &Call<'_>) -> Result1 {
    no_truth_values(call)?;
    let int = |a: i64, b: i64| {
        let rest = a.wrapping_rem(b);
        if rest != 0 && (rest < 0) != (b < 0) {
            rest + b
        } else {
            rest
        }
    };
    let real = |a: f64, b: f64| {
        let rest = a % b;
        if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
            rest + b
        } else {
            rest
        }
    };
    arithmetic(call, int, real, None)
}

/// The larger, or smaller, of two; NaN if either is.
pub(super) fn extreme(call: &Call<'_>, larger: bool) -> Result1 {
    match larger {
        true => arithmetic(call, i64::max, |a, b| nan_or(a, b, f64::max), Some(largest)),
        false => arithmetic(call, i64::min, |a, b| nan_or(a, b, f64::min), Some(smallest)),
    }
}

fn nan_or(a: f64, b: f64, choose: fn(f64, f64) -> f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        choose(a, b)
    }
}

fn is_nan(it: Complex64) -> bool {
    it.re.is_nan() || it.im.is_nan()
}

/// The larger of two complex numbers, ordered as pairs; the first that is NaN, if one is.
pub(super) fn largest(a: Complex64, b: Complex64) -> Complex64 {
    let keeps = is_nan(a) || (!is_nan(b) && (a.re, a.im) >= (b.re, b.im));
    if keeps {
        a
    } else {
        b
    }
}

/// The smaller of two, in the same order.
pub(super) fn smallest(a: Complex64, b: Complex64) -> Complex64 {
    let keeps = is_nan(a) || (!is_nan(b) && (a.re, a.im) <= (b.re, b.im));
    if keeps {
        a
    } else {
        b
    }
}

/// Integers by repeated products, everything else by its logarithm.
pub(super) fn power(call: &Call<'_>) -> Result1 {
    let int = |a: i64, b: i64| u32::try_from(b).map_or(0, |b| a.wrapping_pow(b));
    arithmetic(call, int, f64::powf, Some(|a, b| a.powc(b)))
}

/// `log(exp(a) + exp(b))`, without the overflow.
pub(super) fn logaddexp(call: &Call<'_>) -> Result1 {
    let real = |a: f64, b: f64| {
        let (most, least) = (a.max(b), a.min(b));
        if most.is_infinite() || least.is_nan() || most.is_nan() {
            return if a.is_nan() || b.is_nan() { f64::NAN } else { most };
        }
        most + libm::log1p((least - most).exp())
    };
    fractions(call, real, Some(|a, b| (a.exp() + b.exp()).ln()))
}

/// `a` where the condition holds, `b` elsewhere.
pub(super) fn select(call: &Call<'_>) -> Result1 {
    let (condition, a, b) = (
        call.array("condition")?.to_bools(),
        call.array("a")?,
        call.array("b")?,
    );
    let dtype = promoted(a.dtype, b.dtype);
    let (a, b) = (a.cast(dtype)?, b.cast(dtype)?);
    macro_rules! chosen {
        ($a:expr, $b:expr) => {{
            let (a, b) = broadcast($a, $b)?;
            let (condition, a) = broadcast(&condition, &a)?;
            let (_, b) = broadcast(&condition, &b)?;
            Zip::from(&condition)
                .and(&a)
                .and(&b)
                .map_collect(|it, a, b| if *it { *a } else { *b })
        }};
    }
    let elements = match (&a.elements, &b.elements) {
        (Elements::Bool(a), Elements::Bool(b)) => Elements::Bool(chosen!(a, b)),
        (Elements::Int(a), Elements::Int(b)) => Elements::Int(chosen!(a, b)),
        (Elements::Float(a), Elements::Float(b)) => Elements::Float(chosen!(a, b)),
        (Elements::Complex(a), Elements::Complex(b)) => Elements::Complex(chosen!(a, b)),
        _ => return Err(NoReference::DType(dtype)),
    };
    Ok(vec![Tensor { dtype, elements }])
}

/// Between the bounds that are given; NaN stays NaN.
pub(super) fn clip(call: &Call<'_>) -> Result1 {
    let mut x = call.array("x")?;
    for (name, larger) in [("min", true), ("max", false)] {
        let Some(bound) = call.maybe_array(name)? else {
            continue;
        };
        let dtype = promoted(x.dtype, bound.dtype);
        x = match dtype.kind() {
            Kind::Int => {
                let choose = if larger { i64::max } else { i64::min };
                Tensor::ints(dtype, zip(&x.to_ints()?, &bound.to_ints()?, choose)?)
            }
            Kind::Float => {
                let choose = if larger { f64::max } else { f64::min };
                let (x, bound) = (x.to_floats()?, bound.to_floats()?);
                Tensor::floats(dtype, zip(&x, &bound, |x, bound| nan_or(x, bound, choose))?)
            }
            Kind::Complex => {
                let choose = if larger { largest } else { smallest };
                Tensor::complexes(zip(&x.to_complexes(), &bound.to_complexes(), choose)?)
            }
            Kind::Bool => return Err(NoReference::DType(dtype)),
        };
    }
    Ok(vec![x])
}

fn zip<A: Copy, B: Copy, T>(
    a: &ArrayD<A>,
    b: &ArrayD<B>,
    f: impl Fn(A, B) -> T,
) -> Result<ArrayD<T>, NoReference> {
    let (a, b) = broadcast(a, b)?;
    Ok(Zip::from(&a).and(&b).map_collect(|a, b| f(*a, *b)))
}

/// One part of complex numbers; a real number's imaginary part is 0.
pub(super) fn component(call: &Call<'_>, part: fn(Complex64) -> f64) -> Result1 {
    let x = call.array("x")?;
    let dtype = match x.dtype {
        DType::Complex64 => DType::Float32,
        other => other,
    };
    let elements = x.to_complexes().mapv(part);
    Ok(vec![Tensor::floats(DType::Float64, elements).cast(dtype)?])
}

/// Whether each element is one of the two infinities of the real line, which no complex number is.
pub(super) fn is_infinity(call: &Call<'_>, infinity: f64) -> Result1 {
    let x = call.array("x")?;
    let answers = match &x.elements {
        Elements::Complex(it) => it.mapv(|_| false),
        _ => x.to_floats()?.mapv(|it| it == infinity),
    };
    Ok(vec![Tensor::bools(answers)])
}

/// A question that both parts of a complex number must answer with yes.
pub(super) fn asked_all(call: &Call<'_>, real: fn(f64) -> bool) -> Result1 {
    let x = call.array("x")?;
    let answers = match &x.elements {
        Elements::Complex(it) => it.mapv(|it| real(it.re) && real(it.im)),
        _ => x.to_floats()?.mapv(real),
    };
    Ok(vec![Tensor::bools(answers)])
}

/// Numbers in place of NaN and the infinities: 0 and the type's extremes, where none are given.
pub(super) fn nan_to_num(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let most = match x.dtype {
        DType::Float16 => 65504.0,
        DType::Bfloat16 => 3.389_531_389_251_535_5e38,
        DType::Float32 => f64::from(f32::MAX),
        DType::Float64 => f64::MAX,
        DType::Complex64 => return Err(NoReference::DType(x.dtype)),
        _ => return Ok(vec![x]),
    };
    let (nan, above, below) = (
        call.float("nan").unwrap_or(0.0),
        call.float("pos_inf").unwrap_or(most),
        call.float("neg_inf").unwrap_or(-most),
    );
    let elements = x.to_floats()?.mapv(|it| match it {
        _ if it.is_nan() => nan,
        _ if it == f64::INFINITY => above,
        _ if it == f64::NEG_INFINITY => below,
        _ => it,
    });
    Ok(vec![Tensor::floats(x.dtype, elements)])
}

/// The quotient rounded down, and what it leaves.
pub(super) fn divmod(call: &Call<'_>) -> Result1 {
    let mut both = floor_divide(call)?;
    both.extend(remainder(call)?);
    Ok(both)
}

/// By statrs; infinite at the ends, NaN beyond them.
pub(super) fn erfinv(x: f64) -> f64 {
    match x.abs() {
        _ if x == 0.0 => x,
        it if it < 1.0 => statrs::function::erf::erf_inv(x),
        1.0 => f64::INFINITY.copysign(x),
        _ => f64::NAN,
    }
}

/// Whether each pair lies within `atol + rtol * |b|`.
pub(super) fn is_close(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let (rtol, atol) = (
        call.float("rtol").unwrap_or(1e-5),
        call.float("atol").unwrap_or(1e-8),
    );
    let equal_nan = call.flag("equal_nan").unwrap_or(false);
    let close = |a: Complex64, b: Complex64| {
        let nan = |it: Complex64| it.re.is_nan() || it.im.is_nan();
        a == b
            || (equal_nan && nan(a) && nan(b))
            || ((a - b).norm() <= atol + rtol * b.norm() && b.norm().is_finite())
    };
    Ok(vec![Tensor::bools(zip(
        &a.to_complexes(),
        &b.to_complexes(),
        close,
    )?)])
}

/// Whether all pairs do.
pub(super) fn all_close(call: &Call<'_>) -> Result1 {
    let close = is_close(call)?.remove(0).to_bools();
    Ok(vec![Tensor::bools(
        ndarray::arr0(close.iter().all(|it| *it)).into_dyn(),
    )])
}

/// Whether shape and elements are the same, and the type too where it must be.
pub(super) fn array_eq(call: &Call<'_>, same_type: bool) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let equal_nan = call.flag("equal_nan").unwrap_or(false);
    let nan = |it: &Complex64| it.re.is_nan() || it.im.is_nan();
    let elements = || {
        let (a, b) = (a.to_complexes(), b.to_complexes());
        a.iter()
            .zip(&b)
            .all(|(a, b)| a == b || (equal_nan && nan(a) && nan(b)))
    };
    let alike = (!same_type || a.dtype == b.dtype) && a.shape() == b.shape() && elements();
    Ok(vec![Tensor::bools(ndarray::arr0(alike).into_dyn())])
}

/// All arrays of a list, one after another, from a number on.
pub(super) fn folded(
    call: &Call<'_>,
    start: i64,
    int: fn(i64, i64) -> i64,
    complex: fn(Complex64, Complex64) -> Complex64,
) -> Result1 {
    let mut total = Tensor::ints(DType::Int32, ndarray::arr0(start).into_dyn());
    // A number takes the type of what it meets.
    for (place, array) in call.arrays("arrays")?.into_iter().enumerate() {
        let dtype = match (place, array.dtype) {
            (0, DType::Bool) => DType::Int32,
            (0, other) => other,
            (_, other) => promoted(total.dtype, other),
        };
        total = match dtype.kind() {
            Kind::Bool | Kind::Int => Tensor::ints(dtype, zip(&total.to_ints()?, &array.to_ints()?, int)?),
            _ => {
                Tensor::complexes(zip(&total.to_complexes(), &array.to_complexes(), complex)?).cast(dtype)?
            }
        };
        total.dtype = dtype;
    }
    Ok(vec![total])
}
