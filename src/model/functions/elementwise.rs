//! Functions that work element by element.

use mlx_rs::error::Exception;
use mlx_rs::ops;

use super::table::functions;

functions! {
    // Of one array.
    abs(x: Array) => ops::abs(&x);
    acos(x: Array) => ops::acos(&x);
    acosh(x: Array) => ops::acosh(&x);
    asin(x: Array) => ops::asin(&x);
    asinh(x: Array) => ops::asinh(&x);
    atan(x: Array) => ops::atan(&x);
    atanh(x: Array) => ops::atanh(&x);
    ceil(x: Array) => ops::ceil(&x);
    cos(x: Array) => ops::cos(&x);
    cosh(x: Array) => ops::cosh(&x);
    degrees(x: Array) => ops::degrees(&x);
    erf(x: Array) => ops::erf(&x);
    erfinv(x: Array) => ops::erfinv(&x);
    exp(x: Array) => ops::exp(&x);
    expm1(x: Array) => ops::expm1(&x);
    floor(x: Array) => ops::floor(&x);
    imag(x: Array) => ops::imag(&x);
    is_inf(x: Array) => ops::is_inf(&x);
    is_nan(x: Array) => ops::is_nan(&x);
    is_neg_inf(x: Array) => ops::is_neg_inf(&x);
    is_pos_inf(x: Array) => ops::is_pos_inf(&x);
    log(x: Array) => ops::log(&x);
    log10(x: Array) => ops::log10(&x);
    log1p(x: Array) => ops::log1p(&x);
    log2(x: Array) => ops::log2(&x);
    logical_not(x: Array) => ops::logical_not(&x);
    negative(x: Array) => ops::negative(&x);
    radians(x: Array) => ops::radians(&x);
    real(x: Array) => ops::real(&x);
    reciprocal(x: Array) => ops::reciprocal(&x);
    round(x: Array; decimals: Int) => ops::round(&x, decimals);
    rsqrt(x: Array) => ops::rsqrt(&x);
    sigmoid(x: Array) => ops::sigmoid(&x);
    sign(x: Array) => ops::sign(&x);
    sin(x: Array) => ops::sin(&x);
    sinh(x: Array) => ops::sinh(&x);
    sqrt(x: Array) => ops::sqrt(&x);
    square(x: Array) => ops::square(&x);
    stop_gradient(x: Array) => mlx_rs::stop_gradient(&x);
    tan(x: Array) => ops::tan(&x);
    tanh(x: Array) => ops::tanh(&x);

    // Of several arrays, which broadcast.
    add(a: Array, b: Array) => ops::add(&a, &b);
    all_close(a: Array, b: Array; rtol: Double, atol: Double, equal_nan: Bool) => ops::all_close(&a, &b, rtol, atol, equal_nan);
    array_eq(a: Array, b: Array; equal_nan: Bool) => ops::array_eq(&a, &b, equal_nan);
    atan2(a: Array, b: Array) => ops::atan2(&a, &b);
    clip(x: Array; min: Array, max: Array) => match (min, max) {
        (Some(min), Some(max)) => ops::clip(&x, (&min, &max)),
        (Some(min), None) => ops::clip(&x, (&min, ())),
        (None, Some(max)) => ops::clip(&x, ((), &max)),
        (None, None) => Err(Exception::custom("clip takes a min, a max, or both")),
    };
    divide(a: Array, b: Array) => ops::divide(&a, &b);
    divmod(a: Array, b: Array) => ops::divmod(&a, &b);
    eq(a: Array, b: Array) => ops::eq(&a, &b);
    floor_divide(a: Array, b: Array) => ops::floor_divide(&a, &b);
    ge(a: Array, b: Array) => ops::ge(&a, &b);
    gt(a: Array, b: Array) => ops::gt(&a, &b);
    is_close(a: Array, b: Array; rtol: Double, atol: Double, equal_nan: Bool) => ops::is_close(&a, &b, rtol, atol, equal_nan);
    le(a: Array, b: Array) => ops::le(&a, &b);
    logaddexp(a: Array, b: Array) => ops::logaddexp(&a, &b);
    logical_and(a: Array, b: Array) => ops::logical_and(&a, &b);
    logical_or(a: Array, b: Array) => ops::logical_or(&a, &b);
    logical_xor(a: Array, b: Array) => ops::logical_xor(&a, &b);
    lt(a: Array, b: Array) => ops::lt(&a, &b);
    maximum(a: Array, b: Array) => ops::maximum(&a, &b);
    minimum(a: Array, b: Array) => ops::minimum(&a, &b);
    multiply(a: Array, b: Array) => ops::multiply(&a, &b);
    ne(a: Array, b: Array) => ops::ne(&a, &b);
    power(a: Array, b: Array) => ops::power(&a, &b);
    remainder(a: Array, b: Array) => ops::remainder(&a, &b);
    subtract(a: Array, b: Array) => ops::subtract(&a, &b);
    select(condition: Array, a: Array, b: Array) => ops::select(&condition, &a, &b);

    // As bits.
    from_fp8(x: Array, dtype: DType) => ops::from_fp8(&x, dtype);
    to_fp8(x: Array) => ops::to_fp8(&x);
}
