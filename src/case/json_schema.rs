//! The grammar as a JSON schema, by which an editor completes a case while it is written.

use super::names::{Names, Parameter, Signature, Takes};
use super::schema::CaseFile;
use super::spec::CONTAINERS;
use serde_json::{json, Value};

/// Where the schema lies, relative to the root.
pub const FILE: &str = "cases/schema.json";

/// The schema's text, with the names that exist where a case names a function or a capability.
pub fn text(names: &Names) -> serde_json::Result<String> {
    let mut schema = serde_json::to_value(schemars::schema_for!(CaseFile))?;
    let functions: Vec<&str> = names.functions.iter().map(|it| it.name).collect();
    if !functions.is_empty() {
        offer(
            &mut schema,
            "/properties/op",
            json!({"anyOf": [{"enum": functions}, {"type": "null"}]}),
        );
    }
    offer_arguments(&mut schema, names);
    offer_layers(&mut schema, names);
    let capabilities: Vec<&str> = names.capabilities.iter().map(|it| it.id).collect();
    offer(
        &mut schema,
        "/properties/covers/items",
        json!({"enum": capabilities}),
    );
    let mut text = serde_json::to_string_pretty(&schema)?;
    text.push('\n');
    Ok(text)
}

/// For each function the names and kinds of its arguments, where `op:` names it.
fn offer_arguments(schema: &mut Value, names: &Names) {
    let rules: Vec<Value> = names
        .functions
        .iter()
        .map(|function| {
            json!({
                "if": {"properties": {"op": {"const": function.name}}, "required": ["op"]},
                "then": {"properties": {"args": arguments(function, function.parameters.iter())}}
            })
        })
        .collect();
    if let (Some(schema), false) = (schema.as_object_mut(), rules.is_empty()) {
        schema.insert("allOf".to_owned(), Value::Array(rules));
    }
}

/// For each layer the names and kinds of its settings.
fn offer_layers(schema: &mut Value, names: &Names) {
    let Some(kinds) = schema
        .pointer_mut("/$defs/Layer/oneOf")
        .and_then(Value::as_array_mut)
    else {
        return;
    };
    let [plain, with_settings] = &mut kinds[..] else {
        return;
    };
    if names.layers.is_empty() {
        return;
    }
    let words: Vec<&str> = names
        .layers
        .iter()
        .map(|it| it.name)
        .chain(CONTAINERS.iter().copied())
        .collect();
    *plain = json!({"enum": words});
    if let Some(properties) = with_settings
        .pointer_mut("/properties")
        .and_then(Value::as_object_mut)
    {
        for layer in names.layers {
            properties.insert(layer.name.to_owned(), arguments(layer, layer.settings()));
        }
    }
    if let Some(with_settings) = with_settings.as_object_mut() {
        with_settings.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// A map of arguments by name; text anywhere may stand for an axis, and nothing at all for no arguments.
fn arguments(signature: &Signature, parameters: impl Iterator<Item = &'static Parameter>) -> Value {
    let properties: serde_json::Map<String, Value> = parameters
        .map(|parameter| {
            let types = match parameter.takes {
                Takes::Int => json!(["integer", "string"]),
                Takes::Float => json!(["number", "string"]),
                Takes::Bool => json!(["boolean", "string"]),
                Takes::DType | Takes::Text => json!("string"),
                Takes::Ints | Takes::Pairs => json!(["array", "integer", "string"]),
                Takes::Array => json!(["string", "number", "boolean"]),
                Takes::Arrays => json!(["array", "string"]),
                Takes::Index => json!(["array", "integer", "string"]),
            };
            let about = json!({"type": types, "description": parameter.takes.wanted()});
            (parameter.name.to_owned(), about)
        })
        .collect();
    json!({
        "type": ["object", "null", "string"],
        "description": signature.to_string(),
        "properties": properties,
        "additionalProperties": false
    })
}

/// Puts `words` in place of the plain text at `pointer`, keeping its description.
fn offer(schema: &mut Value, pointer: &str, mut words: Value) {
    if let Some(place) = schema.pointer_mut(pointer) {
        if let (Some(description), Some(words)) = (place.get("description").cloned(), words.as_object_mut()) {
            words.insert("description".to_owned(), description);
        }
        *place = words;
    }
}
