//! From an address in the program to what lies there: the function, and the line of whoever called mlx-rs.
//!
//! Functions come from the symbol table, where each has its full name with or without debug information; lines come from
//! debug information. A program's file is read once per thread, and each address looked up once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use addr2line::Loader;
use rustc_hash::FxHashMap;

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as the compiler was given it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What lies at an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// What the function means to a trace.
    pub(super) role: Role,
    /// The innermost line there that is neither mlx-rs's nor the standard library's.
    pub(super) source: Option<SourceLine>,
    /// Whether anything is known of lines there, also of mlx-rs's.
    pub(super) has_lines: bool,
    /// Whether the function is neither mlx-rs's nor the standard library's.
    pub(super) is_outside: bool,
    /// Whether the function only watches the call.
    pub(super) watches: bool,
}

/// What a function means to a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing.
    #[default]
    None,
    /// The forward of a module, by its class.
    Module(String),
    /// The forward of what holds a module or its quantized form, and is none itself.
    Holder(String),
    /// A function that names its calls.
    Function(&'static str),
    /// A function of `mlx_rs::nn` or a loss, by its own name.
    Named(String),
}

thread_local! {
    static FILES: RefCell<HashMap<PathBuf, Option<Rc<Loader>>>> = RefCell::default();
    static PLACES: RefCell<FxHashMap<usize, Rc<Place>>> = RefCell::default();
}

/// What lies at the call before a return address.
pub(super) fn place(address: usize) -> Rc<Place> {
    if let Some(known) = PLACES.with_borrow(|places| places.get(&address).cloned()) {
        return known;
    }
    let found = Rc::new(look_up(address.wrapping_sub(1)).unwrap_or_default());
    PLACES.with_borrow_mut(|places| places.insert(address, found.clone()));
    found
}

fn look_up(address: usize) -> Option<Place> {
    let (file, base) = object(address)?;
    let loader = loader(&file)?;
    let probe = (address - base) as u64 + loader.relative_address_base();
    let symbol = loader
        .find_symbol(probe)
        .map(|it| format!("{:#}", rustc_demangle::demangle(it)));
    let mut place = Place::default();
    if let Some(symbol) = &symbol {
        place.role = role(symbol);
        place.is_outside = is_outside(symbol);
        place.watches = watches(symbol);
    }
    if let Ok(mut frames) = loader.find_frames(probe) {
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else {
                continue;
            };
            if let (Some(file), Some(line)) = (location.file, location.line) {
                place.has_lines = true;
                if place.source.is_none() && !is_library(Path::new(file)) {
                    place.source = Some(SourceLine {
                        file: file.into(),
                        line,
                    });
                }
            }
        }
    }
    Some(place)
}

fn loader(file: &Path) -> Option<Rc<Loader>> {
    FILES.with_borrow_mut(|files| {
        let read = || Loader::new(file).ok().map(Rc::new);
        files.entry(file.to_path_buf()).or_insert_with(read).clone()
    })
}

/// The file that an address of this process was loaded from, and where it begins.
fn object(address: usize) -> Option<(PathBuf, usize)> {
    let of = |address: usize| {
        let mut found = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        // SAFETY: any address may be asked for, and the structure is ours to be filled.
        let known = unsafe { libc::dladdr(address as *const _, &mut found) } != 0;
        (known && !found.dli_fname.is_null()).then_some(found)
    };
    let found = of(address)?;
    let base = found.dli_fbase as usize;
    // The program itself goes by the name that it was started under, which need not lead to it from here.
    let own = of(object as fn(usize) -> Option<(PathBuf, usize)> as usize);
    if own.is_some_and(|own| own.dli_fbase as usize == base) {
        if let Ok(program) = std::env::current_exe() {
            return Some((program, base));
        }
    }
    // SAFETY: the loader's own text, which stays as long as the object does; this address keeps it.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some((PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())), base))
}

/// What a function's full name says.
fn role(symbol: &str) -> Role {
    if let Some(class) = module_class(symbol) {
        let name = last(class).to_string();
        return match class {
            HOLDER => Role::Holder(name),
            _ => Role::Module(name),
        };
    }
    if symbol.starts_with("mlx_rs::ops::indexing::") || symbol.contains(" as mlx_rs::ops::indexing::") {
        let function = last(symbol);
        let indexes = ["index", "try_index", "index_device", "try_index_device"].contains(&function)
            || symbol.contains("::index_impl::get_item");
        let writes = function.starts_with("index_mut")
            || function.starts_with("try_index_mut")
            || symbol.contains("::indexmut_impl::");
        return match (indexes, writes) {
            (_, true) => Role::Function("setitem"),
            (true, _) => Role::Function("getitem"),
            _ => Role::None,
        };
    }
    // A loss is a type with `apply`; an activation is a function.
    if let Some(loss) = symbol.strip_prefix("mlx_rs::losses::") {
        return match loss.strip_suffix("::apply") {
            Some(class) => Role::Named(super::super::op::snake_case(last(class))),
            None => Role::None,
        };
    }
    match symbol.strip_prefix("mlx_rs::nn::") {
        Some(path) if path.matches("::").count() == 1 && !path.contains(['<', '{']) => {
            Role::Named(last(path).to_string())
        }
        _ => Role::None,
    }
}

/// The class, with its path, of a module whose forward a function is: `<mlx_rs::nn::linear::Linear as
/// mlx_rs::module::module::Module<&mlx_rs::array::Array>>::forward` is of `Linear`.
fn module_class(symbol: &str) -> Option<&str> {
    let implementation = symbol.strip_suffix(">::forward")?.strip_prefix('<')?;
    let (class, of) = split_as(implementation)?;
    let of = without_arguments(of);
    if !(of.starts_with("mlx_rs::module::") && of.ends_with("::Module")) {
        return None;
    }
    let class = without_arguments(class);
    // A box or a reference is not the module itself.
    (!class.starts_with(['&', '*', '(', '[']) && !class.starts_with("alloc::")).then_some(class)
}

/// What mlx-rs holds a layer in that may be quantized.
const HOLDER: &str = "mlx_rs::quantization::MaybeQuantized";

/// A path without its generic arguments.
fn without_arguments(path: &str) -> &str {
    path.split('<').next().unwrap_or(path)
}

/// The two sides of `T as Trait`, at the outermost level.
fn split_as(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_i32;
    for (place, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            ' ' if depth == 0 && text[place..].starts_with(" as ") => {
                return Some((&text[..place], &text[place + 4..]));
            }
            _ => {}
        }
    }
    None
}

/// The last segment of a path.
fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Whether a function is neither mlx-rs's, nor the standard library's, nor what watches.
fn is_outside(symbol: &str) -> bool {
    let path = symbol
        .trim_start_matches(['<', '&', '*'])
        .trim_start_matches("mut ");
    let inside = [
        "mlx_rs::",
        "mlx_sys::",
        "mlx_assay::",
        "core::",
        "alloc::",
        "std::",
        "mlx_",
        "__",
    ];
    !inside.iter().any(|name| path.starts_with(name)) && path.contains("::")
}

/// Whether a function is one of those between a call and its record.
fn watches(symbol: &str) -> bool {
    let path = symbol.trim_start_matches('<');
    ["mlx_assay::capture::", "mlx_sys::", "backtrace::"]
        .iter()
        .any(|name| path.starts_with(name))
}

/// Whether a file is mlx-rs's or the standard library's, or one of those that run a forward.
fn is_library(file: &Path) -> bool {
    const RUNS: [&str; 2] = ["src/capture/session.rs", "src/capture/scope.rs"];
    let text = file.to_string_lossy();
    if RUNS.iter().any(|run| text.ends_with(run)) {
        return true;
    }
    let steps = || file.components().map(|it| it.as_os_str().to_string_lossy());
    text.starts_with("/rustc/")
        || text.contains("/rustlib/src/rust/")
        // What a build generates lies in a folder of the crate's name and a digest.
        || steps().any(|it| {
            it == "mlx-sys" || ["mlx-rs", "mlx-sys-", "backtrace-"].iter().any(|name| it.starts_with(name))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_says_what_it_is_to_a_trace() {
        let cases = [
            (
                "<mlx_rs::nn::linear::Linear as mlx_rs::module::module::Module<&mlx_rs::array::Array>>::forward",
                Role::Module("Linear".into()),
            ),
            (
                "<app::Block<app::Inner<u8>> as mlx_rs::module::module::Module<(u8, u8)>>::forward",
                Role::Module("Block".into()),
            ),
            (
                "<alloc::boxed::Box<dyn mlx_rs::module::UnaryModule> as mlx_rs::module::module::Module<u8>>::forward",
                Role::None,
            ),
            (
                "<mlx_rs::quantization::MaybeQuantized<M> as mlx_rs::module::module::Module<Input>>::forward",
                Role::Holder("MaybeQuantized".into()),
            ),
            ("<app::Block as app::Other>::forward", Role::None),
            ("app::forward", Role::None),
            ("mlx_rs::ops::indexing::TryIndexOp::try_index", Role::Function("getitem")),
            ("mlx_rs::ops::indexing::index_impl::get_item_index", Role::Function("getitem")),
            ("mlx_rs::ops::indexing::<impl mlx_rs::array::Array>::take_axis", Role::None),
            ("mlx_rs::nn::activation::gelu", Role::Named("gelu".into())),
            ("mlx_rs::nn::activation::gelu::{{closure}}", Role::None),
            ("mlx_rs::losses::CrossEntropy::apply", Role::Named("cross_entropy".into())),
            ("mlx_rs::ops::arithmetic::addmm", Role::None),
        ];
        for (symbol, wanted) in cases {
            assert_eq!(role(symbol), wanted, "{symbol}");
        }
    }

    #[test]
    fn what_is_outside_is_the_models_own() {
        assert!(is_outside("app::model::run"));
        assert!(is_outside(
            "<app::Block as mlx_rs::module::module::Module<u8>>::forward"
        ));
        for inside in [
            "<mlx_rs::nn::Linear as mlx_rs::module::Module<u8>>::forward",
            "<&core::x as std::y>::z",
            "mlx_add",
        ] {
            assert!(!is_outside(inside), "{inside}");
        }
        assert!(is_library(Path::new(
            "/home/me/.cargo/registry/src/index/mlx-rs-0.33.0/src/ops/mod.rs"
        )));
        assert!(is_library(Path::new(
            "/home/me/app/target/debug/build/mlx-sys-c5650f7c5b9c94e5/out/observed.rs"
        )));
        assert!(is_library(Path::new(
            "/rustc/59807616/library/core/src/ops/function.rs"
        )));
        assert!(!is_library(Path::new("/home/me/app/src/main.rs")));
    }
}
