//! bindgen's `extern "C"` items as plain data.

use quote::ToTokens;

/// One C function, as bindgen declares it.
#[derive(Debug, Clone)]
pub struct Declaration {
    pub name: String,
    pub parameters: Vec<Parameter>,
    /// The return type, without white space; empty for none.
    pub returns: String,
    pub signature: syn::Signature,
}

/// One parameter of a C function.
#[derive(Debug, Clone)]
pub struct Parameter {
    pub name: String,
    /// The Rust type, without white space: `*mutmlx_array`, `::std::os::raw::c_int`.
    pub ty: String,
}

/// Why the bindings could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DeclarationError {
    #[error("the generated bindings do not parse as Rust")]
    Parse(#[from] syn::Error),
    #[error("a parameter of {function} has no name, so that no argument of it could be recorded")]
    Unnamed { function: String },
}

/// All functions of mlx-c in `source` (names that start with `mlx_` or `_mlx_`), in the order of their names.
pub fn read(source: &str) -> Result<Vec<Declaration>, DeclarationError> {
    let file = syn::parse_file(source)?;
    let mut found = Vec::new();
    for item in file.items {
        let syn::Item::ForeignMod(block) = item else {
            continue;
        };
        for item in block.items {
            let syn::ForeignItem::Fn(function) = item else {
                continue;
            };
            let name = function.sig.ident.to_string();
            // `mlx_graph_` is this crate's own C++ file, read by hand-written Rust.
            if !name.trim_start_matches('_').starts_with("mlx_") || name.starts_with("mlx_graph_") {
                continue;
            }
            found.push(declaration(name, function.sig)?);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn declaration(name: String, signature: syn::Signature) -> Result<Declaration, DeclarationError> {
    let mut parameters = Vec::new();
    for input in &signature.inputs {
        let syn::FnArg::Typed(typed) = input else {
            return Err(DeclarationError::Unnamed { function: name });
        };
        let syn::Pat::Ident(ident) = &*typed.pat else {
            return Err(DeclarationError::Unnamed { function: name });
        };
        parameters.push(Parameter {
            name: ident.ident.to_string(),
            ty: compact(&typed.ty),
        });
    }
    let returns = match &signature.output {
        syn::ReturnType::Default => String::new(),
        syn::ReturnType::Type(_, ty) => compact(ty),
    };
    Ok(Declaration {
        name,
        parameters,
        returns,
        signature,
    })
}

fn compact(ty: &syn::Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}
