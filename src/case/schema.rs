//! The grammar of a case file, as serde types.
//!
//! A file computes one thing, said in one of three ways: `op:` (one function over a matrix), `model:` (one layer,
//! possibly nested), or `layers:` with `forward:` and `outputs:` (layers called step by step). Unknown keys are
//! errors. Text that begins with `$` stands for the value of a matrix axis.

use super::arguments::Arguments;
use super::data::View;
use super::date::Date;
use super::fill::Fill;
use super::spec::Spec;
use super::value::Value;
use crate::capability::RefusalCode;
use crate::vocabulary::{DType, Decision, DeviceKind, Reason, State};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, value::MapAccessDeserializer, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A case: what is computed from which inputs, and what must come out.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "mlx-assay case")]
pub struct CaseFile {
    /// Ids of the capabilities that this case gives evidence for.
    pub covers: Vec<String>,
    /// Where all random draws begin: fills and layers' parameters. 0 if left out.
    pub seed: u64,
    /// What goes in, by name and in order.
    pub inputs: IndexMap<String, InputFile>,

    /// One function; `dtype`, `shape`, `view`, `fill` and `args` bind to its operands.
    pub op: Option<String>,
    /// For `op:`: the operands' element type.
    pub dtype: Option<DType>,
    /// For `op:`: the operands' shape, or one shape for each operand.
    pub shape: Option<OperandShapes>,
    /// For `op:`: how the operands lie in memory.
    pub view: Option<View>,
    /// For `op:`: what the operands are filled with.
    pub fill: Option<Fill>,
    /// For `op:`: the function's other arguments, by name.
    pub args: Option<BTreeMap<String, Value>>,

    /// One layer, called with all inputs.
    pub model: Option<Spec>,

    /// Layers by name, for the steps of `forward:`; each may be called any number of times, or never.
    pub layers: IndexMap<String, Spec>,
    /// Steps, in order: `- result: {layer or function: arguments}`.
    pub forward: Vec<StepFile>,
    /// Names of the values that come out. The last step's result if left out.
    pub outputs: Vec<String>,

    /// How the case is captured.
    pub session: Session,
    /// Axes, and the values of each; the case has a cell for every combination.
    pub matrix: IndexMap<String, Vec<Value>>,
    /// Combinations that make no sense: axis values, or lists of them.
    pub exclude: Vec<Selection>,
    /// What must come out; a list where expectations differ between cells.
    pub expect: Expectations,
    /// Known failures, each with why and until when.
    pub expected_fail: Vec<ExpectedFail>,
}

/// A selection of cells: for each axis named, one value or a list of those that match.
pub type Selection = BTreeMap<String, Value>;

/// An input as written.
#[derive(Clone, Debug)]
pub enum InputFile {
    /// An array.
    Array(ArrayFile),
    /// A number or bool that stays one.
    Scalar(Value),
    /// A list of inputs: `[..]` or `{list: [..]}`.
    List(Vec<InputFile>),
    /// Inputs by name: `{map: {..}}`.
    Map(IndexMap<String, InputFile>),
}

/// An array as written: by value, or by shape and fill.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArrayFile {
    /// Element type; float32 if left out.
    pub dtype: Option<Bound<DType>>,
    /// Extents, outermost first; `[]` is a scalar.
    pub shape: Option<Bound<Vec<i64>>>,
    /// The elements: a number, or nested lists of them.
    pub value: Option<Value>,
    /// What to fill with; `normal`, or small integers, if left out.
    pub fill: Option<Bound<Fill>>,
    /// How the array lies in memory; `plain` if left out.
    pub view: Option<Bound<View>>,
}

/// A value as written, or the axis that has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound<T> {
    /// Written in place.
    Here(T),
    /// `$axis`.
    Axis(String),
}

/// For `op:`, one shape for all operands or one for each.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandShapes {
    /// `[3, 4]`.
    All(Vec<i64>),
    /// `[[3, 4], [4]]`.
    Each(Vec<Vec<i64>>),
}

/// A step as written: `result: {callee: arguments}`.
#[derive(Clone, Debug)]
pub struct StepFile {
    /// The result's name.
    pub name: String,
    /// The layer or function.
    pub callee: String,
    /// What it is called with.
    pub arguments: Arguments,
}

/// How a case is captured.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Session {
    /// What happens when an operation outside the recorded surface takes part.
    pub unwrapped: Unwrapped,
    /// Which payloads the trace keeps.
    pub payloads: Payloads,
    /// The device the case needs; on any other its cells are skipped, which is never evidence.
    pub device: Option<DeviceKind>,
    /// Results to replace, by op label.
    pub intervene: BTreeMap<String, Value>,
    /// The op label after which the forward stops.
    pub halt: Option<String>,
    /// Functions of mlx-c that the recorder pretends not to know: a seam for tests of the recorder.
    pub hide: Vec<String>,
}

/// What happens when an operation outside the recorded surface takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unwrapped {
    /// The trace says so and is never `passed`.
    #[default]
    Warn,
    /// The capture ends with a typed error.
    Refuse,
}

/// Which payloads a trace keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Payloads {
    /// All of them, so that everything can be replayed.
    #[default]
    All,
    /// None.
    None,
}

/// The expectations of a case: one map, or a list of maps of which each cell meets some.
#[derive(Clone, Debug, Default)]
pub enum Expectations {
    /// Nothing is expected: an error, since nothing could fail.
    #[default]
    Nothing,
    /// `expect: {...}`.
    One(Box<Expectation>),
    /// `expect: [...]`.
    Many(Vec<Expectation>),
}

/// What must come out of the cells that it selects.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Expectation {
    /// The cells meant; all if left out.
    #[serde(rename = "where")]
    pub cells: Selection,
    /// The trace's state; `passed` if neither this nor `refusal` or `error` is given.
    pub state: Option<State>,
    /// The ops' names, in order, inputs first.
    pub ops: Option<Vec<String>>,
    /// Parents of ops, by label: `gelu_1: [linear_1]`.
    pub parents: BTreeMap<String, Vec<String>>,
    /// Decisions by op label: `verified`, or `{unproven: perturbation_insensitive}`.
    pub decisions: BTreeMap<String, DecisionFile>,
    /// Module records by address; the model itself is `""`.
    pub modules: BTreeMap<String, ModuleExpectation>,
    /// Outputs, in order; `{}` claims nothing about one.
    pub outputs: Option<Vec<OutputExpectation>>,
    /// Whether the outputs' values must equal the reference.
    pub reference: bool,
    /// Every output's element type: one, or a map from the cell's `dtype` to it; `same` is the cell's own.
    pub dtype: Option<ResultDType>,
    /// The code with which the backend must refuse.
    pub refusal: Option<RefusalCode>,
    /// Text that the error's message must contain.
    pub error: Option<String>,
}

/// A decision as written: alone, or with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionFile {
    /// The decision.
    pub decision: Decision,
    /// The reason, if one is claimed.
    pub reason: Option<Reason>,
}

/// What a module's record must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModuleExpectation {
    /// The class, such as `Linear`; a list of modules is `list`.
    pub class: Option<String>,
    /// How many times it was called.
    pub calls: Option<u32>,
    /// The names of its own parameters, in any order.
    pub parameters: Option<Vec<String>>,
}

/// What one output must be.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputExpectation {
    /// Extents, outermost first.
    pub shape: Option<Vec<i32>>,
    /// Element type.
    pub dtype: Option<DType>,
    /// The elements: a number, or nested lists of them.
    pub values: Option<Value>,
    /// How far the elements may lie from `values`; equal to the last bit if left out.
    pub tolerance: Option<Tolerance>,
    /// Why the tolerance is right.
    pub because: Option<String>,
}

/// How far a found element may lie from an expected one: `absolute + relative * |expected|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tolerance {
    /// The share that does not depend on the element.
    pub absolute: f64,
    /// The share that grows with the expected element.
    pub relative: f64,
}

/// Every output's element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultDType {
    /// The same rule in every cell.
    Always(DTypeRule),
    /// By the cell's own `dtype`; `else` for those not named.
    ByDType {
        /// The element types named.
        named: BTreeMap<DType, DTypeRule>,
        /// All others.
        otherwise: Option<DTypeRule>,
    },
}

/// One element type, or the operands' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DTypeRule {
    /// `same`: the cell's own.
    Same,
    /// This one.
    Is(DType),
}

/// A known failure.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFail {
    /// The cells meant; all if left out.
    #[serde(rename = "where", default)]
    pub cells: Selection,
    /// Which verdict fails.
    pub check: Check,
    /// Why it fails, in a few words.
    pub because: String,
    /// Where it is reported.
    pub issue: String,
    /// When it was entered.
    pub opened: Date,
    /// When somebody must look again.
    pub expires: Date,
}

/// One of the two verdicts of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Is the record true?
    Record,
    /// Is MLX's value right?
    Value,
}

impl Check {
    /// `record` or `value`.
    pub const fn name(self) -> &'static str {
        match self {
            Check::Record => "record",
            Check::Value => "value",
        }
    }
}

impl Expectations {
    /// The expectations, in order.
    pub fn items(&self) -> &[Expectation] {
        match self {
            Expectations::Nothing => &[],
            Expectations::One(one) => std::slice::from_ref(one),
            Expectations::Many(many) => many,
        }
    }
}

impl Expectation {
    /// Whether it claims anything that decides the value verdict: about outputs, but not how many there are.
    pub fn claims_values(&self) -> bool {
        let of_output = |output: &OutputExpectation| *output != OutputExpectation::default();
        self.reference || self.dtype.is_some() || self.outputs.iter().flatten().any(of_output)
    }
}

impl ResultDType {
    /// The element type claimed for a cell whose own is `own`; `None` where nothing is claimed.
    pub fn resolve(&self, own: DType) -> Option<DType> {
        let rule = match self {
            ResultDType::Always(rule) => Some(rule),
            ResultDType::ByDType { named, otherwise } => named.get(&own).or(otherwise.as_ref()),
        };
        rule.map(|rule| match rule {
            DTypeRule::Same => own,
            DTypeRule::Is(dtype) => *dtype,
        })
    }
}

// What serde cannot derive: words that come alone or with more beside them. Each is a visitor and not an untagged
// enum, because an untagged enum loses the reason why none of its variants fits.

impl<'de> Deserialize<'de> for InputFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InputVisitor;
        impl<'de> Visitor<'de> for InputVisitor {
            type Value = InputFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an input: `{shape: [2, 3], fill: normal}`, `{value: [1.0, 2.0]}`, a number, or a list of inputs")
            }
            fn visit_bool<E>(self, value: bool) -> Result<InputFile, E> {
                Ok(InputFile::Scalar(Value::Bool(value)))
            }
            fn visit_i64<E>(self, value: i64) -> Result<InputFile, E> {
                Ok(InputFile::Scalar(Value::Int(value)))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<InputFile, E> {
                let value =
                    i64::try_from(value).map_err(|_| E::custom(format!("{value} is above {}", i64::MAX)))?;
                Ok(InputFile::Scalar(Value::Int(value)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<InputFile, E> {
                Ok(InputFile::Scalar(Value::Float(value)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<InputFile, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(InputFile::List(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<InputFile, A::Error> {
                let mut array = ArrayFile::default();
                while let Some(key) = access.next_key::<InputKey>()? {
                    match key {
                        InputKey::List => return alone(access, InputFile::List, "list"),
                        InputKey::Map => return alone(access, InputFile::Map, "map"),
                        InputKey::Dtype => array.dtype = Some(access.next_value()?),
                        InputKey::Shape => array.shape = Some(access.next_value()?),
                        InputKey::Value => array.value = Some(access.next_value()?),
                        InputKey::Fill => array.fill = Some(access.next_value()?),
                        InputKey::View => array.view = Some(access.next_value()?),
                    }
                }
                Ok(InputFile::Array(array))
            }
        }
        deserializer.deserialize_any(InputVisitor)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum InputKey {
    Dtype,
    Shape,
    Value,
    Fill,
    View,
    List,
    Map,
}

/// The content of a map that may have one key only.
fn alone<'de, A: MapAccess<'de>, T: Deserialize<'de>, R>(
    mut access: A,
    wrap: impl FnOnce(T) -> R,
    key: &str,
) -> Result<R, A::Error> {
    let content = access.next_value()?;
    match access.next_key::<String>()? {
        None => Ok(wrap(content)),
        Some(second) => Err(de::Error::custom(format!(
            "`{key}` stands alone, but `{second}` follows it"
        ))),
    }
}

impl<'de, T: de::DeserializeOwned> Deserialize<'de> for Bound<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BoundVisitor<T>(PhantomData<T>);
        impl<'de, T: de::DeserializeOwned> Visitor<'de> for BoundVisitor<T> {
            type Value = Bound<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or `$axis`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bound<T>, E> {
                match text.strip_prefix('$') {
                    Some(axis) => Ok(Bound::Axis(axis.to_owned())),
                    None => T::deserialize(de::value::StrDeserializer::new(text)).map(Bound::Here),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Bound<T>, A::Error> {
                T::deserialize(de::value::SeqAccessDeserializer::new(access)).map(Bound::Here)
            }
            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Bound<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(access)).map(Bound::Here)
            }
        }
        deserializer.deserialize_any(BoundVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for OperandShapes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        OperandShapes::from_value(&value).ok_or_else(|| {
            de::Error::custom(format!(
                "{value} is not a shape; write [3, 4], or one for each operand: [[3, 4], [4]]"
            ))
        })
    }
}

impl OperandShapes {
    /// The shapes that a value spells.
    pub fn from_value(value: &Value) -> Option<Self> {
        let items = value.as_list()?;
        if items.is_empty() || items.iter().all(|item| item.as_int().is_some()) {
            return Some(OperandShapes::All(
                items.iter().filter_map(Value::as_int).collect(),
            ));
        }
        let each = items
            .iter()
            .map(|item| item.as_list()?.iter().map(Value::as_int).collect());
        each.collect::<Option<Vec<Vec<i64>>>>().map(OperandShapes::Each)
    }
}

impl<'de> Deserialize<'de> for StepFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StepVisitor;
        impl<'de> Visitor<'de> for StepVisitor {
            type Value = StepFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a step, as in `y: {power: [x, 2.0]}`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<StepFile, A::Error> {
                let Some((name, call)) = access.next_entry::<String, Call>()? else {
                    return Err(de::Error::custom(
                        "a step needs a result's name, as in `y: {power: [x, 2.0]}`",
                    ));
                };
                match access.next_key::<String>()? {
                    None => Ok(StepFile {
                        name,
                        callee: call.callee,
                        arguments: call.arguments,
                    }),
                    Some(second) => Err(de::Error::custom(format!(
                        "a step has one result, but `{second}` follows `{name}`; begin another list item"
                    ))),
                }
            }
        }
        deserializer.deserialize_map(StepVisitor)
    }
}

/// `{callee: arguments}`.
struct Call {
    callee: String,
    arguments: Arguments,
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallVisitor;
        impl<'de> Visitor<'de> for CallVisitor {
            type Value = Call;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a layer or function with its arguments, as in `{power: [x, 2.0]}`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Call, A::Error> {
                let Some((callee, arguments)) = access.next_entry()? else {
                    return Err(de::Error::custom(
                        "a step calls something, as in `y: {power: [x, 2.0]}`",
                    ));
                };
                match access.next_key::<String>()? {
                    None => Ok(Call { callee, arguments }),
                    Some(second) => Err(de::Error::custom(format!(
                        "a step calls one thing, but `{second}` follows `{callee}`; begin another step"
                    ))),
                }
            }
        }
        deserializer.deserialize_map(CallVisitor)
    }
}

impl<'de> Deserialize<'de> for Expectations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ExpectationsVisitor;
        impl<'de> Visitor<'de> for ExpectationsVisitor {
            type Value = Expectations;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("what must come out, as in `{state: passed}`, or a list of such")
            }
            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Expectations, A::Error> {
                let one = Expectation::deserialize(MapAccessDeserializer::new(access))?;
                Ok(Expectations::One(Box::new(one)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Expectations, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(Expectations::Many(items))
            }
        }
        deserializer.deserialize_any(ExpectationsVisitor)
    }
}

impl<'de> Deserialize<'de> for DecisionFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DecisionVisitor;
        impl<'de> Visitor<'de> for DecisionVisitor {
            type Value = DecisionFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decision, as in `verified` or `{unproven: perturbation_insensitive}`")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<DecisionFile, E> {
                let decision = Decision::deserialize(de::value::StrDeserializer::new(name))?;
                Ok(DecisionFile {
                    decision,
                    reason: None,
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<DecisionFile, A::Error> {
                let Some((name, reason)) = access.next_entry::<String, Reason>()? else {
                    return Err(de::Error::custom(
                        "a decision is missing, as in `{unproven: perturbation_insensitive}`",
                    ));
                };
                let decision = Decision::deserialize(de::value::StrDeserializer::<A::Error>::new(&name))?;
                match access.next_key::<String>()? {
                    None => Ok(DecisionFile {
                        decision,
                        reason: Some(reason),
                    }),
                    Some(second) => Err(de::Error::custom(format!(
                        "an op has one decision, but `{second}` follows"
                    ))),
                }
            }
        }
        deserializer.deserialize_any(DecisionVisitor)
    }
}

impl<'de> Deserialize<'de> for DTypeRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == "same" {
            return Ok(DTypeRule::Same);
        }
        DType::named(&name).map(DTypeRule::Is).ok_or_else(|| {
            let known: Vec<&str> = std::iter::once("same")
                .chain(DType::ALL.iter().map(|it| it.name()))
                .collect();
            de::Error::custom(format!(
                "unknown element type `{name}`, expected one of `{}`",
                known.join("`, `")
            ))
        })
    }
}

impl<'de> Deserialize<'de> for ResultDType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ResultVisitor;
        impl<'de> Visitor<'de> for ResultVisitor {
            type Value = ResultDType;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an element type, `same`, or a map as in `{bool: int32, else: same}`")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<ResultDType, E> {
                DTypeRule::deserialize(de::value::StrDeserializer::new(name)).map(ResultDType::Always)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<ResultDType, A::Error> {
                let (mut named, mut otherwise) = (BTreeMap::new(), None);
                while let Some(key) = access.next_key::<String>()? {
                    let rule = access.next_value()?;
                    if key == "else" {
                        otherwise = Some(rule);
                    } else {
                        let dtype = DType::deserialize(de::value::StrDeserializer::<A::Error>::new(&key))?;
                        named.insert(dtype, rule);
                    }
                }
                Ok(ResultDType::ByDType { named, otherwise })
            }
        }
        deserializer.deserialize_any(ResultVisitor)
    }
}

/// Gives a type whose deserialization is written by hand the schema that says the same.
macro_rules! schema {
    ($type:ty, $name:literal, |$generator:ident| $schema:tt) => {
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

schema!(InputFile, "Input", |g| {
    "description": "an array by value or by fill, a number, a list of inputs, or inputs by name",
    "anyOf": [
        g.subschema_for::<ArrayFile>(),
        {"type": ["number", "boolean"]},
        {"type": "array", "items": g.subschema_for::<InputFile>()},
        {
            "type": "object", "required": ["list"], "additionalProperties": false,
            "properties": {"list": {"type": "array", "items": g.subschema_for::<InputFile>()}}
        },
        {
            "type": "object", "required": ["map"], "additionalProperties": false,
            "properties": {"map": {"type": "object", "additionalProperties": g.subschema_for::<InputFile>()}}
        }
    ]
});
schema!(OperandShapes, "OperandShapes", |_g| {
    "description": "one shape for all operands, or a list with one for each",
    "anyOf": [
        {"type": "array", "items": {"type": "integer", "minimum": 0}},
        {"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 0}}}
    ]
});
schema!(StepFile, "Step", |g| {
    "description": "one result's name, and the layer or function with its arguments",
    "type": "object", "minProperties": 1, "maxProperties": 1,
    "additionalProperties": {
        "type": "object", "minProperties": 1, "maxProperties": 1,
        "additionalProperties": g.subschema_for::<Arguments>()
    }
});
schema!(Expectations, "Expectations", |g| {
    "anyOf": [
        g.subschema_for::<Expectation>(),
        {"type": "array", "items": g.subschema_for::<Expectation>()}
    ]
});
schema!(DecisionFile, "DecisionWithReason", |g| {
    "description": "a decision, alone or with its reason",
    "anyOf": [
        g.subschema_for::<Decision>(),
        {
            "type": "object", "minProperties": 1, "maxProperties": 1,
            "propertyNames": g.subschema_for::<Decision>(),
            "additionalProperties": g.subschema_for::<Reason>()
        }
    ]
});
schema!(DTypeRule, "DTypeRule", |g| {
    "anyOf": [{"const": "same"}, g.subschema_for::<DType>()]
});
schema!(ResultDType, "ResultDType", |g| {
    "description": "every output's element type, or a map from the cell's own to it",
    "anyOf": [
        g.subschema_for::<DTypeRule>(),
        {
            "type": "object",
            "properties": {"else": g.subschema_for::<DTypeRule>()},
            "additionalProperties": g.subschema_for::<DTypeRule>()
        }
    ]
});

impl<T: JsonSchema> JsonSchema for Bound<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Bound_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let here = generator.subschema_for::<T>();
        schemars::json_schema!({"anyOf": [here, {"type": "string", "pattern": "^\\$"}]})
    }
}
