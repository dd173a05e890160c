//! The two routes by which a call is computed again.

use mlx_rs::{Array, Dtype};
use mlx_sys::function::{Argument, Returned, Role};
use mlx_sys::invoke::invoke;
use mlx_sys::raw::{self, mlx_vector_array};

use crate::capture::{Call, Recorded, Trace, Value, ValueId};
use crate::graph;

use super::decision::Operand;

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The function, through `invoke`.
    Function,
    /// The primitives that MLX's graph held.
    Graph,
}

impl Route {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Graph => "graph",
        }
    }
}

/// What stands in for the saved payload at one place.
#[derive(Debug, Clone)]
pub(super) struct StandIn {
    pub(super) operand: Operand,
    pub(super) value: ValueId,
    pub(super) array: Array,
}

/// Which arrays stand in for saved payloads.
#[derive(Clone, Copy)]
pub(super) enum Substitution<'a> {
    /// At some places of the function, or at none; for the graph, which knows values only, that of a value's first place.
    Places(&'a [StandIn]),
    /// For values, wherever they are read.
    Everywhere(&'a [(ValueId, Array)]),
}

impl<'a> Substitution<'a> {
    fn for_value(self, wanted: ValueId) -> Option<&'a Array> {
        match self {
            Self::Places(stand_ins) => stand_ins.iter().find(|it| it.value == wanted).map(|it| &it.array),
            Self::Everywhere(pairs) => pairs
                .iter()
                .find(|(value, _)| *value == wanted)
                .map(|(_, array)| array),
        }
    }

    fn for_place(self, place: Operand, wanted: ValueId) -> Option<&'a Array> {
        match self {
            Self::Places(stand_ins) => stand_ins
                .iter()
                .find(|it| it.operand == place)
                .map(|it| &it.array),
            Self::Everywhere(_) => self.for_value(wanted),
        }
    }
}

/// A stream of this thread for each device kind, made when first needed.
pub(super) struct Streams {
    cpu: raw::mlx_stream,
    gpu: Option<raw::mlx_stream>,
}

impl Streams {
    pub(super) fn new() -> Self {
        // SAFETY: a fresh handle of the thread's default stream, freed on drop.
        Self {
            cpu: unsafe { raw::mlx_default_cpu_stream_new() },
            gpu: None,
        }
    }

    /// Whether this machine has a device of the kind.
    pub(super) fn has(device: raw::mlx_device_type) -> bool {
        if device == raw::mlx_device_type__MLX_CPU {
            return true;
        }
        let mut count = 0;
        // SAFETY: a plain look-up; it fails where MLX was built without the kind.
        let status = unsafe { raw::mlx_device_count(&mut count, device) };
        status == 0 && count > 0
    }

    fn of(&mut self, device: raw::mlx_device_type) -> raw::mlx_stream {
        if device == raw::mlx_device_type__MLX_CPU {
            return self.cpu;
        }
        // SAFETY: as above; asked for only where a call ran on a GPU, so that there is one.
        *self
            .gpu
            .get_or_insert_with(|| unsafe { raw::mlx_default_gpu_stream_new() })
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        // SAFETY: freed once.
        unsafe {
            raw::mlx_stream_free(self.cpu);
            if let Some(gpu) = self.gpu {
                raw::mlx_stream_free(gpu);
            }
        }
    }
}

/// Whether the function can be called again: it is invocable, and a random one names its key (without a key MLX
/// draws from its own process-wide state).
pub(super) fn has_function_route(call: &Call) -> bool {
    let function = call.function();
    let device_is_here = |argument: &Recorded| match argument {
        Recorded::Stream(key) => Streams::has(key.device),
        _ => true,
    };
    function.is_invocable()
        && call.arguments().iter().all(device_is_here)
        && function
            .parameters
            .iter()
            .zip(call.arguments())
            .all(|(parameter, argument)| !(parameter.role == Role::Key && *argument == Recorded::Array(None)))
}

/// Computes a call again, lazily, with one operand replaced or none.
///
/// # Errors
///
/// MLX's message. The payloads of all operands must be there.
pub(super) fn replay(
    trace: &Trace,
    call: &Call,
    route: Route,
    streams: &mut Streams,
    substitution: Substitution<'_>,
) -> Result<Vec<Array>, String> {
    match route {
        Route::Function => by_function(trace.values(), call, streams, substitution),
        Route::Graph => by_graph(trace, call, substitution),
    }
}

fn payload(values: &[Value], value: ValueId) -> Result<&Array, String> {
    values
        .get(value.index())
        .and_then(Value::payload)
        .ok_or_else(|| "an operand's payload was not kept".to_string())
}

/// MLX throws text, and no exception, where gather or scatter get boolean indices, and mlx-c catches exceptions only. No
/// healthy call has them: its own run would have ended.
fn boolean_indices(values: &[Value], call: &Call) -> bool {
    let function = call.function();
    if !function.name.starts_with("mlx_scatter") && !function.name.starts_with("mlx_gather") {
        return false;
    }
    let indices = function.parameters.iter().zip(call.arguments());
    indices
        .filter(|(parameter, _)| parameter.role == Role::Index)
        .flat_map(|(_, argument)| argument.operands())
        .any(|value| {
            values
                .get(value.index())
                .is_some_and(|value| value.dtype() == Dtype::Bool)
        })
}

/// Lists made for one call, freed after it.
struct Lists(Vec<mlx_vector_array>);

impl Drop for Lists {
    fn drop(&mut self) {
        for list in &self.0 {
            // SAFETY: made below, freed once.
            unsafe { raw::mlx_vector_array_free(*list) };
        }
    }
}

/// Computes a call again through its function, from the payloads of `values`.
///
/// # Errors
///
/// As [`replay`].
pub(super) fn by_function(
    values: &[Value],
    call: &Call,
    streams: &mut Streams,
    substitution: Substitution<'_>,
) -> Result<Vec<Array>, String> {
    let at = |argument: usize, place: usize, value: ValueId| match substitution
        .for_place(Operand { argument, place }, value)
    {
        Some(array) => Ok(array),
        None => payload(values, value),
    };
    if boolean_indices(values, call) {
        return Err("MLX refuses boolean indices here in a way that ends the process".to_string());
    }
    let mut lists = Lists(Vec::new());
    let mut views = Vec::with_capacity(call.arguments().len());
    for (index, argument) in call.arguments().iter().enumerate() {
        views.push(match argument {
            Recorded::Array(None) => Argument::Array(raw::mlx_array {
                ctx: std::ptr::null_mut(),
            }),
            Recorded::Array(Some(value)) => Argument::Array(at(index, 0, *value)?.as_ptr()),
            Recorded::Arrays(operands) => {
                let handles = operands
                    .iter()
                    .enumerate()
                    .map(|(place, value)| at(index, place, *value).map(Array::as_ptr))
                    .collect::<Result<Vec<_>, _>>()?;
                // SAFETY: valid handles; the list takes handles of its own.
                let list = unsafe { raw::mlx_vector_array_new_data(handles.as_ptr(), handles.len()) };
                lists.0.push(list);
                Argument::Arrays(list)
            }
            Recorded::Bool(it) => Argument::Bool(*it),
            Recorded::Int(it) => Argument::Int(*it),
            Recorded::Uint64(it) => Argument::Uint64(*it),
            Recorded::Size(it) => Argument::Size(*it),
            Recorded::Float(it) => Argument::Float(*it),
            Recorded::Double(it) => Argument::Double(*it),
            Recorded::Dtype(it) => Argument::Dtype(*it),
            Recorded::FftNorm(it) => Argument::FftNorm(*it),
            Recorded::Text(it) => Argument::Text(it.as_deref().map(std::ffi::CString::as_c_str)),
            Recorded::Ints(it) => Argument::Ints(it.as_deref()),
            Recorded::Int64s(it) => Argument::Int64s(it.as_deref()),
            Recorded::OptionalInt(it) => Argument::OptionalInt(*it),
            Recorded::OptionalFloat(it) => Argument::OptionalFloat(*it),
            Recorded::OptionalDtype(it) => Argument::OptionalDtype(*it),
            Recorded::Stream(key) => Argument::Stream(streams.of(key.device)),
            Recorded::Opaque => Argument::Opaque,
        });
    }
    // SAFETY: all handles are valid for the call, and the streams are this thread's.
    let returned = unsafe { invoke(call.function(), &views) }.map_err(|error| error.to_string())?;
    let mut results = Vec::with_capacity(returned.len());
    for result in returned {
        // SAFETY: `invoke` gives owned handles; a list's arrays get handles of their own before it is freed.
        unsafe {
            match result {
                Returned::Array(array) => results.push(Array::from_ptr(array)),
                Returned::Arrays(list) => {
                    results.extend(graph::list(list).map(|array| graph::share(array)));
                    raw::mlx_vector_array_free(list);
                }
            }
        }
    }
    Ok(results)
}

fn by_graph(trace: &Trace, call: &Call, substitution: Substitution<'_>) -> Result<Vec<Array>, String> {
    let subgraph = trace.subgraph(call).ok_or("MLX's graph was not read")?;
    let boundary = subgraph
        .boundary()
        .into_iter()
        .map(|number| {
            let value = ValueId(number);
            match substitution.for_value(value) {
                Some(array) => Ok(array),
                None => payload(trace.values(), value),
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    subgraph.replay(&boundary).map_err(|error| error.to_string())
}
