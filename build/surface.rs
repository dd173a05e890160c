//! The public surface of mlx-rs, read from the source that this build compiles: what the coverage counts against.
//!
//! The list is made anew by every build that has another lock file, so that an upgrade of mlx-rs shows by itself what
//! the suite lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// What mlx-rs offers, by path and kind, and which functions of mlx-c it calls.
#[derive(Default)]
pub struct Surface {
    /// Path within mlx-rs and kind.
    pub items: BTreeMap<String, &'static str>,
    /// Functions of mlx-c.
    pub calls: BTreeSet<String>,
}

/// The modules whose functions compute arrays.
const MODULES: &[&str] = &[
    "ops",
    "ops::indexing",
    "ops::windows",
    "fft",
    "linalg",
    "fast",
    "random",
    "losses",
    "nn",
    "optimizers",
    "transforms",
    "transforms::compile",
];

/// The types whose own methods are counted one by one.
const TYPES: &[&str] = &["Array", "RandomState"];

/// Reads the mlx-rs that the lock file names.
pub fn read() -> Result<Surface, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(&manifest)
        .other_options(["--locked".to_owned(), "--offline".to_owned()])
        .exec()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let package = metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == "mlx-rs");
    let package = package.ok_or("mlx-rs is not among the dependencies")?;
    let target = package.targets.iter().find(|target| target.is_lib());
    let root = PathBuf::from(&target.ok_or("mlx-rs has no library")?.src_path);
    let mut surface = Surface::default();
    surface.file(&root, root.parent().unwrap_or(&root), "")?;
    Ok(surface)
}

impl Surface {
    /// A file's items under a public path, and those of the modules that it publishes.
    fn file(&mut self, file: &Path, folder: &Path, path: &str) -> Result<(), String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        Calls(&mut self.calls).visit_file(&parsed);
        self.all(&parsed.items, folder, path)
    }

    fn all(&mut self, items: &[syn::Item], folder: &Path, path: &str) -> Result<(), String> {
        let opened: BTreeSet<String> = items.iter().filter_map(opened_module).collect();
        for item in items {
            match item {
                syn::Item::Mod(module) if module.content.is_none() && !hidden(&module.attrs) => {
                    let name = module.ident.to_string();
                    let public = matches!(module.vis, syn::Visibility::Public(_));
                    let below = match (public, opened.contains(&name)) {
                        (true, _) => join(path, &name),
                        // What is behind a private module is still read, for the functions of mlx-c it calls, and for the
                        // methods of public types.
                        (false, true) => path.to_owned(),
                        (false, false) => join(path, &format!("{name}!")),
                    };
                    let (own, inside) = (folder.join(format!("{name}.rs")), folder.join(&name));
                    let file = if own.exists() { own } else { inside.join("mod.rs") };
                    self.file(&file, &inside, &below)?;
                }
                item => self.item(item, path),
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String, kind: &'static str) {
        if !path.contains('!') {
            self.items.entry(path).or_insert(kind);
        }
    }

    fn item(&mut self, item: &syn::Item, path: &str) {
        match item {
            syn::Item::Fn(function) if offered(&function.vis, &function.attrs) => {
                let name = function.sig.ident.to_string();
                let name = match name.strip_suffix("_device") {
                    // The plain form is made by an attribute.
                    Some(plain) if has(&function.attrs, "default_device") => plain.to_owned(),
                    Some(_) => return,
                    None => name,
                };
                if MODULES.contains(&path) || path.is_empty() {
                    self.add(join(path, &name), "function");
                }
            }
            syn::Item::Impl(block) => self.block(block, path),
            syn::Item::Struct(it)
                if path == "nn" && derives(&it.attrs, "ModuleParameters") && offered(&it.vis, &it.attrs) =>
            {
                self.add(join(path, &it.ident.to_string()), "layer");
            }
            syn::Item::Trait(it) if path == "ops::indexing" && offered(&it.vis, &it.attrs) => {
                for method in &it.items {
                    if let syn::TraitItem::Fn(method) = method {
                        let name = method.sig.ident.to_string();
                        if name.starts_with("try_") && !name.ends_with("_device") {
                            self.add(join(path, &name), "function");
                        }
                    }
                }
            }
            syn::Item::Macro(call) if call.ident.is_none() => self.invocation(call, path),
            _ => {}
        }
    }

    fn block(&mut self, block: &syn::ItemImpl, path: &str) {
        let Some(of) = named_type(&block.self_ty) else {
            return;
        };
        match &block.trait_ {
            None => {
                for item in &block.items {
                    let syn::ImplItem::Fn(method) = item else { continue };
                    let name = method.sig.ident.to_string();
                    if !offered(&method.vis, &method.attrs) || name.ends_with("_device") {
                        continue;
                    }
                    if TYPES.contains(&of.as_str()) {
                        self.items.entry(format!("{of}::{name}")).or_insert("method");
                    } else if path == "losses" && name == "apply" {
                        self.add(join(path, &of), "loss");
                    }
                }
            }
            Some((_, implemented, _)) => {
                let Some(last) = implemented.segments.last() else {
                    return;
                };
                let name = last.ident.to_string();
                let operator = ["Neg", "Not", "Sum", "Product"].contains(&name.as_str());
                if name == "Optimizer" && path == "optimizers" {
                    self.add(join(path, &of), "optimizer");
                } else if operator && of == "Array" {
                    self.items.entry(format!("Array as {name}")).or_insert("operator");
                }
            }
        }
    }

    /// A macro of mlx-rs's own that makes items.
    fn invocation(&mut self, call: &syn::ItemMacro, path: &str) {
        let name = call
            .mac
            .path
            .segments
            .last()
            .map(|it| it.ident.to_string())
            .unwrap_or_default();
        if name.starts_with("impl_binary_op") {
            if let Some(proc_macro2::TokenTree::Ident(implemented)) =
                call.mac.tokens.clone().into_iter().next()
            {
                self.items
                    .entry(format!("Array as {implemented}"))
                    .or_insert("operator");
            }
        } else if let Ok(inner) = syn::parse2::<syn::File>(call.mac.tokens.clone()) {
            for item in &inner.items {
                // What the builder's macro makes parameters of is told by its attribute.
                if let syn::Item::Struct(it) = item {
                    if path == "nn" && derives(&it.attrs, "ModuleParameters") {
                        self.add(join(path, &it.ident.to_string()), "layer");
                    }
                }
                self.item(item, path);
            }
        }
    }
}

/// The private module that a `pub use module::*` opens.
fn opened_module(item: &syn::Item) -> Option<String> {
    let syn::Item::Use(it) = item else { return None };
    match (&it.vis, &it.tree) {
        (syn::Visibility::Public(_), syn::UseTree::Path(path)) => match &*path.tree {
            syn::UseTree::Glob(_) => Some(path.ident.to_string()),
            _ => None,
        },
        _ => None,
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}::{name}")
    }
}

/// Public, not deprecated, not for tests or documentation only.
fn offered(visibility: &syn::Visibility, attributes: &[syn::Attribute]) -> bool {
    matches!(visibility, syn::Visibility::Public(_)) && !hidden(attributes) && !has(attributes, "deprecated")
}

fn has(attributes: &[syn::Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

fn hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        (attribute.path().is_ident("cfg") && text.contains("test"))
            || (attribute.path().is_ident("doc") && text == "hidden")
    })
}

fn derives(attributes: &[syn::Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if attribute.path().is_ident("derive") => {
            list.tokens.to_string().split([',', ' ']).any(|it| it == name)
        }
        _ => false,
    })
}

/// The name of the type that a block is for, references aside.
fn named_type(of: &syn::Type) -> Option<String> {
    match of {
        syn::Type::Path(path) => path.path.segments.last().map(|it| it.ident.to_string()),
        syn::Type::Reference(it) => named_type(&it.elem),
        _ => None,
    }
}

/// Collects `mlx_sys::function` wherever it stands, also inside macros.
struct Calls<'a>(&'a mut BTreeSet<String>);

impl Calls<'_> {
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Ident(it) if it.to_string().starts_with("mlx_") => {
                    self.0.insert(it.to_string());
                }
                proc_macro2::TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_ident(&mut self, it: &'ast proc_macro2::Ident) {
        let name = it.to_string();
        if name.starts_with("mlx_") {
            self.0.insert(name);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        syn::visit::visit_macro(self, call);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !hidden(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }
}
