//! Linear algebra.

use mlx_rs::linalg::{self, NormOptions};
use mlx_rs::Axes;

use super::table::functions;

functions! {
    linalg.cholesky(x: Array; upper: Bool) => linalg::cholesky(&x, upper);
    linalg.cholesky_inv(x: Array; upper: Bool) => linalg::cholesky_inv(&x, upper);
    linalg.cross(a: Array, b: Array; axis: Int) => linalg::cross(&a, &b, axis);
    linalg.det(x: Array) => linalg::det(&x);
    linalg.eig(x: Array) => linalg::eig(&x);
    linalg.eigh(x: Array; uplo: Text) => linalg::eigh(&x, uplo.as_deref());
    linalg.eigvals(x: Array) => linalg::eigvals(&x);
    linalg.eigvalsh(x: Array; uplo: Text) => linalg::eigvalsh(&x, uplo.as_deref());
    linalg.inv(x: Array) => linalg::inv(&x);
    linalg.lu(x: Array) => linalg::lu(&x);
    linalg.lu_factor(x: Array) => linalg::lu_factor(&x);
    linalg.norm(x: Array; ord: Double, axes: Ints, keep_dims: Bool) => linalg::norm(&x, ord.unwrap_or(2.0), norm_options(axes, keep_dims));
    linalg.norm_l2(x: Array; axes: Ints, keep_dims: Bool) => linalg::norm_l2(&x, norm_options(axes, keep_dims));
    linalg.norm_matrix(x: Array, ord: Text; axes: Ints, keep_dims: Bool) => linalg::norm_matrix(&x, &ord, norm_options(axes, keep_dims));
    linalg.pinv(x: Array) => linalg::pinv(&x);
    linalg.qr(x: Array) => linalg::qr(&x);
    linalg.slogdet(x: Array) => linalg::slogdet(&x).map(|it| (it.sign, it.log_abs_det));
    linalg.solve(a: Array, b: Array) => linalg::solve(&a, &b);
    linalg.solve_triangular(a: Array, b: Array; upper: Bool) => linalg::solve_triangular(&a, &b, upper);
    linalg.svd(x: Array) => linalg::svd(&x);
    linalg.tri_inv(x: Array; upper: Bool) => linalg::tri_inv(&x, upper);
}

fn norm_options(axes: Option<Vec<i32>>, keep_dims: Option<bool>) -> NormOptions {
    NormOptions {
        axes: axes.map_or(Axes::All, Axes::Axes),
        keep_dims: keep_dims.unwrap_or(false),
    }
}
