//! The functions that there is a reference for: one line each.

use super::call::{Call, Relation};
use super::error::NoReference;
use super::policy::Class::{self, Accumulates, Exact, Moves, Smooth, Solves};
use super::tensor::Tensor;
use super::{
    activation, conv, elementwise as each, factory, fft, fused, layer, linalg, loss, optimizer, order,
    product, quantize, random, reduce, scatter, shape,
};
use crate::case::names::stands_for;
use fft::{Real, Way};
use num_complex::Complex64 as C;

/// A function's reference.
pub(super) struct Row {
    name: &'static str,
    /// What the function does to its elements.
    pub(super) class: Class,
    /// What it must yield, or what must hold of what it yields.
    pub(super) compute: Compute,
}

/// How a function is held to its reference.
#[derive(Clone, Copy)]
pub(super) enum Compute {
    /// By the values that it must yield.
    Outputs(fn(&Call<'_>) -> Result<Vec<Tensor>, NoReference>),
    /// By a property of whatever it yields.
    Property {
        /// The property, in a few words.
        name: &'static str,
        /// The relations that say whether it holds.
        hold: fn(&Call<'_>, &[Tensor]) -> Result<Vec<Relation>, NoReference>,
    },
}

macro_rules! rows {
    ($($class:ident $name:literal $(: $property:literal)? => $compute:expr;)*) => {
        /// Every function that there is a reference for, in the order of the list.
        static ROWS: &[Row] = &[$(Row {
            name: $name,
            class: $class,
            compute: rows!(@compute $($property)?, $compute),
        }),*];
    };
    (@compute , $compute:expr) => { Compute::Outputs($compute) };
    (@compute $property:literal, $compute:expr) => { Compute::Property { name: $property, hold: $compute } };
}

rows! {
    // Element-wise, of one array.
    Exact "abs" => each::abs;
    Smooth "acos" => |c| each::smooth(c, libm::acos, Some(C::acos));
    Smooth "acosh" => |c| each::smooth(c, libm::acosh, Some(C::acosh));
    Smooth "asin" => |c| each::smooth(c, libm::asin, Some(C::asin));
    Smooth "asinh" => |c| each::smooth(c, libm::asinh, Some(C::asinh));
    Smooth "atan" => |c| each::smooth(c, libm::atan, Some(C::atan));
    Smooth "atanh" => |c| each::smooth(c, libm::atanh, Some(C::atanh));
    Exact "ceil" => |c| each::keeping(c, |x| x, f64::ceil, None);
    Smooth "cos" => |c| each::smooth(c, libm::cos, Some(C::cos));
    Smooth "cosh" => |c| each::smooth(c, libm::cosh, Some(C::cosh));
    Smooth "degrees" => |c| each::smooth(c, f64::to_degrees, Some(|x| C::new(x.re.to_degrees(), x.im.to_degrees())));
    Smooth "erf" => |c| each::smooth(c, libm::erf, None);
    Smooth "exp" => |c| each::smooth(c, libm::exp, Some(C::exp));
    Smooth "expm1" => |c| each::smooth(c, libm::expm1, None);
    Exact "floor" => |c| each::keeping(c, |x| x, f64::floor, None);
    Exact "is_inf" => |c| each::asked(c, f64::is_infinite);
    Exact "is_nan" => |c| each::asked(c, f64::is_nan);
    Smooth "log" => |c| each::smooth(c, libm::log, Some(C::ln));
    Smooth "log10" => |c| each::smooth(c, libm::log10, Some(|x| x.ln() / std::f64::consts::LN_10));
    Smooth "log1p" => |c| each::smooth(c, libm::log1p, Some(|x| (x + 1.0).ln()));
    Smooth "log2" => |c| each::smooth(c, libm::log2, Some(|x| x.ln() / std::f64::consts::LN_2));
    Exact "logical_not" => each::logical_not;
    Exact "negative" => |c| each::keeping(c, i64::wrapping_neg, |x| -x, Some(|x| -x));
    Smooth "radians" => |c| each::smooth(c, f64::to_radians, Some(|x| C::new(x.re.to_radians(), x.im.to_radians())));
    Exact "reciprocal" => |c| each::smooth(c, f64::recip, Some(|x| x.inv()));
    Exact "round" => each::round;
    Smooth "rsqrt" => |c| each::smooth(c, |x| x.sqrt().recip(), Some(|x| x.sqrt().inv()));
    Smooth "sigmoid" => |c| each::smooth(c, |x| (1.0 + libm::exp(-x)).recip(), None);
    Exact "sign" => each::sign;
    Smooth "sin" => |c| each::smooth(c, libm::sin, Some(C::sin));
    Smooth "sinh" => |c| each::smooth(c, libm::sinh, Some(C::sinh));
    Exact "sqrt" => |c| each::smooth(c, f64::sqrt, Some(C::sqrt));
    Exact "square" => |c| each::keeping(c, |x| x.wrapping_mul(x), |x| x * x, Some(|x| x * x));
    Smooth "tan" => |c| each::smooth(c, libm::tan, Some(C::tan));
    Smooth "tanh" => |c| each::smooth(c, libm::tanh, Some(C::tanh));

    // Element-wise, of several.
    Exact "add" => |c| each::arithmetic(c, i64::wrapping_add, |a, b| a + b, Some(|a, b| a + b));
    Smooth "atan2" => |c| each::fractions(c, libm::atan2, None);
    Exact "clip" => each::clip;
    Exact "divide" => |c| each::fractions(c, |a, b| a / b, Some(|a, b| a / b));
    Exact "eq" => |c| each::compared(c, i64::eq, f64::eq, each::Pair::eq);
    Exact "floor_divide" => each::floor_divide;
    Exact "ge" => |c| each::compared(c, i64::ge, f64::ge, each::Pair::ge);
    Exact "gt" => |c| each::compared(c, i64::gt, f64::gt, each::Pair::gt);
    Exact "le" => |c| each::compared(c, i64::le, f64::le, each::Pair::le);
    Smooth "logaddexp" => each::logaddexp;
    Exact "logical_and" => |c| each::logical(c, |a, b| a && b);
    Exact "logical_or" => |c| each::logical(c, |a, b| a || b);
    Exact "lt" => |c| each::compared(c, i64::lt, f64::lt, each::Pair::lt);
    Exact "maximum" => |c| each::extreme(c, true);
    Exact "minimum" => |c| each::extreme(c, false);
    Exact "multiply" => |c| each::arithmetic(c, i64::wrapping_mul, |a, b| a * b, Some(|a, b| a * b));
    Exact "ne" => |c| each::compared(c, i64::ne, f64::ne, each::Pair::ne);
    Smooth "power" => each::power;
    Exact "remainder" => each::remainder;
    Exact "subtract" => |c| each::arithmetic(c, i64::wrapping_sub, |a, b| a - b, Some(|a, b| a - b));
    Moves "select" => each::select;

    // Reductions.
    Exact "all" => |c| reduce::truth(c, |it| it.iter().all(|it| *it));
    Exact "any" => |c| reduce::truth(c, |it| it.iter().any(|it| *it));
    Accumulates "logsumexp" => |c| reduce::averaged(c, reduce::logsumexp, Some(reduce::logsumexp_complex));
    Exact "max" => |c| reduce::extreme(c, true);
    Accumulates "mean" => reduce::means;
    Exact "min" => |c| reduce::extreme(c, false);
    Accumulates "prod" => |c| reduce::accumulated(
        c,
        |it| it.iter().fold(1, |a, b| a.wrapping_mul(*b)),
        |it| it.iter().product(),
        |it| it.iter().product(),
    );
    Accumulates "std" => |c| {
        let ddof = c.int("ddof").unwrap_or(0);
        reduce::spread(c, |it| reduce::variance(it, ddof).sqrt())
    };
    Accumulates "sum" => |c| reduce::accumulated(
        c,
        |it| it.iter().fold(0, |a, b| a.wrapping_add(*b)),
        |it| it.iter().sum(),
        |it| it.iter().sum(),
    );
    Accumulates "var" => |c| {
        let ddof = c.int("ddof").unwrap_or(0);
        reduce::spread(c, |it| reduce::variance(it, ddof))
    };

    // Order, and what runs along an axis.
    Exact "argmax" => |c| order::arg_extreme(c, true);
    Exact "argmin" => |c| order::arg_extreme(c, false);
    Exact "argsort" => order::argsort;
    Exact "cummax" => |c| order::running(c, f64::NEG_INFINITY, i64::max, f64::max, each::largest, true);
    Exact "cummin" => |c| order::running(c, f64::INFINITY, i64::min, f64::min, each::smallest, true);
    Accumulates "cumprod" => |c| order::running(c, 1.0, i64::wrapping_mul, |a, b| a * b, |a, b| a * b, false);
    Accumulates "cumsum" => |c| order::running(c, 0.0, i64::wrapping_add, |a, b| a + b, |a, b| a + b, false);
    Accumulates "softmax" => reduce::softmax;
    Moves "sort" => order::sort;

    // Products.
    Accumulates "addmm" => product::addmm;
    Accumulates "inner" => product::inner;
    Accumulates "matmul" => product::matmul;
    Exact "outer" => product::outer;

    // Shape, places, and arrays made from none.
    Moves "arange" => shape::arange;
    Moves "as_dtype" => shape::as_dtype;
    Moves "broadcast_to" => shape::broadcast_to;
    Moves "concatenate" => shape::concatenated;
    Moves "expand_dims" => shape::expand_dims;
    Moves "eye" => shape::eye;
    Moves "flatten" => shape::flatten;
    Moves "full" => shape::full;
    Moves "getitem" => shape::getitem;
    Moves "move_axis" => shape::move_axis;
    Moves "ones" => |c| shape::filled(c, 1.0);
    Moves "reshape" => shape::reshape;
    Moves "split_equal" => shape::split;
    Moves "squeeze" => shape::squeeze;
    Moves "stack" => shape::stacked;
    Moves "swap_axes" => shape::swap_axes;
    Moves "take" => shape::take;
    Moves "take_along_axis" => shape::take_along_axis;
    Moves "tile" => shape::tile;
    Moves "transpose" => shape::transpose;
    Moves "tril" => |c| shape::triangle(c, true);
    Moves "triu" => |c| shape::triangle(c, false);
    Moves "zeros" => |c| shape::filled(c, 0.0);

    // Element-wise, beside the above.
    Moves "imag" => |c| each::component(c, |x| x.im);
    Moves "real" => |c| each::component(c, |x| x.re);
    Exact "is_finite" => |c| each::asked_all(c, f64::is_finite);
    Exact "is_neg_inf" => |c| each::is_infinity(c, f64::NEG_INFINITY);
    Exact "is_pos_inf" => |c| each::is_infinity(c, f64::INFINITY);
    Exact "logical_xor" => |c| each::logical(c, |a, b| a != b);
    Exact "nan_to_num" => each::nan_to_num;
    Exact "trunc" => |c| each::keeping(c, |x| x, f64::trunc, None);
    Exact "divmod" => each::divmod;
    Smooth "erfinv" => |c| each::smooth(c, each::erfinv, None);
    Exact "is_close" => each::is_close;
    Exact "all_close" => each::all_close;
    Exact "array_eq" => |c| each::array_eq(c, false);
    Exact "eq_values" => |c| each::array_eq(c, false);
    Exact "eq_exact" => |c| each::array_eq(c, true);
    Moves "stop_gradient" => |c| Ok(vec![c.array("x")?]);
    Moves "deep_clone" => |c| Ok(vec![c.array("x")?]);
    Moves "contiguous" => |c| Ok(vec![c.array("x")?]);
    Moves "as_type" => shape::as_dtype;
    Exact "from_fp8" => quantize::from_fp8;
    Exact "to_fp8" => quantize::to_fp8;

    // Reductions and order, beside the above.
    Exact "count_nonzero" => reduce::count_nonzero;
    Accumulates "median" => |c| reduce::averaged(c, reduce::median, Some(reduce::median_complex));
    Accumulates "logcumsumexp" => order::logcumsumexp;
    Exact "diff" => order::diff;
    Exact "search_sorted" => order::search_sorted;
    Moves "partition": "the element at its place in order, none larger before it, none smaller behind" => order::partition;
    Moves "argpartition": "the elements named are in such an order" => order::argpartition;
    Moves "topk": "the k largest, in any order" => order::topk;

    // Products, beside the above.
    Accumulates "einsum" => product::einsum;
    Accumulates "tensordot" => product::tensordot;
    Exact "kron" => product::kron;
    Accumulates "vecdot" => product::vecdot;
    Accumulates "gather_mm" => product::gather_mm;
    Accumulates "segmented_mm" => product::segmented_mm;
    Accumulates "block_masked_mm" => product::block_masked_mm;

    // Shape and places, beside the above.
    Moves "as_strided" => shape::as_strided;
    Moves "at_least_1d" => |c| shape::at_least(c, 1);
    Moves "at_least_2d" => |c| shape::at_least(c, 2);
    Moves "at_least_3d" => |c| shape::at_least(c, 3);
    Moves "broadcast_arrays" => shape::broadcast_arrays;
    Moves "concatenate_flat" => shape::concatenated_flat;
    Moves "flip" => shape::flip;
    Moves "pad" => shape::pad;
    Moves "split_at_indices" => shape::split_at_indices;
    Moves "t" => shape::transpose;
    Moves "unflatten" => shape::unflatten;
    Moves "unstack" => shape::unstack;
    Moves "view" => shape::view;
    Moves "view_dtype" => shape::view;
    Moves "diag" => factory::diag;
    Moves "diagonal" => factory::diagonal;
    Accumulates "hadamard_transform" => factory::hadamard;
    Accumulates "trace" => factory::trace;
    Moves "full_like" => factory::full_like;
    Moves "identity" => factory::identity;
    Smooth "linspace" => factory::linspace;
    Moves "ones_like" => |c| factory::like(c, 1.0);
    Moves "zeros_like" => |c| factory::like(c, 0.0);
    Moves "ones_of" => |c| shape::filled(c, 1.0);
    Moves "zeros_of" => |c| shape::filled(c, 0.0);
    Moves "repeat" => factory::repeat;
    Moves "tri" => factory::tri;
    Smooth "windows.bartlett" => factory::bartlett;
    Smooth "windows.blackman" => |c| factory::cosines(c, &[0.42, -0.5, 0.08]);
    Smooth "windows.hamming" => |c| factory::cosines(c, &[0.54, -0.46]);
    Smooth "windows.hann" => |c| factory::cosines(c, &[0.5, -0.5]);
    Moves "gather_single" => scatter::gather_single;
    Moves "getitem_array" => scatter::getitem_array;
    Moves "getitem_arrays" => scatter::getitem_arrays;
    Exact "index_update" => |c| scatter::by_index(c, "update");
    Exact "index_update_array" => |c| scatter::by_array(c, "update");
    Moves "setitem" => |c| scatter::by_index(c, "value");
    Moves "setitem_array" => |c| scatter::by_array(c, "value");
    Moves "masked_scatter" => scatter::masked_scatter;
    Moves "put_along_axis" => scatter::put_along_axis;
    Moves "scatter_single" => |c| scatter::single(c, scatter::Mode::Replace);
    Exact "scatter_add_single" => |c| scatter::single(c, scatter::Mode::Add);
    Exact "scatter_max_single" => |c| scatter::single(c, scatter::Mode::Max);
    Exact "scatter_min_single" => |c| scatter::single(c, scatter::Mode::Min);
    Exact "scatter_prod_single" => |c| scatter::single(c, scatter::Mode::Product);

    // Convolutions.
    Accumulates "conv1d" => conv::plain;
    Accumulates "conv2d" => conv::plain;
    Accumulates "conv3d" => conv::plain;
    Accumulates "conv_general" => conv::general;
    Accumulates "conv_transpose1d" => conv::transposed;
    Accumulates "conv_transpose2d" => conv::transposed;
    Accumulates "conv_transpose3d" => conv::transposed;

    // Fourier transforms.
    Accumulates "fft.fft" => |c| fft::one(c, Way::Forward, Real::Neither);
    Accumulates "fft.ifft" => |c| fft::one(c, Way::Inverse, Real::Neither);
    Accumulates "fft.rfft" => |c| fft::one(c, Way::Forward, Real::Input);
    Accumulates "fft.irfft" => |c| fft::one(c, Way::Inverse, Real::Output);
    Accumulates "fft.fft2" => |c| fft::several(c, true, Way::Forward, Real::Neither);
    Accumulates "fft.ifft2" => |c| fft::several(c, true, Way::Inverse, Real::Neither);
    Accumulates "fft.rfft2" => |c| fft::several(c, true, Way::Forward, Real::Input);
    Accumulates "fft.irfft2" => |c| fft::several(c, true, Way::Inverse, Real::Output);
    Accumulates "fft.fftn" => |c| fft::several(c, false, Way::Forward, Real::Neither);
    Accumulates "fft.ifftn" => |c| fft::several(c, false, Way::Inverse, Real::Neither);
    Accumulates "fft.rfftn" => |c| fft::several(c, false, Way::Forward, Real::Input);
    Accumulates "fft.irfftn" => |c| fft::several(c, false, Way::Inverse, Real::Output);
    Smooth "fft.fftfreq" => |c| fft::frequencies(c, false);
    Smooth "fft.rfftfreq" => |c| fft::frequencies(c, true);
    Moves "fft.fftshift" => |c| fft::shifted(c, false);
    Moves "fft.ifftshift" => |c| fft::shifted(c, true);

    // Linear algebra.
    Solves "linalg.cholesky" => linalg::cholesky;
    Solves "linalg.cholesky_inv" => linalg::cholesky_inv;
    Smooth "linalg.cross" => linalg::cross;
    Solves "linalg.det" => linalg::det;
    Solves "linalg.eig": "a x = w x, with vectors of length one" => linalg::eig;
    Solves "linalg.eigh": "a x = w x, with orthonormal vectors" => linalg::eigh;
    Solves "linalg.eigvals": "sums of powers are the traces of the matrix's powers" => linalg::eigvals;
    Solves "linalg.eigvalsh" => linalg::eigvalsh;
    Solves "linalg.inv" => linalg::inv;
    Solves "linalg.lu": "the factors multiply out, and are triangles" => linalg::lu;
    Solves "linalg.lu_factor": "the factors multiply out" => linalg::lu_factor;
    Accumulates "linalg.norm" => |c| linalg::norm(c, false);
    Accumulates "linalg.norm_l2" => |c| linalg::norm(c, true);
    Solves "linalg.norm_matrix" => |c| linalg::norm(c, true);
    Solves "linalg.pinv" => linalg::pinv;
    Solves "linalg.qr": "the factors multiply out; one is orthonormal, one a triangle" => linalg::qr;
    Solves "layer.least_squares" => linalg::least_squares;
    Solves "linalg.slogdet" => linalg::slogdet;
    Solves "linalg.solve" => |c| linalg::solve(c, false);
    Solves "linalg.solve_triangular" => |c| linalg::solve(c, true);
    Solves "linalg.svd": "the factors multiply out; two are orthonormal, the values are unique" => linalg::svd;
    Solves "linalg.tri_inv" => linalg::tri_inv;

    // Kernels.
    Accumulates "fast.layer_norm" => fused::layer_norm;
    Accumulates "fast.rms_norm" => fused::rms_norm;
    Accumulates "fast.rope" => fused::rope;
    Accumulates "fast.rope_dynamic" => fused::rope;
    Accumulates "fast.scaled_dot_product_attention" => fused::attention;

    // Quantization.
    Accumulates "dequantize" => quantize::dequantize;
    Accumulates "quantized_matmul" => quantize::quantized_matmul;
    Accumulates "gather_qmm" => quantize::gather_qmm;
    Exact "quantize": "dequantizing gives each number back within its group's step" => quantize::quantize;
    Exact "qqmm": "products within the format's steps" => quantize::qqmm;

    // Random draws.
    Exact "random.bernoulli": "mean, within six standard errors" => random::bernoulli;
    Exact "random.categorical": "classes that exist, each as often as its share" => random::categorical;
    Exact "random.gumbel": "mean and variance, within six standard errors" => random::gumbel;
    Exact "random.key" => random::key;
    Exact "random.multivariate_normal": "each coordinate's mean and variance" => random::multivariate_normal;
    Exact "random.normal": "mean and variance, within six standard errors" => random::normal;
    Exact "random.randint": "mean, variance and range" => random::randint;
    Exact "random.seed": "mean and variance, within six standard errors" => random::normal;
    Exact "random.split": "as many keys as asked for, each new" => random::split;
    Exact "random.truncated_normal": "mean, variance and range" => random::truncated_normal;
    Exact "random.uniform": "mean, variance and range" => random::uniform;
    Exact "random_state.new": "mean and variance, within six standard errors" => random::normal;
    Exact "random_state.with_seed": "mean and variance, within six standard errors" => random::normal;
    Exact "random_state.from_key": "mean and variance, within six standard errors" => random::normal;
    Exact "random_state.next_key": "keys that are new" => random::new_keys;
    Exact "random_state.seed": "a key that is new" => random::reseeded;
    Exact "random_state.as_array": "a key that is new" => random::reseeded;

    // Activations.
    Smooth "nn.celu" => activation::celu;
    Smooth "nn.elu" => activation::elu;
    Smooth "nn.gelu" => |c| activation::of(c, activation::gelu);
    Smooth "nn.gelu_approximate" => |c| activation::of(c, activation::gelu_tanh);
    Smooth "nn.gelu_fast_approximate" => |c| activation::of(c, activation::gelu_fast);
    Smooth "nn.glu" => activation::glu;
    Smooth "nn.hard_swish" => |c| activation::of(c, activation::hard_swish);
    Smooth "nn.leaky_relu" => activation::leaky_relu;
    Smooth "nn.log_sigmoid" => |c| activation::of(c, activation::log_sigmoid);
    Accumulates "nn.log_softmax" => activation::log_softmax;
    Smooth "nn.mish" => |c| activation::of(c, activation::mish);
    Smooth "nn.prelu" => activation::prelu;
    Exact "nn.relu" => |c| each::keeping(c, |x| x.max(0), |x| activation::above(x, 0.0), None);
    Exact "nn.relu6" => |c| each::keeping(c, |x| x.clamp(0, 6), |x| x.clamp(0.0, 6.0), None);
    Smooth "nn.selu" => |c| activation::of(c, activation::selu);
    Smooth "nn.sigmoid" => |c| activation::of(c, activation::sigmoid);
    Smooth "nn.silu" => |c| activation::of(c, activation::silu);
    Smooth "nn.softplus" => |c| activation::of(c, activation::plus);
    Smooth "nn.softsign" => |c| activation::of(c, |x| x / (1.0 + x.abs()));
    Exact "nn.step" => activation::step;
    Exact "nn.causal_mask" => factory::causal_mask;

    // Losses.
    Accumulates "loss.binary_cross_entropy" => loss::binary_cross_entropy;
    Accumulates "loss.cosine_similarity" => loss::cosine_similarity;
    Accumulates "loss.cross_entropy" => loss::cross_entropy;
    Accumulates "loss.gaussian_nll" => loss::gaussian_nll;
    Accumulates "loss.hinge" => |c| loss::each(c, "inputs", "targets", "none", |x, target| (1.0 - x * target).max(0.0));
    Accumulates "loss.huber" => loss::huber;
    Accumulates "loss.kl_div" => loss::kl_div;
    Accumulates "loss.l1" => |c| loss::each(c, "predictions", "targets", "mean", |a, b| (a - b).abs());
    Accumulates "loss.log_cosh" => |c| loss::each(c, "inputs", "targets", "none", |a, b| {
        let error = (a - b).abs();
        error + libm::log1p(libm::exp(-2.0 * error)) - std::f64::consts::LN_2
    });
    Accumulates "loss.margin_ranking" => loss::margin_ranking;
    Accumulates "loss.mse" => |c| loss::each(c, "predictions", "targets", "mean", |a, b| (a - b).powi(2));
    Accumulates "loss.nll" => loss::nll;
    Accumulates "loss.smooth_l1" => loss::smooth_l1;
    Accumulates "loss.triplet" => loss::triplet;

    // Optimizers.
    Accumulates "optimizer.adadelta" => optimizer::adadelta;
    Accumulates "optimizer.adafactor" => optimizer::adafactor;
    Accumulates "optimizer.adagrad" => optimizer::adagrad;
    Accumulates "optimizer.adam" => |c| optimizer::adam(c, 0.0);
    Accumulates "optimizer.adamax" => optimizer::adamax;
    Accumulates "optimizer.adamw" => |c| optimizer::adam(c, 0.01);
    Accumulates "optimizer.lion" => optimizer::lion;
    Accumulates "optimizer.rmsprop" => optimizer::rmsprop;
    Accumulates "optimizer.sgd" => optimizer::sgd;
    Accumulates "optimizer.clip_grad_norm" => optimizer::clip_grad_norm;

    // Operators.
    Exact "operator.neg" => |c| each::keeping(c, i64::wrapping_neg, |x| -x, Some(|x| -x));
    Exact "operator.not" => each::logical_not;
    Accumulates "operator.sum" => |c| each::folded(c, 0, i64::wrapping_add, |a, b| a + b);
    Accumulates "operator.product" => |c| each::folded(c, 1, i64::wrapping_mul, |a, b| a * b);

    // Layers.
    Smooth "layer.celu" => activation::celu;
    Smooth "layer.gelu" => |c| match c.text("approximate") {
        Some("precise") => activation::of(c, activation::gelu_tanh),
        Some("fast") => activation::of(c, activation::gelu_fast),
        _ => activation::of(c, activation::gelu),
    };
    Smooth "layer.glu" => activation::glu;
    Smooth "layer.hard_swish" => |c| activation::of(c, activation::hard_swish);
    Smooth "layer.leaky_relu" => activation::leaky_relu;
    Smooth "layer.log_sigmoid" => |c| activation::of(c, activation::log_sigmoid);
    Accumulates "layer.log_softmax" => activation::log_softmax;
    Smooth "layer.mish" => |c| activation::of(c, activation::mish);
    Smooth "layer.prelu" => activation::prelu_layer;
    Exact "layer.relu" => |c| each::keeping(c, |x| x.max(0), |x| activation::above(x, 0.0), None);
    Exact "layer.relu6" => |c| each::keeping(c, |x| x.clamp(0, 6), |x| x.clamp(0.0, 6.0), None);
    Smooth "layer.selu" => |c| activation::of(c, activation::selu);
    Smooth "layer.sigmoid" => |c| activation::of(c, activation::sigmoid);
    Smooth "layer.silu" => |c| activation::of(c, activation::silu);
    Accumulates "layer.softmax" => activation::softmax_layer;
    Smooth "layer.softplus" => |c| activation::of(c, activation::plus);
    Smooth "layer.softsign" => |c| activation::of(c, |x| x / (1.0 + x.abs()));
    Exact "layer.step" => activation::step;
    Smooth "layer.tanh" => |c| each::smooth(c, libm::tanh, Some(C::tanh));
    Accumulates "layer.alibi" => layer::alibi;
    Accumulates "layer.avg_pool1d" => |c| layer::pool(c, true);
    Accumulates "layer.avg_pool2d" => |c| layer::pool(c, true);
    Accumulates "layer.batch_norm" => layer::batch_norm;
    Accumulates "layer.bilinear" => layer::bilinear;
    Accumulates "layer.conv1d" => |c| conv::layer(c, false);
    Accumulates "layer.conv2d" => |c| conv::layer(c, false);
    Accumulates "layer.conv3d" => |c| conv::layer(c, false);
    Accumulates "layer.conv_transpose1d" => |c| conv::layer(c, true);
    Accumulates "layer.conv_transpose2d" => |c| conv::layer(c, true);
    Accumulates "layer.conv_transpose3d" => |c| conv::layer(c, true);
    Exact "layer.dropout": "each element is 0 or its own over what is kept; so many are dropped as asked" => layer::dropout;
    Exact "layer.dropout2d": "each element is 0 or its own over what is kept; so many are dropped as asked" => layer::dropout;
    Exact "layer.dropout3d": "each element is 0 or its own over what is kept; so many are dropped as asked" => layer::dropout;
    Moves "layer.embedding" => layer::embedding;
    Accumulates "layer.group_norm" => layer::group_norm;
    Accumulates "layer.gru" => layer::gru;
    Accumulates "layer.instance_norm" => layer::instance_norm;
    Accumulates "layer.layer_norm" => layer::layer_norm;
    Accumulates "layer.linear" => layer::linear;
    Accumulates "layer.lstm" => layer::lstm;
    Exact "layer.max_pool1d" => |c| layer::pool(c, false);
    Exact "layer.max_pool2d" => |c| layer::pool(c, false);
    Accumulates "layer.mlx_sequential" => layer::linear_relu;
    Accumulates "layer.multi_head_attention" => layer::multi_head_attention;
    Exact "layer.pool" => |c| layer::pool(c, false);
    Accumulates "layer.quantized_embedding" => quantize::embedding_layer;
    Accumulates "layer.quantized_linear" => quantize::linear_layer;
    Accumulates "layer.rms_norm" => layer::rms_norm;
    Accumulates "layer.rnn" => layer::rnn;
    Accumulates "layer.rope" => fused::rope;
    Accumulates "layer.sinusoidal_positional_encoding" => layer::sinusoidal;
    Accumulates "layer.transformer": "each row has mean 0 and variance 1, as the last normalization leaves it" => layer::transformer;
    Moves "layer.upsample" => layer::upsample;
}

/// The reference for a function. A method does what the function of its name does.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    let exact = ROWS.iter().find(|row| row.name == name);
    exact.or_else(|| {
        let function = stands_for(name);
        ROWS.iter().find(|row| row.name == function)
    })
}

/// Whether a function has a reference, and of which sort.
pub fn covered(name: &str) -> Option<Covered> {
    row(name).map(|row| match row.compute {
        Compute::Outputs(_) => Covered::Values,
        Compute::Property { name, .. } => Covered::Property(name),
    })
}

/// What a function is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covered {
    /// The values that it must yield.
    Values,
    /// Only this property of whatever it yields.
    Property(&'static str),
}

/// The names of all functions that there is a reference for.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}
