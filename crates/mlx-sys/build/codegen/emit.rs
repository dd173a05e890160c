//! Writes the wrappers, the table of functions and the replay entry points.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::classify::{Argument, Class, Function, Kind, Output};
use super::roles::Assigned;

/// The text of `observed.rs`, which `src/lib.rs` includes at the crate's root.
pub fn emit(functions: &[Function], roles: &Assigned) -> Result<String, syn::Error> {
    let mut items = TokenStream::new();
    let count = functions.len();
    let rows = functions
        .iter()
        .zip(roles)
        .enumerate()
        .map(|(index, (function, roles))| row(index, function, roles));
    items.extend(quote! {
        /// Every observed function, in the order of their names; a function's index is its place here.
        pub static FUNCTIONS: [crate::function::Function; #count] = [#(#rows),*];
    });
    for (index, function) in functions.iter().enumerate() {
        items.extend(wrapper(index, function));
    }
    let replays = functions.iter().filter(|f| is_invocable(f)).map(replay);
    items.extend(quote! {
        /// One entry point a replayable function: arguments by position, results appended to `results`.
        mod replays {
            use crate::function::{Argument, Returned};
            use crate::invoke::MISMATCH;
            use crate::raw;
            #(#replays)*
        }
    });
    Ok(prettyplease::unparse(&syn::parse2(items)?))
}

fn row(index: usize, function: &Function, roles: &[&'static str]) -> TokenStream {
    let name = &function.declaration.name;
    let class = format_ident!("{}", format!("{:?}", function.class));
    let parameters = function.arguments.iter().zip(roles).map(|(argument, role)| {
        let name = &argument.name;
        let kind = format_ident!("{}", format!("{:?}", argument.kind));
        let role = format_ident!("{role}");
        quote!(crate::function::Parameter {
            name: #name,
            kind: crate::function::Kind::#kind,
            role: crate::function::Role::#role,
        })
    });
    let results = function.results.iter().map(|result| match result {
        Output::Array(_) | Output::Returned => quote!(crate::function::ResultKind::Array),
        Output::Vector(_) => quote!(crate::function::ResultKind::Arrays),
        Output::Map(_) => quote!(crate::function::ResultKind::ArrayMap),
    });
    let invoke = if is_invocable(function) {
        let entry = format_ident!("{name}");
        quote!(Some(replays::#entry))
    } else {
        quote!(None)
    };
    quote!(crate::function::Function {
        index: #index,
        name: #name,
        class: crate::function::Class::#class,
        parameters: &[#(#parameters),*],
        results: &[#(#results),*],
        invoke: #invoke,
    })
}

/// A function can be replayed if all that it reads can be recorded and all that it yields comes back as arrays.
fn is_invocable(function: &Function) -> bool {
    // A closure's applications are never replayed by function; evaluations and readings yield no arrays; a file
    // may have changed since.
    matches!(function.class, Class::Operation | Class::Constructor | Class::Other)
        && !function.declaration.name.starts_with("mlx_load")
        && function.arguments.iter().all(|a| !matches!(a.kind, Kind::Opaque | Kind::ArrayMap))
        && function.results.iter().all(|r| !matches!(r, Output::Map(_)))
        // `mlx_array_set_*` writes into a handle that the caller holds; its `new` twin replays the same value.
        && !function.declaration.name.starts_with("mlx_array_set_")
}

fn wrapper(index: usize, function: &Function) -> TokenStream {
    let signature = &function.declaration.signature;
    let name = &signature.ident;
    let inputs = &signature.inputs;
    let output = &signature.output;
    let names: Vec<_> = function
        .declaration
        .parameters
        .iter()
        .map(|p| format_ident!("{}", p.name))
        .collect();
    let views = function.arguments.iter().map(view);
    let outputs = function.results.iter().map(|result| match result {
        Output::Array(name) => {
            let name = format_ident!("{name}");
            quote!(crate::function::Output::Array(#name))
        }
        Output::Vector(name) => {
            let name = format_ident!("{name}");
            quote!(crate::function::Output::Arrays(#name))
        }
        Output::Map(name) => {
            let name = format_ident!("{name}");
            quote!(crate::function::Output::ArrayMap(#name))
        }
        Output::Returned => quote!(crate::function::Output::Array(&raw mut returned)),
    });
    let observed = match function.declaration.returns.as_str() {
        "::std::os::raw::c_int" => quote! {
            crate::observe::call(
                &FUNCTIONS[#index],
                &[#(#views),*],
                &mut [#(#outputs),*],
                &mut || unsafe { raw::#name(#(#names),*) },
            )
        },
        "mlx_array" => quote! {
            let mut returned = raw::mlx_array { ctx: ::std::ptr::null_mut() };
            let place = &raw mut returned;
            crate::observe::call(
                &FUNCTIONS[#index],
                &[#(#views),*],
                &mut [#(#outputs),*],
                &mut || unsafe {
                    *place = raw::#name(#(#names),*);
                    0
                },
            );
            returned
        },
        // A pointer to an array's data: null where an observer refused.
        _ => quote! {
            let mut returned = ::std::ptr::null();
            crate::observe::call(
                &FUNCTIONS[#index],
                &[#(#views),*],
                &mut [#(#outputs),*],
                &mut || {
                    returned = unsafe { raw::#name(#(#names),*) };
                    0
                },
            );
            returned
        },
    };
    quote! {
        /// As in mlx-c; shown to this thread's observer.
        ///
        /// # Safety
        ///
        /// As for the C function: valid handles, and pointers to as much as they are said to point to.
        // The C function's own arguments, however many.
        #[allow(clippy::too_many_arguments)]
        #[inline]
        pub unsafe extern "C" fn #name(#inputs) #output {
            if !crate::observe::is_observed() {
                return unsafe { raw::#name(#(#names),*) };
            }
            #observed
        }
    }
}

/// The borrowed view of an argument, from the wrapper's parameters.
fn view(argument: &Argument) -> TokenStream {
    let name = format_ident!("{}", argument.name);
    let kind = format_ident!("{}", format!("{:?}", argument.kind));
    match argument.kind {
        Kind::Opaque => quote!(crate::function::Argument::Opaque),
        Kind::Ints | Kind::Int64s => {
            let length = format_ident!("{}", argument.length.as_deref().unwrap_or_default());
            quote!(crate::function::Argument::#kind(unsafe { crate::observe::slice(#name, #length) }))
        }
        Kind::Text => quote!(crate::function::Argument::Text(unsafe { crate::observe::text(#name) })),
        Kind::OptionalInt | Kind::OptionalFloat | Kind::OptionalDtype => {
            quote!(crate::function::Argument::#kind(#name.has_value.then_some(#name.value)))
        }
        _ => quote!(crate::function::Argument::#kind(#name)),
    }
}

/// `unsafe fn(&[Argument], &mut Vec<Returned>) -> c_int` that calls the raw function.
fn replay(function: &Function) -> TokenStream {
    let name = &function.declaration.signature.ident;
    let patterns = function.arguments.iter().map(|argument| {
        let name = format_ident!("{}", argument.name);
        let kind = format_ident!("{}", format!("{:?}", argument.kind));
        quote!(Argument::#kind(#name))
    });
    let mut prepared = TokenStream::new();
    let mut passed: Vec<TokenStream> = Vec::new();
    let mut results = Vec::new();
    for parameter in &function.declaration.parameters {
        let ident = format_ident!("{}", parameter.name);
        let result = function
            .results
            .iter()
            .find(|r| matches!(r, Output::Array(name) | Output::Vector(name) if *name == parameter.name));
        match result {
            Some(Output::Array(_)) => {
                prepared.extend(quote!(let mut #ident = raw::mlx_array_new();));
                passed.push(quote!(&mut #ident));
                results.push(quote!(Returned::Array(#ident)));
                continue;
            }
            Some(_) => {
                prepared.extend(quote!(let mut #ident = raw::mlx_vector_array_new();));
                passed.push(quote!(&mut #ident));
                results.push(quote!(Returned::Arrays(#ident)));
                continue;
            }
            None => {}
        }
        if let Some(argument) = function.arguments.iter().find(|a| a.name == parameter.name) {
            passed.push(match argument.kind {
                Kind::Ints | Kind::Int64s => quote!(#ident.map_or(::std::ptr::null(), |it| it.as_ptr())),
                Kind::Text => quote!(#ident.map_or(::std::ptr::null(), |text| text.as_ptr())),
                Kind::OptionalInt => quote!(raw::mlx_optional_int {
                    value: #ident.unwrap_or_default(),
                    has_value: #ident.is_some(),
                }),
                Kind::OptionalFloat => quote!(raw::mlx_optional_float {
                    value: #ident.unwrap_or_default(),
                    has_value: #ident.is_some(),
                }),
                Kind::OptionalDtype => quote!(raw::mlx_optional_dtype {
                    value: #ident.unwrap_or_default(),
                    has_value: #ident.is_some(),
                }),
                _ => quote!(*#ident),
            });
        } else if let Some(argument) = function
            .arguments
            .iter()
            .find(|a| a.length.as_deref() == Some(&parameter.name))
        {
            let slice = format_ident!("{}", argument.name);
            passed.push(quote!(#slice.map_or(0, |it| it.len())));
        }
    }
    let call = if function.declaration.returns == "mlx_array" {
        results.push(quote!(Returned::Array(returned)));
        quote! {
            let returned = raw::#name(#(#passed),*);
            let status = if returned.ctx.is_null() { 1 } else { 0 };
        }
    } else {
        quote!(let status = raw::#name(#(#passed),*);)
    };
    let arity = Literal::usize_unsuffixed(function.arguments.len());
    let destructure = if function.arguments.is_empty() {
        quote! {
            if arguments.len() != #arity {
                return MISMATCH;
            }
        }
    } else {
        quote! {
            let [#(#patterns),*] = arguments else {
                return MISMATCH;
            };
        }
    };
    quote! {
        pub(super) unsafe fn #name(arguments: &[Argument<'_>], results: &mut Vec<Returned>) -> ::std::os::raw::c_int {
            #destructure
            unsafe {
                #prepared
                #call
                results.extend([#(#results),*]);
                status
            }
        }
    }
}
