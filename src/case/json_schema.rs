//! The grammar as a JSON schema, by which an editor completes a case while it is written.

use super::names::Names;
use super::schema::CaseFile;
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

/// Puts `words` in place of the plain text at `pointer`, keeping its description.
fn offer(schema: &mut Value, pointer: &str, mut words: Value) {
    if let Some(place) = schema.pointer_mut(pointer) {
        if let (Some(description), Some(words)) = (place.get("description").cloned(), words.as_object_mut()) {
            words.insert("description".to_owned(), description);
        }
        *place = words;
    }
}
