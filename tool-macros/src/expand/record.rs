//! The record that registers the tool, and the marker that names it in the library file.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ExprPath;
use syn::spanned::Spanned as _;

use super::{args, result, site, site_at};
use crate::model::Tool;

/// One byte under the tool's name, which can be read without loading the library:
///
/// ```text
/// #[unsafe(export_name = "__toolsmith_tool__getWeather")]
/// pub static __MARKER: u8 = 1;
/// ```
///
/// It also makes two equal names in a crate an error (requirement R26): the compiler refuses to
/// give one symbol to two items, and names it. It looks at symbols when it makes code, so
/// `cargo build` sees it and `cargo check` does not.
///
/// Nothing else in the program has a symbol of this prefix, which is what `unsafe` asks for here.
pub(super) fn marker(tool: &Tool) -> TokenStream {
    let symbol = format!("__toolsmith_tool__{}", tool.name.text);
    // The error about two equal names is reported at this item.
    let site = site_at(tool.name.span);
    quote_spanned! {site=>
        #[unsafe(export_name = #symbol)]
        pub static __MARKER: __sdk::u8 = 1;
    }
}

/// The record in the slice of all tools. The entry is a closure inside it, not a function beside
/// it: inside one body the compiler reports a type that fits nowhere once and not for every use.
pub(super) fn record(tool: &Tool) -> TokenStream {
    let name = &tool.name.text;
    let label = &tool.label;
    let docs = &tool.docs;
    let declared = site_of_declaration(tool);
    let arguments = args::records(tool);
    let output = result::schema(tool);
    let parallel = optional(tool.parallel);
    let timeout_ms = optional(tool.timeout_ms);
    let inline = tool.inline.is_some();
    let prepare = hook(tool.prepare.as_ref(), &quote!(Prepared::into_prepared));
    let validate = hook(tool.validate.as_ref(), &quote!(Verdict::into_verdict));
    let validate_only = tool.validate_only.is_some();
    let entry = entry(tool);
    quote_spanned! {site()=>
        #[__sdk::linkme::distributed_slice(__sdk::TOOLS)]
        #[linkme(crate = __sdk::linkme)]
        static __TOOL: __sdk::ToolRecord = __sdk::ToolRecord {
            package: __sdk::env!("CARGO_PKG_NAME"),
            name: #name,
            label: #label,
            docs: &[#(#docs),*],
            #declared
            arguments: &[#arguments],
            output: #output,
            parallel: #parallel,
            timeout_ms: #timeout_ms,
            inline: #inline,
            unwinds: __sdk::cfg!(panic = "unwind"),
            prepare: #prepare,
            validate: #validate,
            validate_only: #validate_only,
            entry: #entry,
        };
    }
}

/// `file` and `line` of the function. The macros take the place of their own tokens, so those get
/// the place of the function's name.
fn site_of_declaration(tool: &Tool) -> TokenStream {
    let here = tool.ident.span();
    let file = quote_spanned!(here=> __sdk::file!());
    let line = quote_spanned!(here=> __sdk::line!());
    quote_spanned!(site()=> file: #file, line: #line,)
}

fn optional(value: Option<impl quote::ToTokens>) -> TokenStream {
    if let Some(value) = value {
        quote_spanned!(site()=> __sdk::Some(#value))
    } else {
        quote_spanned!(site()=> __sdk::None)
    }
}

/// `__sdk::Some(|__a| __sdk::Prepared::into_prepared(path(__a)))`. A hook is called and not
/// passed, so that its parameters and its answer are looked at one by one, and what is wrong with
/// them is reported at the path.
fn hook(path: Option<&ExprPath>, answer: &TokenStream) -> TokenStream {
    let hook = path.map(|path| {
        let site = site_at(path.path.span());
        quote_spanned!(site=> |__a| __sdk::#answer(#path(__a)))
    });
    optional(hook)
}

/// The call itself:
///
/// ```text
/// __sdk::Entry::Blocking(|__args, __ctx| {
///     …take…
///     let __returned = get_weather(…);
///     …outcome…
/// })
///
/// __sdk::Entry::Async(|mut __args, __ctx| __sdk::Box::pin(async move {
///     let (__args, __ctx) = (&mut __args, &__ctx);
///     …the same, with `.await`…
/// }))
/// ```
fn entry(tool: &Tool) -> TokenStream {
    let site_of_name = site_at(tool.ident.span());
    // A call by the macro is none of the author's: `#[deprecated]` does not warn about it.
    let mut function = tool.ident.clone();
    function.set_span(site_of_name);
    let taken = args::taken(tool);
    let passed = args::passed(tool);
    let outcome = result::outcome(tool);
    if tool.is_async {
        let body = quote_spanned! {site()=>
            let (__args, __ctx) = (&mut __args, &__ctx);
            #taken
            let __returned = #function(#passed).await;
            #outcome
        };
        // What can't move between threads is reported at the function's name.
        let future = quote_spanned!(site_of_name=> __sdk::Box::pin(async move { #body }));
        quote_spanned!(site()=> __sdk::Entry::Async(|mut __args, __ctx| #future))
    } else {
        quote_spanned! {site()=>
            __sdk::Entry::Blocking(|__args, __ctx| {
                #taken
                let __returned = #function(#passed);
                #outcome
            })
        }
    }
}
