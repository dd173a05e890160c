//! The table of capabilities in the docs is the one in the code.

use mlx_assay::capability::{Capability, CAPABILITIES};
use std::fmt::Write as _;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/capabilities.md");

/// `can` for claims, `cannot` for refusals, each sorted by id.
fn table() -> String {
    let mut text = String::from("| capability | claim | refused with |\n|---|---|---|\n");
    let (can, cannot): (Vec<&Capability>, Vec<&Capability>) = CAPABILITIES.iter().partition(|row| row.flag);
    for row in can {
        let code = row.refusal.map_or(String::new(), |code| format!("`{code}`"));
        let _ = writeln!(text, "| `{}` | {} | {code} |", row.id, row.sentence);
    }
    text.push_str("\n| limit | what is not done | refused with | instead |\n|---|---|---|---|\n");
    for row in cannot {
        let code = row.refusal.map_or("", |code| code.name());
        let _ = writeln!(
            text,
            "| `{}` | {} | `{code}` | {} |",
            row.id, row.sentence, row.remedy
        );
    }
    text
}

#[test]
fn the_page_lists_what_the_code_claims() {
    let page = std::fs::read_to_string(PAGE).expect("docs/capabilities.md is there");
    let (head, listed) = page.split_at(page.find("| capability |").unwrap_or(page.len()));
    if listed != table() && std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, format!("{head}{}", table())).expect("docs/capabilities.md can be written");
        return;
    }
    assert!(
        listed == table(),
        "docs/capabilities.md is not the table of src/capability.rs; \
         `UPDATE_DOCS=1 cargo test --test suite the_page_lists` writes it anew"
    );
}
