//! Rust's operators on arrays. They panic where functions return an error.

use mlx_rs::Array;

use super::table::functions;

functions! {
    operator.add(a: Array, b: Array) => Ok(&a + &b);
    operator.sub(a: Array, b: Array) => Ok(&a - &b);
    operator.mul(a: Array, b: Array) => Ok(&a * &b);
    operator.div(a: Array, b: Array) => Ok(&a / &b);
    operator.rem(a: Array, b: Array) => Ok(&a % &b);
    operator.pow(a: Array, b: Array) => Ok(num_traits::Pow::pow(&a, &b));
    operator.neg(x: Array) => Ok(-&x);
    operator.not(x: Array) => Ok(!&x);
    operator.add_assign(a: Array, b: Array) => {
        let mut a = a;
        a += &b;
        Ok(a)
    };
    operator.sub_assign(a: Array, b: Array) => {
        let mut a = a;
        a -= &b;
        Ok(a)
    };
    operator.mul_assign(a: Array, b: Array) => {
        let mut a = a;
        a *= &b;
        Ok(a)
    };
    operator.div_assign(a: Array, b: Array) => {
        let mut a = a;
        a /= &b;
        Ok(a)
    };
    operator.rem_assign(a: Array, b: Array) => {
        let mut a = a;
        a %= &b;
        Ok(a)
    };
    operator.sum(arrays: Arrays) => Ok(arrays.into_iter().sum::<Array>());
    operator.product(arrays: Arrays) => Ok(arrays.into_iter().product::<Array>());
}
