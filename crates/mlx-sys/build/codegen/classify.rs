//! What each C function is to an observer, and what its parameters are.
//!
//! Rules decide where a rule can (an operation is recognized by its shape); the rest is named. A function that
//! yields arrays and is neither recognized nor named fails the build, so that no upgrade of mlx-c can add an
//! operation that nobody sees.

use super::declaration::{Declaration, Parameter};

/// What a function is to an observer; the crate's `Class` says the same to its users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Operation,
    Constructor,
    Application,
    Evaluation,
    Reading,
    Loading,
    Other,
}

/// One observed function.
#[derive(Debug, Clone)]
pub struct Function {
    pub class: Class,
    pub declaration: Declaration,
    pub results: Vec<Output>,
    pub arguments: Vec<Argument>,
}

/// Where a function puts the arrays that it yields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// `*mut mlx_array` parameter.
    Array(String),
    /// `*mut mlx_vector_array` parameter.
    Vector(String),
    /// `*mut mlx_map_string_to_array` parameter.
    Map(String),
    /// An `mlx_array` returned by value.
    Returned,
}

/// One argument: a parameter, or a pointer and its length taken together.
#[derive(Debug, Clone)]
pub struct Argument {
    pub name: String,
    pub kind: Kind,
    /// The parameter that holds the length, for the kinds that are slices.
    pub length: Option<String>,
}

/// What an argument is; the crate's `Kind` says the same to its users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Array,
    Arrays,
    ArrayMap,
    Bool,
    Int,
    Uint64,
    Size,
    Float,
    Double,
    Dtype,
    FftNorm,
    Text,
    Ints,
    Int64s,
    OptionalInt,
    OptionalFloat,
    OptionalDtype,
    Stream,
    /// What cannot be recorded: closures, readers, groups, raw data, places to write a scalar to.
    Opaque,
}

/// Why a function could not be classified.
#[derive(Debug, thiserror::Error)]
pub enum ClassifyError {
    #[error(
        "{function} yields arrays and is not classified: nobody would see what it computes; name it in \
         build/codegen/classify.rs"
    )]
    Unclassified { function: String },
    #[error("{function} is named in build/codegen/classify.rs, but mlx-c has no such function")]
    Vanished { function: String },
    #[error("{function} has a pointer parameter {parameter} without the length parameter {parameter}_num")]
    NoLength { function: String, parameter: String },
    #[error(
        "parameter {parameter} of the operation {function} has type {ty}, which no kind of argument covers"
    )]
    UnknownType {
        function: String,
        parameter: String,
        ty: String,
    },
}

/// Evaluate arrays, and so destroy the graph that led to them.
const EVALUATIONS: &[&str] = &[
    "_mlx_array_wait",
    "mlx_array_eval",
    "mlx_array_tostring",
    "mlx_async_eval",
    "mlx_eval",
    "mlx_save",
    "mlx_save_gguf",
    "mlx_save_safetensors",
    "mlx_save_safetensors_writer",
    "mlx_save_writer",
];

/// Run a closure, or a function read from a file, over arrays.
const APPLICATIONS: &[&str] = &[
    "mlx_closure_apply",
    "mlx_closure_custom_apply",
    "mlx_closure_custom_jvp_apply",
    "mlx_closure_custom_vmap_apply",
    "mlx_closure_kwargs_apply",
    "mlx_closure_value_and_grad_apply",
    "mlx_detail_vmap_replace",
    "mlx_detail_vmap_trace",
    "mlx_imported_function_apply",
    "mlx_imported_function_apply_kwargs",
    "mlx_jvp",
    "mlx_vjp",
];

/// Bring arrays in from a file, where the shape of an operation does not already say so.
const LOADINGS: &[&str] = &[
    "mlx_io_gguf_get_array",
    "mlx_io_gguf_get_metadata_array",
    "mlx_load_gguf",
    "mlx_load_safetensors",
    "mlx_load_safetensors_reader",
];

/// Yield arrays, take no stream or name their results otherwise.
const OTHERS: &[&str] = &[
    "mlx_depends",
    "mlx_fast_cuda_kernel_apply",
    "mlx_fast_metal_kernel_apply",
    "mlx_random_key",
];

/// Move handles about: the arrays in them exist already, so there is nothing to see.
const HANDLES: &[&str] = &["mlx_array_new", "mlx_array_set"];

/// Containers of handles: likewise.
const CONTAINERS: &[&str] = &[
    "mlx_map_string_to_array_",
    "mlx_vector_array_",
    "mlx_vector_vector_array_",
];

/// The observed functions among `declarations`, in the order given.
pub fn classify(declarations: &[Declaration]) -> Result<Vec<Function>, ClassifyError> {
    for name in [EVALUATIONS, APPLICATIONS, LOADINGS, OTHERS, HANDLES]
        .into_iter()
        .flatten()
    {
        if !declarations.iter().any(|d| d.name == *name) {
            return Err(ClassifyError::Vanished {
                function: (*name).to_string(),
            });
        }
    }
    let mut functions = Vec::new();
    for declaration in declarations {
        if let Some(class) = class_of(declaration)? {
            functions.push(function(declaration, class)?);
        }
    }
    Ok(functions)
}

/// The class of a function; `None` for one that an observer has no use for.
fn class_of(declaration: &Declaration) -> Result<Option<Class>, ClassifyError> {
    let name = declaration.name.as_str();
    if HANDLES.contains(&name) || CONTAINERS.iter().any(|prefix| name.starts_with(prefix)) {
        return Ok(None);
    }
    for (names, class) in [
        (EVALUATIONS, Class::Evaluation),
        (APPLICATIONS, Class::Application),
        (LOADINGS, Class::Loading),
        (OTHERS, Class::Other),
    ] {
        if names.contains(&name) {
            return Ok(Some(class));
        }
    }
    if name.starts_with("mlx_array_item_") {
        return Ok(Some(Class::Evaluation));
    }
    if name.starts_with("mlx_array_data_") {
        return Ok(Some(Class::Reading));
    }
    if name.starts_with("mlx_array_new_") || name.starts_with("mlx_array_set_") {
        return Ok(Some(Class::Constructor));
    }
    if is_operation(declaration) {
        return Ok(Some(Class::Operation));
    }
    if yields_arrays(declaration) {
        return Err(ClassifyError::Unclassified {
            function: name.to_string(),
        });
    }
    Ok(None)
}

/// An operation writes arrays to its first parameter, called `res`, and takes a stream as its last.
fn is_operation(declaration: &Declaration) -> bool {
    let (Some(first), Some(last)) = (declaration.parameters.first(), declaration.parameters.last()) else {
        return false;
    };
    matches!(first.ty.as_str(), "*mutmlx_array" | "*mutmlx_vector_array")
        && first.name.starts_with("res")
        && last.ty == "mlx_stream"
}

fn yields_arrays(declaration: &Declaration) -> bool {
    let yields = |ty: &str| {
        matches!(
            ty,
            "*mutmlx_array"
                | "*mutmlx_vector_array"
                | "*mutmlx_vector_vector_array"
                | "*mutmlx_map_string_to_array"
        )
    };
    declaration.parameters.iter().any(|p| yields(&p.ty)) || declaration.returns == "mlx_array"
}

fn function(declaration: &Declaration, class: Class) -> Result<Function, ClassifyError> {
    let mut results = Vec::new();
    if declaration.returns == "mlx_array" {
        results.push(Output::Returned);
    }
    let mut arguments = Vec::new();
    let mut parameters = declaration.parameters.iter().peekable();
    while let Some(parameter) = parameters.next() {
        match parameter.ty.as_str() {
            "*mutmlx_array" => results.push(Output::Array(parameter.name.clone())),
            "*mutmlx_vector_array" => results.push(Output::Vector(parameter.name.clone())),
            "*mutmlx_map_string_to_array" => results.push(Output::Map(parameter.name.clone())),
            _ => {
                let (kind, sliced) = kind_of(declaration, parameter, class)?;
                let length = if sliced {
                    let expected = format!("{}_num", parameter.name);
                    match parameters.next_if(|next| next.name == expected) {
                        Some(next) => Some(next.name.clone()),
                        None => {
                            return Err(ClassifyError::NoLength {
                                function: declaration.name.clone(),
                                parameter: parameter.name.clone(),
                            })
                        }
                    }
                } else {
                    None
                };
                arguments.push(Argument {
                    name: parameter.name.clone(),
                    kind,
                    length,
                });
            }
        }
    }
    Ok(Function {
        class,
        declaration: declaration.clone(),
        results,
        arguments,
    })
}

/// The kind of a parameter, and whether it is a pointer that a length follows.
fn kind_of(
    declaration: &Declaration,
    parameter: &Parameter,
    class: Class,
) -> Result<(Kind, bool), ClassifyError> {
    let kind = match parameter.ty.as_str() {
        "mlx_array" => Kind::Array,
        "mlx_vector_array" => Kind::Arrays,
        "mlx_map_string_to_array" => Kind::ArrayMap,
        "bool" => Kind::Bool,
        "::std::os::raw::c_int" => Kind::Int,
        "u64" => Kind::Uint64,
        "usize" => Kind::Size,
        "f32" => Kind::Float,
        "f64" => Kind::Double,
        "mlx_dtype" => Kind::Dtype,
        "mlx_fft_norm" => Kind::FftNorm,
        "*const::std::os::raw::c_char" => Kind::Text,
        "mlx_optional_int" => Kind::OptionalInt,
        "mlx_optional_float" => Kind::OptionalFloat,
        "mlx_optional_dtype" => Kind::OptionalDtype,
        "mlx_stream" => Kind::Stream,
        // A constructor's shape has its length in `dim`; the result carries both, so neither is taken apart.
        "*const::std::os::raw::c_int" if class == Class::Constructor => Kind::Opaque,
        "*const::std::os::raw::c_int" => return Ok((Kind::Ints, true)),
        "*consti64" => return Ok((Kind::Int64s, true)),
        "mlx_distributed_group" | "mlx_io_reader" => Kind::Opaque,
        other if class == Class::Operation => {
            return Err(ClassifyError::UnknownType {
                function: declaration.name.clone(),
                parameter: parameter.name.clone(),
                ty: other.to_string(),
            })
        }
        _ => Kind::Opaque,
    };
    Ok((kind, false))
}
