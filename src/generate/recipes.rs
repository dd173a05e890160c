//! The recipes, by name. What is not here is asked by the number of arrays that it takes.
//!
//! Nothing here may end the process or never end: no integer divisor is 0, no index lies outside, nothing is ordered or
//! added up along an empty axis, no integer is raised to a negative power.

use super::recipe::{Recipe, Views};

macro_rules! recipes {
    ($(#[$about:meta])* $table:ident: $($($name:literal)|+ => { $($field:ident: $value:expr),* $(,)? })*) => {
        $(#[$about])*
        pub(super) static $table: &[(&[&str], Recipe)] = &[$((&[$($name),+], Recipe { $($field: $value,)* ..PLAIN })),*];
    };
}

const PLAIN: Recipe = Recipe {
    shapes: &[],
    args: &[],
    fills: &[],
    inputs: "",
    dtypes: &[],
    views: Views::All,
    note: "",
    unordered: "",
    skip: "",
};

const USUAL: &[&str] = &["normal", "special"];
const SHARES: &[&str] = &["{uniform: [0.1, 0.9]}"];
const POSITIVE: &[&str] = &["{uniform: [1.0, 5.0]}"];
const FULL: &[&str] = &["[3, 4]", "[1]", "[5, 7]", "[2, 3, 4]", "[4096]"];
const FOLDS: &[&str] = &[
    "{}",
    "{axes: [0]}",
    "{axes: [-1], keep_dims: true}",
    "{axis: 1}",
    "{axes: [0, 1]}",
    "{keep_dims: true}",
];
const SPREADS: &[&str] = &[
    "{}",
    "{axes: [0]}",
    "{axes: [-1], keep_dims: true}",
    "{axis: 1}",
    "{ddof: 1}",
    "{keep_dims: true}",
];
const RUNS: &[&str] = &[
    "{}",
    "{axis: 0}",
    "{axis: -1}",
    "{axis: 1, reverse: true}",
    "{axis: 1, inclusive: false}",
];
const FLOATS: &[&str] = &[
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "complex64",
    "int32",
    "bool",
];
const REDUCTIONS: &[&str] = &["{}", "{reduction: none}", "{reduction: sum}", "{reduction: mean}"];
const DEFINITE: &str = "{x: {dtype: $dtype, value: [[4, 1, 0], [1, 3, 1], [0, 1, 2]], view: $view}}";
const SQUARE: &str = "{x: {dtype: $dtype, value: [[2, 1, 0], [1, 3, 1], [4, 0, 5]], view: $view}}";
const WRITES: &str = "{x: {dtype: $dtype, shape: [4, 3], view: $view}, indices: {dtype: int32, value: [2, 0]}, updates: {dtype: $dtype, shape: [2, 1, 3]}}";
const OPTIMIZED: &str =
    "{parameter: {dtype: $dtype, shape: $shape}, gradient: {dtype: $dtype, shape: $shape}}";
const STEPS: &[&str] = &["{}", "{lr: 0.01}", "{steps: 3}"];

recipes! {
    /// Of functions. The methods and operators of arrays are asked what the function of their name is.
    FUNCTIONS:

    // Element-wise.
    "abs" | "atan" | "asinh" | "ceil" | "cos" | "erf" | "exp" | "expm1" | "floor" | "imag" | "is_inf" | "is_nan" | "is_finite"
        | "logical_not" | "negative" | "real" | "sigmoid" | "sign" | "sin" | "square"
        | "stop_gradient" | "tanh" | "trunc" | "cosh" | "sinh" | "degrees" | "radians" | "tan" => { fills: USUAL }
    "is_neg_inf" | "is_pos_inf" => { fills: &["special"] }
    "nan_to_num" => { fills: &["special", "normal"], args: &["{}", "{nan: 1.0, pos_inf: 2.0, neg_inf: -2.0}"] }
    "acos" | "asin" | "atanh" => { fills: SHARES }
    "erfinv" => { fills: &["{uniform: [0.1, 0.9]}", "{uniform: [-0.9, 0.9]}"] }
    "acosh" => { fills: POSITIVE }
    "log" | "log10" | "log1p" | "log2" | "reciprocal" | "rsqrt" | "sqrt" => { fills: POSITIVE }
    "round" => { fills: USUAL, args: &["{}", "{decimals: 0}"] }
    "add" | "subtract" | "multiply" | "maximum" | "minimum" | "lt" | "le" | "gt" | "ge" | "logical_and" | "logical_xor" => { fills: USUAL }
    "eq" | "ne" | "logical_or" => { fills: &["{integers: [0, 2]}", "special"], note: "small integers, so that some are equal and some are 0" }
    "divide" => { fills: POSITIVE }
    "floor_divide" | "remainder" | "divmod" => { fills: &["{integers: [1, 5]}"], note: "no divisor is 0: an integer one ends the process" }
    "power" => { fills: &["{integers: [0, 4]}"], note: "no negative exponent: an integer one never ends" }
    "all_close" | "is_close" => {
        inputs: "{a: {dtype: $dtype, value: [1, 2, 3]}, b: {dtype: $dtype, value: [1, 2, 4]}}",
        args: &["{}", "{rtol: 1.0}", "{atol: 2.0}", "{equal_nan: true}"], views: Views::Plain,
    }
    "array_eq" => { fills: &["{integers: [0, 2]}"], args: &["{}", "{equal_nan: true}"] }
    "eq_exact" | "eq_values" => { fills: &["{integers: [0, 2]}"] }
    "clip" => { args: &["{min: 0, max: 2}", "{min: 1}", "{max: 1}"] }
    "select" => {
        inputs: "{condition: {dtype: bool, shape: [3, 4]}, a: {dtype: $dtype, shape: [3, 4], view: $view}, b: {dtype: $dtype, shape: [3, 4]}}",
    }
    "from_fp8" => { dtypes: &["uint8"], fills: &["arange"], args: &["{dtype: float32}", "{dtype: float16}", "{dtype: bfloat16}"], shapes: &["[3, 4]", "[]", "[0]", "[126]"] }
    "to_fp8" => { shapes: &["[3, 4]", "[]", "[0]", "[4096]"] }

    // Reductions.
    "sum" | "prod" | "all" | "any" | "mean" | "max" | "min" | "logsumexp" => { args: FOLDS, shapes: &["[3, 4]", "[]", "[0, 3]", "[1]", "[5, 7]", "[4096]"] }
    "median" => { args: &["{}", "{axes: [0]}", "{axis: 1}", "{keep_dims: true}"], shapes: FULL }
    "std" | "var" => { args: SPREADS, shapes: FULL }
    "count_nonzero" => { args: &["{}", "{axes: [0]}", "{axis: 1}", "{axes: [-1], keep_dims: true}"], fills: &["{integers: [0, 2]}"] }

    // Order.
    "argmax" | "argmin" => { args: &["{}", "{axis: 0}", "{axis: -1, keep_dims: true}"], shapes: FULL }
    "sort" | "argsort" => { args: &["{}", "{axis: 0}", "{axis: -1}"], shapes: FULL, fills: &["arange", "normal"], note: "no empty axis: it ends the process" }
    "cumsum" | "cumprod" | "cummax" | "cummin" | "logcumsumexp" => { args: RUNS, shapes: FULL, note: "no empty axis: it ends the process" }
    "softmax" => { args: &["{}", "{axes: [-1]}", "{axis: 0}", "{axes: [0, 1], precise: true}"], shapes: FULL }
    "partition" | "argpartition" => { args: &["{kth: 1}", "{kth: 0, axis: 0}", "{kth: -1}"], shapes: &["[3, 4]", "[2]", "[5, 7]", "[4096]"] }
    "topk" => { args: &["{k: 2}", "{k: 1, axis: 0}"], shapes: &["[3, 4]", "[2]", "[5, 7]", "[4096]"] }
    "diff" => { args: &["{}", "{n: 0}", "{n: 2}", "{axis: 0}"], shapes: FULL }
    "search_sorted" => { inputs: "{x: {dtype: $dtype, value: [0, 1, 1, 1]}, values: {dtype: $dtype, value: [0, 1]}}", args: &["{}", "{side: right}"], views: Views::Plain }

    // Products.
    "matmul" => { shapes: &["[[3, 4], [4, 5]]", "[[4], [4]]", "[[0, 4], [4, 5]]", "[[2, 3, 4], [4, 5]]", "[[2, 3, 4], [2, 4, 5]]", "[[33, 65], [65, 17]]"] }
    "addmm" => { shapes: &["[[3, 5], [3, 4], [4, 5]]", "[[5], [3, 4], [4, 5]]", "[[2, 3, 5], [2, 3, 4], [2, 4, 5]]"], args: &["{}", "{alpha: 0.5, beta: 2.0}", "{beta: 0.0}"] }
    "block_masked_mm" => {
        inputs: "{a: {dtype: $dtype, shape: [32, 32]}, b: {dtype: $dtype, shape: [32, 32]}, mask_out: {dtype: bool, value: [[true]]}, mask_lhs: {dtype: bool, value: [[true]]}, mask_rhs: {dtype: bool, value: [[true]]}}",
        args: &["{block_size: 32}"], dtypes: FLOATS, views: Views::Plain,
    }
    "einsum" => { shapes: &["[[3, 4], [4, 5]]"], args: &["{subscripts: 'ij,jk->ik'}", "{subscripts: 'ij,jk->ki'}", "{subscripts: 'ij,jk->i'}"] }
    "gather_mm" => {
        inputs: "{a: {dtype: $dtype, shape: [3, 2, 4]}, b: {dtype: $dtype, shape: [2, 4, 5]}, lhs_indices: {dtype: uint32, value: [0, 2]}, rhs_indices: {dtype: uint32, value: [1, 0]}}",
        args: &["{}"], views: Views::Plain,
    }
    "inner" => { shapes: &["[[4], [4]]", "[[3, 4], [5, 4]]", "[[3, 4], [4]]"] }
    "outer" => { shapes: &["[[3], [4]]", "[[1], [1]]", "[[0], [3]]", "[[2, 2], [3]]"] }
    "kron" => { shapes: &["[[2, 3], [4, 5]]", "[[3], [4]]", "[[2], [3, 2]]"] }
    "segmented_mm" => { skip: "written by hand, cases/ops/product/segmented_mm.yaml: only a worker may ask, since a segment that no matrix has ends the process" }
    "tensordot" => { shapes: &["[[3, 4], [3, 4]]"], args: &["{}", "{axis: 2}", "{axes_a: [0], axes_b: [0]}", "{axes_a: [1, 0], axes_b: [1, 0]}"] }
    "vecdot" => { shapes: &["[[3, 4], [3, 4]]", "[[4], [4]]", "[[0], [0]]"], args: &["{}", "{axis: 0}"] }

    // Shape.
    "as_dtype" | "as_type" => {
        args: &["{dtype: float32}", "{dtype: int32}", "{dtype: bool}", "{dtype: uint8}", "{dtype: int64}", "{dtype: float16}", "{dtype: bfloat16}", "{dtype: float64}", "{dtype: complex64}"],
        shapes: &["[3, 4]", "[]", "[0, 3]"],
    }
    "view" | "view_dtype" => { args: &["{dtype: int32}", "{dtype: uint8}", "{dtype: int16}", "{dtype: float32}", "{dtype: int64}"], shapes: &["[3, 4]", "[8]"] }
    "as_strided" => { shapes: &["[3, 4]"], args: &["{shape: [2, 3], strides: [4, 1]}", "{shape: [2, 2], strides: [1, 2], offset: 3}", "{shape: [3, 3], strides: [0, 1]}", "{}"], views: Views::Plain }
    "broadcast_arrays" => { shapes: &["[[3, 1], [4]]", "[[], [3]]", "[[1], [2, 3], [2, 1]]"] }
    "broadcast_to" => { shapes: &["[3, 1]", "[]", "[1]"], args: &["{shape: [2, 3, 4]}"] }
    "concatenate" | "stack" => { shapes: &["[[3, 4], [3, 4]]", "[[1, 1], [1, 1], [1, 1]]", "[[0, 3], [0, 3]]"], args: &["{}", "{axis: 1}", "{axis: -1}"] }
    "concatenate_flat" => { shapes: &["[[3, 4], [2]]", "[[0], [3]]", "[[], [2]]"] }
    "contiguous" => { args: &["{}", "{allow_col_major: true}"] }
    "expand_dims" => { args: &["{}", "{axis: -1}", "{axes: [0, 2]}"] }
    "flatten" => { args: &["{}", "{start_axis: 1}", "{end_axis: 0}"] }
    "flip" => { args: &["{}", "{axes: [0]}", "{axis: -1}", "{axes: [0, 1]}"] }
    "move_axis" => { shapes: &["[2, 3, 4]", "[0, 2, 3]"], args: &["{src: 0, dst: 2}", "{src: -1, dst: 0}"] }
    "pad" => { shapes: &["[3, 4]", "[1, 1]"], args: &["{width: [[1, 2], [0, 1]]}", "{width: [1, 1]}", "{width: [1, 1], value: 3}", "{width: [2, 1], mode: edge}", "{width: [0, 0]}"] }
    "reshape" => { shapes: &["[3, 4]", "[12]", "[2, 6]"], args: &["{shape: [4, 3]}", "{shape: [-1]}", "{shape: [2, -1, 2]}"] }
    "split_equal" => { shapes: &["[4, 6]", "[2, 2]"], args: &["{num_parts: 2}", "{num_parts: 2, axis: 1}", "{num_parts: 1}"] }
    "split_at_indices" => { shapes: &["[4, 6]", "[2, 2]"], args: &["{indices: [1]}", "{indices: [1, 3], axis: 1}"] }
    "squeeze" => { shapes: &["[1, 3, 1]", "[1]", "[3, 4]"], args: &["{}", "{axes: [0]}"] }
    "swap_axes" => { shapes: &["[2, 3, 4]", "[0, 3]"], args: &["{axis1: 0, axis2: 1}", "{axis1: 0, axis2: -1}"] }
    "tile" => { shapes: &["[3, 4]", "[]", "[1]"], args: &["{reps: [2, 1]}", "{reps: [3]}", "{reps: [2, 1, 2]}"] }
    "transpose" => { shapes: &["[3, 4]", "[]", "[0, 3]", "[5]", "[2, 3]"], args: &["{}", "{axes: [1, 0]}"] }
    "unflatten" => { shapes: &["[2, 6]"], args: &["{axis: 1, shape: [2, 3]}", "{axis: -1, shape: [-1, 2]}"] }
    "unstack" => { shapes: &["[3, 4]", "[1, 2]"], args: &["{}", "{axis: 1}", "{axis: -1}"] }

    // Made from none.
    "arange" => { args: &["{stop: 5, dtype: $dtype}", "{start: 1, stop: 6, step: 2, dtype: $dtype}", "{stop: 0, dtype: $dtype}"] }
    "diag" => { shapes: &["[4]", "[3, 3]", "[3, 5]"], args: &["{}", "{k: 1}", "{k: -1}"] }
    "diagonal" => { shapes: &["[3, 4]", "[2, 3, 4]"], args: &["{}", "{offset: 1}", "{offset: -1}", "{axis1: 1, axis2: 0}"] }
    "trace" => { shapes: &["[3, 4]", "[2, 3, 4]"], args: &["{}", "{offset: 1}", "{axis1: 1, axis2: 0}", "{dtype: float32}"] }
    "eye" | "tri" => { args: &["{n: 3, dtype: $dtype}", "{n: 3, m: 4, k: 1, dtype: $dtype}", "{n: 2, m: 5, k: -1, dtype: $dtype}"] }
    "identity" => { args: &["{n: 3, dtype: $dtype}", "{n: 1, dtype: $dtype}"] }
    "full" => { inputs: "{values: {dtype: $dtype, value: [1, 2, 3]}}", args: &["{shape: [2, 3], dtype: $dtype}", "{shape: [3], dtype: $dtype}"], views: Views::Plain }
    "full_like" => { inputs: "{x: {dtype: $dtype, shape: [2, 3]}, values: {dtype: $dtype, value: [1, 2, 3]}}", args: &["{}", "{dtype: float32}"], views: Views::Plain }
    "linspace" => { args: &["{start: 0, stop: 4, count: 5, dtype: $dtype}", "{start: 0, stop: 4, count: 4, endpoint: false, dtype: $dtype}", "{start: 1, stop: 1, count: 1, dtype: $dtype}"] }
    "ones" | "zeros" | "ones_of" | "zeros_of" => { args: &["{shape: [2, 3], dtype: $dtype}", "{shape: [], dtype: $dtype}", "{shape: [0, 2], dtype: $dtype}"] }
    "repeat" => { args: &["{count: 2}", "{count: 3, axis: 0}", "{count: 1, axis: -1}"], shapes: FULL }
    "tril" | "triu" => { args: &["{}", "{k: 1}", "{k: -1}"], shapes: &["[3, 4]", "[4, 3]", "[0, 3]", "[2, 3, 4]"] }
    "windows.bartlett" | "windows.blackman" | "windows.hamming" | "windows.hann" => { args: &["{size: 8}", "{size: 1}", "{size: 7}"], dtypes: &["float32"] }

    // Places.
    "gather_single" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, indices: {dtype: int32, value: [2, 0]}}", args: &["{axis: 0, slice_sizes: [1, 3]}", "{axis: 0, slice_sizes: [2, 2]}"] }
    "getitem" => { args: &["{index: [1]}", "{index: [\"1:\"]}", "{index: [\"::-1\", 0]}", "{index: [..., -1]}", "{index: [new_axis, 0]}", "{index: [\"::2\", \"1:3\"]}"], shapes: &["[3, 4]", "[5, 7]"] }
    "getitem_array" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, indices: {dtype: int32, value: [[2, 0], [1, -1]]}}" }
    "getitem_arrays" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, rows: {dtype: int32, value: [2, 0]}, columns: {dtype: int32, value: [1, 2]}}" }
    "index_update" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, update: {dtype: $dtype, shape: [3]}}", args: &["{index: [1]}", "{index: [1], mode: add}", "{index: [\"1:3\"], mode: product}", "{index: [\"::-1\"], mode: max}", "{index: [\"1:\"], mode: min}"] }
    "index_update_array" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, indices: {dtype: int32, value: [2, 0]}, update: {dtype: $dtype, shape: [2, 3]}}", args: &["{}", "{mode: add}", "{mode: product}", "{mode: max}", "{mode: min}"] }
    "setitem" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, value: {dtype: $dtype, shape: [3]}}", args: &["{index: [1]}", "{index: [\"1:3\"]}", "{index: [..., \"::-1\"]}"] }
    "setitem_array" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, indices: {dtype: int32, value: [2, 0]}, value: {dtype: $dtype, shape: [2, 3]}}" }
    "masked_scatter" => { inputs: "{x: {dtype: $dtype, shape: [2, 3], view: $view}, mask: {dtype: bool, value: [[true, false, true], [false, true, false]]}, src: {dtype: $dtype, shape: [3]}}" }
    "put_along_axis" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, indices: {dtype: int32, value: [[1, 3, 0]]}, values: {dtype: $dtype, shape: [1, 3]}}", args: &["{axis: 0}"] }
    "scatter_single" | "scatter_add_single" | "scatter_max_single" | "scatter_min_single" | "scatter_prod_single" => { inputs: WRITES, args: &["{axis: 0}"] }
    "take" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, indices: {dtype: int32, value: [2, 0, -1]}}", args: &["{axis: 0}", "{axis: 1}", "{}"] }
    "take_along_axis" => { inputs: "{x: {dtype: $dtype, shape: [4, 3], view: $view}, indices: {dtype: int32, value: [[1, 3, 0]]}}", args: &["{axis: 0}"] }

    // Convolutions.
    "conv1d" => { shapes: &["[[2, 8, 4], [6, 3, 4]]", "[[1, 3, 1], [1, 3, 1]]"], args: &["{}", "{stride: 2}", "{padding: 1}", "{dilation: 2}"] }
    "conv2d" => { shapes: &["[[1, 6, 5, 4], [6, 3, 2, 4]]"], args: &["{}", "{stride: [2, 1]}", "{padding: 1}", "{dilation: [2, 1]}"] }
    "conv3d" => { shapes: &["[[1, 4, 4, 3, 2], [3, 2, 2, 2, 2]]"], args: &["{}", "{stride: 2}", "{padding: 1}"] }
    "conv_general" => { shapes: &["[[1, 6, 5, 4], [6, 3, 2, 4]]"], args: &["{}", "{strides: [2, 1]}", "{padding: [1, 1]}", "{kernel_dilation: [2, 1]}", "{input_dilation: [2, 1]}", "{flip: true}"] }
    "conv_transpose1d" => { shapes: &["[[2, 8, 4], [6, 3, 4]]"], args: &["{}", "{stride: 2}", "{padding: 1}", "{stride: 2, output_padding: 1}"] }
    "conv_transpose2d" => { shapes: &["[[1, 4, 5, 4], [6, 3, 2, 4]]"], args: &["{}", "{stride: 2}", "{padding: 1}"] }
    "conv_transpose3d" => { shapes: &["[[1, 3, 3, 3, 2], [3, 2, 2, 2, 2]]"], args: &["{}", "{stride: 2}"] }

    // Fourier transforms.
    "fft.fft" | "fft.ifft" | "fft.rfft" | "fft.irfft" => { shapes: &["[3, 8]", "[7]", "[2, 5]", "[2]", "[1024]"], args: &["{}", "{n: 4}", "{n: 12}", "{axis: 0}"] }
    "fft.fft2" | "fft.ifft2" | "fft.rfft2" | "fft.irfft2" => { shapes: &["[4, 8]", "[3, 5]", "[2, 4, 6]"], args: &["{}", "{axes: [0, 1]}", "{s: [4, 4], axes: [0, 1]}"] }
    "fft.fftn" | "fft.ifftn" | "fft.rfftn" | "fft.irfftn" => { shapes: &["[4, 8]", "[3, 5]", "[2, 4, 6]"], args: &["{}", "{axes: [0]}", "{lengths: [4, 4], axes: [0, 1]}"] }
    "fft.fftfreq" | "fft.rfftfreq" => { args: &["{n: 8}", "{n: 7}", "{n: 8, d: 0.5}"], dtypes: &["float32"] }
    "fft.fftshift" | "fft.ifftshift" => { shapes: &["[4, 5]", "[1]", "[7]"], args: &["{}", "{axes: [0]}"] }

    // Linear algebra.
    "linalg.cholesky" => { inputs: DEFINITE, args: &["{}", "{upper: true}"] }
    "linalg.cholesky_inv" => { inputs: "{x: {dtype: $dtype, value: [[2, 0, 0], [1, 3, 0], [0, 1, 2]], view: $view}}", args: &["{}", "{upper: true}"] }
    "linalg.cross" => { shapes: &["[[3], [3]]", "[[2, 3], [2, 3]]", "[[4, 3], [3]]"], args: &["{}", "{axis: -1}"] }
    "linalg.det" | "linalg.slogdet" | "linalg.inv" | "linalg.pinv" | "linalg.lu" | "linalg.lu_factor" | "linalg.qr" | "linalg.svd"
        | "linalg.eig" | "linalg.eigvals" => { inputs: SQUARE }
    "linalg.eigh" | "linalg.eigvalsh" => { inputs: DEFINITE, args: &["{}", "{uplo: U}"] }
    "linalg.norm" => { shapes: &["[3, 4]", "[4]", "[5, 7]"], args: &["{}", "{ord: 1.0, axes: [0]}", "{ord: .inf, axes: [1]}", "{ord: 3.0, axes: [-1], keep_dims: true}", "{ord: 1.0, axes: [0, 1]}", "{ord: 0.0, axes: [0]}"] }
    "linalg.norm_l2" => { shapes: &["[3, 4]", "[4]", "[]"], args: &["{}", "{axes: [0]}", "{axes: [1], keep_dims: true}"] }
    "linalg.norm_matrix" => { shapes: &["[3, 4]", "[5, 2]"], args: &["{ord: fro}", "{ord: nuc}", "{ord: fro, axes: [0, 1], keep_dims: true}"] }
    "linalg.solve" => { inputs: "{a: {dtype: $dtype, value: [[4, 1, 0], [1, 3, 1], [0, 1, 2]], view: $view}, b: {dtype: $dtype, value: [1, 2, 3]}}" }
    "linalg.solve_triangular" => { inputs: "{a: {dtype: $dtype, value: [[2, 1, 1], [1, 3, 1], [2, 1, 2]], view: $view}, b: {dtype: $dtype, value: [[1], [2], [3]]}}", args: &["{}", "{upper: true}"] }
    "linalg.tri_inv" => { inputs: "{x: {dtype: $dtype, value: [[2, 0, 0], [1, 3, 0], [0, 1, 2]], view: $view}}", args: &["{}"] }

    // Kernels.
    "fast.layer_norm" => { shapes: &["[[3, 8], [8], [8]]", "[[3, 8]]", "[[3, 8], [8]]", "[[2, 3, 64], [64], [64]]"], args: &["{}", "{eps: 0.1}"] }
    "fast.rms_norm" => { shapes: &["[[3, 8], [8]]", "[[3, 8]]", "[[2, 3, 64], [64]]"], args: &["{}", "{eps: 0.1}"] }
    "fast.rope" => { shapes: &["[1, 2, 4, 8]", "[2, 1, 3, 4]"], args: &["{dimensions: 4}", "{dimensions: 4, traditional: true}", "{dimensions: 4, offset: 3}", "{dimensions: 4, base: 100.0, scale: 0.5}"] }
    "fast.rope_dynamic" => { inputs: "{x: {dtype: $dtype, shape: [1, 2, 4, 8], view: $view}, offset: {dtype: int32, value: 3}}", args: &["{dimensions: 4}", "{dimensions: 8, traditional: true}", "{dimensions: 4, base: 100.0, scale: 0.5}"] }
    "fast.scaled_dot_product_attention" => { shapes: &["[[1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8]]", "[[2, 4, 3, 8], [2, 2, 5, 8], [2, 2, 5, 8]]", "[[1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8], [4, 4]]"], args: &["{}", "{scale: 0.5}", "{mask_mode: causal}"] }

    // Quantization.
    "quantize" => { shapes: &["[4, 64]", "[2, 128]"], args: &["{}", "{group_size: 32}", "{bits: 8}", "{bits: 2}", "{bits: 3}", "{bits: 6}"] }
    "dequantize" => {
        inputs: "{w: {dtype: uint32, shape: [4, 8], fill: {integers: [0, 4294967296]}}, scales: {dtype: $dtype, shape: [4, 1]}, biases: {dtype: $dtype, shape: [4, 1]}}",
        args: &["{}", "{bits: 8, group_size: 32}", "{bits: 2, group_size: 128}"], views: Views::Plain,
    }
    "quantized_matmul" => {
        inputs: "{x: {dtype: $dtype, shape: [3, 64]}, w: {dtype: uint32, shape: [8, 8], fill: {integers: [0, 4294967296]}}, scales: {dtype: $dtype, shape: [8, 1]}, biases: {dtype: $dtype, shape: [8, 1]}}",
        args: &["{transpose: true}"], views: Views::Plain,
    }
    "gather_qmm" => {
        inputs: "{x: {dtype: $dtype, shape: [2, 3, 64]}, w: {dtype: uint32, shape: [2, 8, 8], fill: {integers: [0, 4294967296]}}, scales: {dtype: $dtype, shape: [2, 8, 1]}, biases: {dtype: $dtype, shape: [2, 8, 1]}, lhs_indices: {dtype: uint32, value: [0, 1]}, rhs_indices: {dtype: uint32, value: [1, 0]}}",
        args: &["{}"], views: Views::Plain,
    }
    "qqmm" => { shapes: &["[[4, 64], [8, 64]]"], args: &["{mode: nvfp4, group_size: 16, bits: 4}", "{mode: mxfp8, group_size: 32, bits: 8}"], views: Views::Plain }

    // Random draws.
    "random.bernoulli" => { inputs: "{p: {value: 0.25}, key: {dtype: uint32, value: [0, 7]}}", args: &["{shape: [4096]}"], dtypes: &["float32"], views: Views::Plain }
    "random.categorical" => { inputs: "{logits: {dtype: $dtype, value: [0, 1, 2, 0]}, key: {dtype: uint32, value: [0, 7]}}", args: &["{count: 1024}", "{shape: [512]}", "{}"], views: Views::Plain }
    "random.gumbel" | "random.normal" => { inputs: "{key: {dtype: uint32, value: [0, 7]}}", args: &["{shape: [4096], dtype: $dtype}", "{shape: [64, 65], dtype: $dtype}"], views: Views::Plain }
    "random.key" => { args: &["{seed: 7}", "{seed: 0}", "{seed: 2147483647}"], dtypes: &["float32"] }
    "random.multivariate_normal" => { inputs: "{mean: {dtype: $dtype, value: [1, 2]}, covariance: {dtype: $dtype, value: [[2, 1], [1, 2]]}, key: {dtype: uint32, value: [0, 7]}}", args: &["{shape: [1024]}"], views: Views::Plain }
    "random.randint" => { inputs: "{key: {dtype: uint32, value: [0, 7]}}", args: &["{low: 2, high: 9, shape: [4096], dtype: $dtype}"], dtypes: &["int32", "int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "float32"], views: Views::Plain }
    "random.seed" | "random_state.with_seed" => { args: &["{seed: 7, shape: [4096]}"], dtypes: &["float32"] }
    "random.split" => { inputs: "{key: {dtype: uint32, value: [0, 7]}}", args: &["{}", "{num: 3}"], dtypes: &["uint32"], views: Views::Plain }
    "random.truncated_normal" => { inputs: "{key: {dtype: uint32, value: [0, 7]}}", args: &["{low: -1.0, high: 2.0, shape: [4096], dtype: $dtype}"], views: Views::Plain }
    "random.uniform" => { inputs: "{key: {dtype: uint32, value: [0, 7]}}", args: &["{low: -1.0, high: 2.0, shape: [4096], dtype: $dtype}"], views: Views::Plain }
    "random_state.new" => { args: &["{shape: [4096]}"], dtypes: &["float32"] }
    "random_state.from_key" => { inputs: "{key: {dtype: uint32, value: [0, 7]}}", args: &["{shape: [4096]}"], dtypes: &["uint32"], views: Views::Plain }
    "random_state.next_key" | "random_state.as_array" => { inputs: "{key: {dtype: uint32, value: [0, 7]}}", dtypes: &["uint32"], views: Views::Plain }
    "random_state.seed" => { inputs: "{key: {dtype: uint32, value: [0, 7]}}", args: &["{seed: 9}"], dtypes: &["uint32"], views: Views::Plain }

    // Activations.
    "nn.celu" | "nn.elu" => { args: &["{}", "{alpha: 0.5}"], fills: USUAL }
    "nn.leaky_relu" => { args: &["{}", "{neg_slope: 0.2}"], fills: USUAL }
    "nn.step" => { args: &["{}", "{threshold: 0.5}"], fills: &["normal"] }
    "nn.glu" => { shapes: &["[3, 4]", "[2]", "[4, 6]"], args: &["{}", "{axis: 0}"], fills: &["normal"], note: "an odd axis has no halves" }
    "nn.log_softmax" => { shapes: FULL, args: &["{}", "{axis: 0}"] }
    "nn.prelu" => { shapes: &["[[3, 4], [4]]", "[[3, 4], [1]]", "[[3, 4], []]"] }
    "nn.causal_mask" => { args: &["{n: 4}", "{n: 1}"], dtypes: &["float32"] }

    // Losses.
    "loss.binary_cross_entropy" => { fills: SHARES, shapes: &["[[3, 4], [3, 4]]", "[[1], [1]]", "[[64], [64]]"], args: &["{}", "{inputs_are_logits: false}", "{reduction: sum}", "{reduction: mean}"] }
    "loss.cosine_similarity" => { shapes: &["[[3, 4], [3, 4]]", "[[4], [4]]"], args: &["{}", "{axis: 0}", "{reduction: sum}", "{reduction: mean}"] }
    "loss.cross_entropy" => { inputs: "{logits: {dtype: $dtype, shape: [3, 4], view: $view}, targets: {dtype: int32, value: [1, 3, 0]}}", args: &["{}", "{label_smoothing: 0.25}", "{reduction: sum}", "{reduction: mean}"] }
    "loss.gaussian_nll" => { fills: POSITIVE, shapes: &["[[3, 4], [3, 4], [3, 4]]", "[[64], [64], [64]]"], args: &["{}", "{full: true}", "{eps: 4.0}", "{reduction: mean}"] }
    "loss.hinge" | "loss.l1" | "loss.log_cosh" | "loss.mse" => { shapes: &["[[3, 4], [3, 4]]", "[[1], [1]]", "[[64], [64]]"], args: REDUCTIONS }
    "loss.huber" => { shapes: &["[[3, 4], [3, 4]]", "[[64], [64]]"], args: &["{}", "{delta: 0.5}", "{reduction: sum}", "{reduction: mean}"] }
    "loss.kl_div" => { shapes: &["[[3, 4], [3, 4]]", "[[64], [64]]"], args: &["{}", "{reduction: sum}", "{reduction: mean}"] }
    "loss.margin_ranking" => { shapes: &["[[3, 4], [3, 4], [3, 4]]", "[[64], [64], [64]]"], args: &["{}", "{margin: 0.5}", "{reduction: mean}"] }
    "loss.nll" => { inputs: "{inputs: {dtype: $dtype, shape: [3, 4], view: $view}, targets: {dtype: int32, value: [1, 3, 0]}}", args: REDUCTIONS }
    "loss.smooth_l1" => { shapes: &["[[3, 4], [3, 4]]", "[[64], [64]]"], args: &["{}", "{beta: 0.5}", "{reduction: none}", "{reduction: sum}"] }
    "loss.triplet" => { shapes: &["[[3, 4], [3, 4], [3, 4]]", "[[2, 64], [2, 64], [2, 64]]"], args: &["{}", "{margin: 4.0}", "{p: 4.0}", "{reduction: sum}"] }

    // Optimizers.
    "optimizer.adadelta" | "optimizer.adagrad" | "optimizer.adam" | "optimizer.adamax" | "optimizer.rmsprop"
        => { inputs: OPTIMIZED, shapes: &["[3, 4]", "[4]"], args: STEPS, dtypes: FLOATS, views: Views::Plain }
    "optimizer.adamw" | "optimizer.lion" => { inputs: OPTIMIZED, shapes: &["[3, 4]", "[4]"], args: &["{}", "{weight_decay: 0.1}", "{steps: 3}"], dtypes: FLOATS, views: Views::Plain }
    "optimizer.sgd" => { inputs: OPTIMIZED, shapes: &["[3, 4]", "[4]"], args: &["{}", "{momentum: 0.9, steps: 3}", "{weight_decay: 0.1}", "{momentum: 0.9, dampening: 0.5, steps: 2}", "{momentum: 0.9, nesterov: true, steps: 2}"], dtypes: FLOATS, views: Views::Plain }
    "optimizer.adafactor" => { inputs: OPTIMIZED, shapes: &["[3, 4]", "[4]"], args: &["{}", "{steps: 3}", "{lr: 0.01, relative_step: false}", "{beta1: 0.9}", "{warmup_init: true}"], dtypes: FLOATS, views: Views::Plain }
    "optimizer.clip_grad_norm" => { shapes: &["[[3, 4], [4]]"], args: &["{max_norm: 1.0}", "{max_norm: 1000.0}"], dtypes: FLOATS, views: Views::Plain, unordered: "mlx-rs keeps gradients in a hash map" }

    // Operators and methods that no function has.
    "operator.sum" | "operator.product" => { shapes: &["[[3, 4], [3, 4]]", "[[1], [1], [1]]"], fills: &["{integers: [1, 3]}"], views: Views::Plain }
    "operator.neg" => { fills: USUAL }
    "operator.not" => { fills: USUAL }
    "array.hadamard_transform" => { shapes: &["[3, 8]", "[1, 2]", "[4, 64]"], args: &["{}", "{scale: 1.0}"] }
    "array.t" => { shapes: &["[3, 4]", "[0, 3]"] }
    "array.deep_clone" => { shapes: &["[3, 4]", "[]", "[1]"], views: Views::Plain, note: "plain inputs only: of a view it returns another order" }
}

recipes! {
    /// Of layers.
    LAYERS:

    "glu" => { shapes: &["[3, 4]", "[4, 6]"], args: &["{}", "{axis: 0}"] }
    "celu" => { args: &["{}", "{alpha: 0.5}"] }
    "gelu" => { args: &["{}", "{approximate: precise}", "{approximate: fast}"] }
    "leaky_relu" => { args: &["{}", "{neg_slope: 0.2}"] }
    "log_softmax" | "softmax" => { args: &["{}", "{axis: 0}"], shapes: &["[2, 4]", "[1, 4]", "[2, 3, 4]", "[64, 64]"] }
    "prelu" => { args: &["{}", "{value: 0.5}", "{count: 4}"] }
    "step" => { args: &["{}", "{threshold: 0.5}"] }
    "avg_pool1d" | "max_pool1d" => { shapes: &["[2, 8, 4]", "[1, 5, 1]"], args: &["{kernel: 2}", "{kernel: 3, stride: 1}"] }
    "avg_pool2d" | "max_pool2d" => { shapes: &["[1, 6, 8, 4]", "[2, 5, 5, 1]"], args: &["{kernel: 2}", "{kernel: [3, 2], stride: [2, 1]}"] }
    "pool" => { shapes: &["[1, 6, 8, 4]", "[2, 5, 5, 1]"], args: &["{kernel: [2, 2]}", "{kernel: [3, 2], stride: [2, 1]}"] }
    "bilinear" => { args: &["{input1: 4, input2: 4, output: 3}", "{input1: 4, input2: 4, output: 3, bias: false}"], shapes: &["[2, 4]", "[2, 3, 4]"] }
    "dropout" => { args: &["{training: false}", "{p: 0.25, training: true}"], shapes: &["[2, 4]", "[64, 64]"] }
    "dropout2d" => { args: &["{training: false}", "{p: 0.25, training: true}"], shapes: &["[2, 4, 4, 3]"] }
    "dropout3d" => { args: &["{training: false}", "{p: 0.25, training: true}"], shapes: &["[2, 3, 3, 3, 2]"] }
    "embedding" => { inputs: "{x: {dtype: $dtype, shape: [5], fill: {integers: [0, 8]}}}", args: &["{count: 8, dims: 4}"], dtypes: &["int32", "uint32", "int8", "int64", "uint8"], views: Views::Plain }
    "quantized_embedding" => { inputs: "{x: {dtype: $dtype, shape: [5], fill: {integers: [0, 8]}}}", args: &["{count: 8, dims: 64}", "{count: 8, dims: 64, bits: 8}"], dtypes: &["int32", "uint32", "int64"], views: Views::Plain }
    "linear" => { args: &["{input: 4, output: 3}", "{input: 4, output: 3, bias: false}"], shapes: &["[2, 4]", "[4]", "[0, 4]", "[2, 3, 4]"] }
    "mlx_sequential" => { args: &["{input: 4, hidden: 3}"], shapes: &["[2, 4]", "[2, 3, 4]"] }
    "quantized_linear" => { args: &["{input: 64, output: 8}", "{input: 64, output: 8, bits: 8}", "{input: 64, output: 8, group_size: 32, bias: false}"], shapes: &["[2, 64]"] }
    "sinusoidal_positional_encoding" => { args: &["{dims: 8}", "{dims: 8, cosine_first: true}", "{dims: 8, full_turns: true, scale: 1.0}"], shapes: &["[4]", "[2, 3]"] }
    "upsample" => { args: &["{scale: 2.0}", "{scale: 2.0, mode: linear}", "{scale: 2.0, mode: cubic}", "{scale: 2.0, mode: linear, align_corners: true}"], shapes: &["[1, 3, 4, 2]", "[1, 4, 2]"] }
    "conv1d" => { args: &["{input: 4, output: 6, kernel: 3}", "{input: 4, output: 6, kernel: 3, stride: 2, padding: 1}", "{input: 4, output: 6, kernel: 3, bias: false}"], shapes: &["[2, 8, 4]"] }
    "conv2d" => { args: &["{input: 4, output: 6, kernel: 3}", "{input: 4, output: 6, kernel: [3, 2], stride: 2, padding: 1}"], shapes: &["[1, 6, 5, 4]"] }
    "conv3d" => { args: &["{input: 2, output: 3, kernel: 2}", "{input: 2, output: 3, kernel: 2, stride: 2, padding: 1}"], shapes: &["[1, 4, 4, 3, 2]"] }
    "conv_transpose1d" => { args: &["{input: 4, output: 6, kernel: 3}", "{input: 4, output: 6, kernel: 3, stride: 2, padding: 1}"], shapes: &["[2, 8, 4]"] }
    "conv_transpose2d" => { args: &["{input: 4, output: 6, kernel: 3}", "{input: 4, output: 6, kernel: [3, 2], stride: 2}"], shapes: &["[1, 4, 5, 4]"] }
    "conv_transpose3d" => { args: &["{input: 2, output: 3, kernel: 2}", "{input: 2, output: 3, kernel: 2, stride: 2}"], shapes: &["[1, 3, 3, 3, 2]"] }
    "batch_norm" => { args: &["{features: 4, training: false}", "{features: 4, training: true}", "{features: 4, affine: false, track_running_stats: false}"], shapes: &["[3, 4]", "[2, 3, 4]"] }
    "group_norm" => { args: &["{groups: 2, dims: 4}", "{groups: 2, dims: 4, pytorch_compatible: true}"], shapes: &["[2, 3, 4]"] }
    "instance_norm" => { args: &["{dims: 4}", "{dims: 4, affine: true}"], shapes: &["[2, 3, 4]"] }
    "layer_norm" => { args: &["{dims: 4}", "{dims: 4, affine: false}", "{dims: 4, eps: 0.1}"] }
    "rms_norm" => { args: &["{dims: 4}", "{dims: 4, eps: 0.1}"] }
    "gru" | "lstm" | "rnn" => { inputs: "{x: {dtype: $dtype, shape: $shape}}", args: &["{input: 4, hidden: 3}", "{input: 4, hidden: 3, bias: false}"], shapes: &["[2, 5, 4]", "[2, 1, 4]"], dtypes: FLOATS, views: Views::Plain }
    "multi_head_attention" => { inputs: "{queries: {dtype: $dtype, shape: [2, 3, 8]}, keys: {dtype: $dtype, shape: [2, 5, 8]}, values: {dtype: $dtype, shape: [2, 5, 8]}}", args: &["{dims: 8, heads: 2}", "{dims: 8, heads: 4, bias: true}"], dtypes: FLOATS, views: Views::Plain }
    "transformer" => { inputs: "{source: {dtype: $dtype, shape: [1, 3, 8]}, target: {dtype: $dtype, shape: [1, 2, 8]}}", args: &["{dims: 8, heads: 2, encoder_layers: 1, decoder_layers: 1}"], dtypes: &["float32"], views: Views::Plain }
    "alibi" => { inputs: "{scores: {dtype: $dtype, shape: [1, 4, 3, 3], view: $view}}", args: &["{}"] }
    "rope" => { args: &["{dims: 4}", "{dims: 4, traditional: true}", "{dims: 4, offset: 3, base: 100.0}"], shapes: &["[1, 2, 4, 8]"] }
}
