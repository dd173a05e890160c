//! A case's program, built and run under a session.

use indexmap::IndexMap;
use mlx_rs::error::Exception;
use mlx_rs::{ops, random, transforms, Array, Device, Stream};

use super::arguments::{Bound, Values};
use super::array::{data_of, from_data, to_array};
use super::error::ModelError;
use super::functions;
use super::host;
use super::layers::{self, build};
use super::module::Built;
use crate::backends;
use crate::capture::containers::Naming;
use crate::capture::{
    module_scope, CaptureError, CaptureInputs, CaptureOutputs, CompilePolicy, Edit, Named, PayloadPolicy,
    ScopeKind, Selector, Session, Trace, TraceError, UnwrappedPolicy,
};
use crate::case::arguments::Arguments;
use crate::case::cell::{Cell, Program, Step};
use crate::case::data::{ArraySpec, Data, GivenAs, Input, View};
use crate::case::fill::nudged;
use crate::case::intervention::{Intervention, Place};
use crate::case::names::stands_for;
use crate::case::payloads::Payloads;
use crate::case::schema::{Compile, On, Unwrapped};
use crate::case::value::Value;
use crate::vocabulary::DType;

/// A cell's inputs as arrays, each by its path.
#[derive(Debug, Clone)]
pub struct Inputs(Vec<(String, Array)>);

impl Inputs {
    /// The inputs as the case says.
    ///
    /// # Errors
    ///
    /// MLX's.
    pub fn new(inputs: &IndexMap<String, Input>) -> Result<Self, ModelError> {
        Self::made(inputs, &|spec| spec.data(), &|spec| to_array(spec))
    }

    /// The inputs slightly changed, each still of its type and in its range.
    ///
    /// # Errors
    ///
    /// MLX's.
    pub fn nudged(inputs: &IndexMap<String, Input>) -> Result<Self, ModelError> {
        let data = |spec: &ArraySpec| nudged(&spec.data(), spec.dtype);
        Self::made(inputs, &data, &|spec| {
            from_data(&data(spec), &spec.shape, spec.dtype, spec.view)
        })
    }

    fn made(
        inputs: &IndexMap<String, Input>,
        data: &dyn Fn(&ArraySpec) -> Data,
        make: &dyn Fn(&ArraySpec) -> Result<Array, Exception>,
    ) -> Result<Self, ModelError> {
        let mut arrays = Vec::new();
        let make = |path: &str, spec: &ArraySpec| match spec.given_as {
            GivenAs::Array => {
                make(spec).map_err(|error| ModelError::mlx(format!("making input {path}"), &error))
            }
            given_as => host::to_array(path, given_as, &data(spec), &spec.shape, spec.dtype),
        };
        for (name, input) in inputs {
            collect(name.clone(), input, &make, &mut arrays)?;
        }
        Ok(Self(arrays))
    }

    /// Whether the arrays can still be computed with, and hold what the case says.
    ///
    /// # Errors
    ///
    /// Which one is not what it was, or cannot be used.
    pub fn unharmed(&self, inputs: &IndexMap<String, Input>) -> Result<(), String> {
        let fresh = Self::new(inputs).map_err(|error| format!("the inputs cannot be made again: {error}"))?;
        for ((path, array), (_, fresh)) in self.0.iter().zip(&fresh.0) {
            let copied = mlx_rs::ops::stack(&[array], 0).and_then(|copy| copy.eval().map(|()| copy));
            let copied = copied.map_err(|error| format!("the input {path} cannot be used: {error}"))?;
            // NaN equals NaN here, by its spelling.
            let spelled = |array: &Array| data_of(array).ok().map(|data| format!("{data:?}"));
            if spelled(&copied) != spelled(fresh) {
                return Err(format!("the input {path} is not what it was"));
            }
        }
        Ok(())
    }

    fn values(&self) -> Values {
        self.0.iter().cloned().collect()
    }
}

fn collect(
    path: String,
    input: &Input,
    make: &dyn Fn(&str, &ArraySpec) -> Result<Array, ModelError>,
    arrays: &mut Vec<(String, Array)>,
) -> Result<(), ModelError> {
    match input {
        Input::Array(spec) => {
            let array = make(&path, spec)?;
            arrays.push((path, array));
        }
        Input::List(items) => {
            for (place, item) in items.iter().enumerate() {
                collect(format!("{path}.{place}"), item, make, arrays)?;
            }
        }
        Input::Map(entries) => {
            for (key, item) in entries {
                collect(format!("{path}.{key}"), item, make, arrays)?;
            }
        }
        Input::Int(_) | Input::Float(_) | Input::Bool(_) => {}
    }
    Ok(())
}

impl CaptureInputs for Inputs {
    fn visit_inputs(&self, _path: &str, found: &mut dyn FnMut(String, &Array)) {
        for (path, array) in &self.0 {
            found(path.clone(), array);
        }
    }
}

/// A trace that another capture's forward gives back: none of its arrays are outputs.
struct Apart(Trace);

impl CaptureOutputs for Apart {
    fn visit_outputs(&self, _path: &str, _found: &mut dyn FnMut(String, &Array)) {}
}

/// A cell's program, its layers built.
pub struct Model<'a> {
    cell: &'a Cell,
    /// The declared layers by name; the one layer of `model:` has the empty name.
    layers: IndexMap<String, Built>,
}

impl<'a> Model<'a> {
    /// Builds the layers, their parameters drawn from the cell's seed and evaluated.
    ///
    /// # Errors
    ///
    /// See [`build`].
    pub fn build(cell: &'a Cell) -> Result<Self, ModelError> {
        random::seed(cell.seed).map_err(|error| ModelError::mlx("seeding", &error))?;
        let mut layers = IndexMap::new();
        match &cell.program {
            Program::Model(spec) => {
                layers.insert(String::new(), build(spec)?);
            }
            Program::Forward { layers: declared, .. } => {
                for (name, spec) in declared {
                    layers.insert(name.clone(), build(spec)?);
                }
            }
        }
        for built in layers.values() {
            transforms::eval_params(built.parameters())
                .map_err(|error| ModelError::mlx("drawing parameters", &error))?;
        }
        Ok(Self { cell, layers })
    }

    /// Captures one forward as far as it goes, whatever ends it.
    ///
    /// # Errors
    ///
    /// The capture's.
    pub fn partial(&mut self, inputs: &Inputs) -> Result<Trace, CaptureError> {
        self.refuse_unsupported()?;
        self.prepared().attempt(inputs, || self.run(inputs))?.trace
    }

    /// Captures one forward.
    ///
    /// # Errors
    ///
    /// The capture's, or the program's own.
    pub fn capture(&mut self, inputs: &Inputs) -> Result<Trace, TraceError<ModelError>> {
        self.refuse_unsupported()?;
        if self.cell.session.nested {
            return self.capture_nested(inputs);
        }
        self.capture_plainly(inputs)
    }

    /// Captures inside another capture, of the same inputs.
    fn capture_nested(&mut self, inputs: &Inputs) -> Result<Trace, TraceError<ModelError>> {
        let captured = Session::new().run(inputs, || self.capture_plainly(inputs).map(Apart));
        match captured {
            Ok((_outer, Apart(inner))) => Ok(inner),
            Err(TraceError::Model(inner)) => Err(inner),
            Err(TraceError::Capture(outer)) => Err(outer.into()),
        }
    }

    fn capture_plainly(&mut self, inputs: &Inputs) -> Result<Trace, TraceError<ModelError>> {
        let session = self.prepared();
        match &self.cell.session.halt {
            Some(place) => session.run_until(selector_of(place), inputs, || self.run(inputs)),
            None => session
                .run(inputs, || self.run(inputs))
                .map(|(trace, _outputs)| trace),
        }
    }

    /// A session that knows the layers.
    fn prepared(&self) -> Session {
        let mut session = self.session();
        for (name, built) in &self.layers {
            session = session.parameters_at(name, built.parameters());
            session = session.declare_module(name, &built.class);
        }
        session
    }

    fn run(&mut self, inputs: &Inputs) -> Result<Named, ModelError> {
        let cell = self.cell;
        match &cell.program {
            Program::Model(_) => {
                let given = self.run_model(inputs)?;
                let path = |place: usize| match given.len() {
                    1 => String::new(),
                    _ => place.to_string(),
                };
                let paths: Vec<String> = (0..given.len()).map(path).collect();
                Ok(Named(paths.into_iter().zip(given).collect()))
            }
            Program::Forward { steps, outputs, .. } => self.run_steps(steps, outputs, inputs),
        }
    }

    /// What a case may ask for and the capture layer cannot do.
    fn refuse_unsupported(&self) -> Result<(), CaptureError> {
        let asked = &self.cell.session;
        if let Some(name) = &asked.backend {
            backends::spec(name)?;
        }
        Ok(())
    }

    fn session(&self) -> Session {
        let asked = &self.cell.session;
        let session = match asked.call_stacks {
            true => Session::new().ignore_scopes(),
            false => Session::new(),
        };
        let session = session
            .unwrapped(match asked.unwrapped {
                Unwrapped::Warn => UnwrappedPolicy::Warn,
                Unwrapped::Refuse => UnwrappedPolicy::Refuse,
            })
            .payloads(match &asked.payloads {
                Payloads::All => PayloadPolicy::All,
                Payloads::Ops(ops) => {
                    PayloadPolicy::Ops(ops.iter().map(|place| selector_of(place)).collect())
                }
                Payloads::None => PayloadPolicy::None,
            })
            .call_stacks(asked.call_stacks)
            .compile(match asked.compile {
                Compile::Inline => CompilePolicy::Inline,
                Compile::Opaque => CompilePolicy::Opaque,
            })
            .hide(asked.hide.iter().cloned());
        let session = match asked.on {
            On::Default => session,
            On::Gpu => session.stream(Stream::gpu()),
            On::OwnStream => session.stream(Stream::new_with_device(&Device::cpu())),
        };
        asked.intervene.iter().fold(session, |session, (place, edit)| {
            session.intervene(selector_of(place), edit_of(edit))
        })
    }

    fn run_model(&mut self, inputs: &Inputs) -> Result<Vec<Array>, ModelError> {
        let unknown = || ModelError::Unknown {
            what: "layer",
            name: String::new(),
        };
        let Program::Model(spec) = &self.cell.program else {
            return Err(unknown());
        };
        let operands = operands_of(&spec.name, inputs);
        let built = self.layers.values_mut().next().ok_or_else(unknown)?;
        call(built, None, &operands)
    }

    fn run_steps(
        &mut self,
        steps: &[Step],
        outputs: &[String],
        inputs: &Inputs,
    ) -> Result<Named, ModelError> {
        let mut values = inputs.values();
        for step in steps {
            let results = self.run_step(step, &values)?;
            if let [only] = &results[..] {
                values.insert(step.name.clone(), only.clone());
            }
            for (place, result) in results.into_iter().enumerate() {
                values.insert(format!("{}.{place}", step.name), result);
            }
        }
        let mut given = Vec::new();
        for name in outputs {
            let found = arrays_of(name, &values);
            if found.is_empty() {
                return Err(ModelError::Unknown {
                    what: "value",
                    name: name.clone(),
                });
            }
            given.extend(found);
        }
        Ok(Named(given))
    }

    fn run_step(&mut self, step: &Step, values: &Values) -> Result<Vec<Array>, ModelError> {
        let wrong = |error: crate::case::arguments::BindError| ModelError::Mlx {
            doing: step.name.clone(),
            message: error.to_string(),
        };
        if self.layers.contains_key(&step.callee) {
            let layer = self.layer_name(&step.callee);
            let entry = layers::layer(&layer);
            let arguments = match entry {
                Some(entry) => step.arguments.bind_call(&entry.signature).map_err(wrong)?,
                // A container takes one array.
                None => step.arguments.bind_call(&CONTAINER).map_err(wrong)?,
            };
            let signature = entry.map_or(&CONTAINER, |entry| &entry.signature);
            let bound = Bound::new(&step.callee, &arguments, values);
            let operands = signature
                .operands()
                .map(|parameter| bound.optional::<super::arguments::kinds::Array>(parameter.name))
                .collect::<Result<Vec<_>, _>>()?;
            let Some(built) = self.layers.get_mut(&step.callee) else {
                return Err(ModelError::Unknown {
                    what: "layer",
                    name: step.callee.clone(),
                });
            };
            return call(built, Some(&step.callee), &operands);
        }
        call_function(&step.callee, &step.arguments, values)
    }

    /// The table's name of a declared layer.
    fn layer_name(&self, declared: &str) -> String {
        match &self.cell.program {
            Program::Forward { layers, .. } => layers
                .get(declared)
                .map(|spec| spec.name.clone())
                .unwrap_or_default(),
            Program::Model(spec) => spec.name.clone(),
        }
    }
}

/// A case's place as the session takes it.
fn selector_of(place: &str) -> Selector {
    match Place::read(place) {
        Some(Place::Name(name)) => Selector::Name(name.to_owned()),
        Some(Place::Module(address)) => Selector::Module(address.to_owned()),
        // Nothing else passes the check of a case.
        Some(Place::Label(_)) | None => Selector::Label(place.to_owned()),
    }
}

/// A case's edit as the session takes it.
fn edit_of(intervention: &Intervention) -> Edit {
    let told = |error: ModelError| Exception::custom(error.to_string());
    match intervention {
        Intervention::Fill(number) => {
            let number = *number as f32;
            Edit::With(Box::new(move |result| {
                let number = Array::from_f32(number).as_dtype(result.dtype())?;
                ops::broadcast_to(number, result.shape())
            }))
        }
        Intervention::Scale(number) => Edit::Scale(*number as f32),
        Intervention::Add(number) => Edit::Add(*number as f32),
        Intervention::Replace { shape, data } => {
            let (shape, data) = (shape.clone(), data.clone());
            Edit::With(Box::new(move |_| {
                from_data(&data, &shape, DType::Float32, View::Plain)
            }))
        }
        Intervention::Call(name) => {
            let name = name.clone();
            Edit::With(Box::new(move |result| {
                let values = Values::from([("result".to_owned(), result.clone())]);
                let arguments = Arguments::Positional(vec![Value::Text("result".to_owned())]);
                let made = call_function(&name, &arguments, &values).map_err(told)?;
                let count = made.len();
                let only = || Exception::custom(format!("{name} has {count} results"));
                made.into_iter().next().filter(|_| count == 1).ok_or_else(only)
            }))
        }
    }
}

/// Calls a function of the tables.
fn call_function(name: &str, arguments: &Arguments, values: &Values) -> Result<Vec<Array>, ModelError> {
    let function = functions::function(name).ok_or_else(|| ModelError::Unknown {
        what: "function",
        name: name.to_owned(),
    })?;
    let arguments = arguments
        .bind(&function.signature)
        .map_err(|error| ModelError::Mlx {
            doing: name.to_owned(),
            message: error.to_string(),
        })?;
    // Operators and methods are recorded as the functions they stand for.
    module_scope(ScopeKind::Function(stands_for(name).to_owned()), None, || {
        (function.call)(&Bound::new(name, &arguments, values))
    })
}

/// The array of a name, or those of its parts, in order, where it has several; each with its own name.
fn arrays_of(name: &str, values: &Values) -> Vec<(String, Array)> {
    match values.get(name) {
        Some(array) => vec![(name.to_owned(), array.clone())],
        None => (0..)
            .map_while(|place| {
                let part = format!("{name}.{place}");
                let array = values.get(&part).cloned()?;
                Some((part, array))
            })
            .collect(),
    }
}

/// The inputs as a layer takes them: by name where it takes several, the only one by any name.
fn operands_of(layer: &str, inputs: &Inputs) -> Vec<Option<Array>> {
    let parameters: Vec<_> = layers::layer(layer)
        .map(|entry| entry.signature.operands().collect())
        .unwrap_or_default();
    let named = |name: &str| {
        let found = inputs.0.iter().find(|(path, _)| path == name);
        found.map(|(_, array)| array.clone())
    };
    match parameters[..] {
        [] | [_] => inputs.0.iter().map(|(_, array)| Some(array.clone())).collect(),
        ref several => several.iter().map(|parameter| named(parameter.name)).collect(),
    }
}

/// What a container's forward takes.
static CONTAINER: crate::case::names::Signature = crate::case::names::Signature::new(
    "container",
    &[crate::case::names::Parameter::required(
        "x",
        crate::case::names::Takes::Array,
    )],
);

/// Calls a layer in its scope.
fn call(built: &mut Built, step: Option<&str>, operands: &[Option<Array>]) -> Result<Vec<Array>, ModelError> {
    let kind = match built.naming {
        Naming::Op => ScopeKind::Module(built.class.clone()),
        Naming::Container => ScopeKind::Container(built.class.clone()),
    };
    module_scope(kind, step, || built.forward(operands))
}
