//! The record that registers the tool, and the marker that names it in the library file.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ExprPath;
use syn::spanned::Spanned as _;

use super::{args, result, site, site_at};
use crate::attr::Expected;
use crate::model::Tool;

/// One byte under the tool's name, which can be read without loading the library:
///
/// ```text
/// #[unsafe(export_name = "__toolsmith_tool__getWeather")]
/// pub static __MARKER: u8 = 1;
/// ```
///
/// Nothing else in the program has a symbol of this prefix, which is what `unsafe` asks for here.
pub(super) fn marker(tool: &Tool) -> TokenStream {
    let symbol = format!("{MARKER_PREFIX}{}", tool.name.text);
    quote_spanned! {site()=>
        #[unsafe(export_name = #symbol)]
        pub static __MARKER: __sdk::u8 = 1;
    }
}

/// The same prefix as in `tool_sdk::abi`.
const MARKER_PREFIX: &str = "__toolsmith_tool__";

/// An item that a crate may have once of each name, wherever it stands:
///
/// ```text
/// #[macro_export]
/// macro_rules! __toolsmith_tool__getWeather { () => {}; }
/// ```
///
/// So the compiler shows both places where two tools have one name (requirement R26), before it
/// makes any code.
pub(super) fn once(tool: &Tool) -> TokenStream {
    // `-` can't be in an identifier; with its places behind it the name stays the only one.
    let name = tool.name.text.replace('-', "_");
    let dashes = tool
        .name
        .text
        .match_indices('-')
        .map(|(at, _)| format!("_{at}"));
    let dashes: String = dashes.collect();
    let site = site_at(tool.name.span);
    let name = Ident::new(&format!("{MARKER_PREFIX}{name}{dashes}"), site);
    quote_spanned! {site=>
        #[doc(hidden)]
        #[allow(non_local_definitions)]
        #[macro_export]
        macro_rules! #name { () => {}; }
    }
}

/// The record in the slice of all tools. The entry is a closure inside it, not a function beside
/// it: inside one body the compiler reports a type that fits nowhere once and not for every use.
pub(super) fn record(tool: &Tool) -> TokenStream {
    let name = &tool.name.text;
    let label = &tool.label;
    let docs = &tool.docs;
    let declared = site_of_declaration(&tool.ident);
    let function = function(tool);
    let arguments = args::records(tool);
    let output = result::schema(tool);
    let said = said(tool);
    let entry = entry(tool);
    quote_spanned! {site()=>
        #[__sdk::linkme::distributed_slice(__sdk::TOOLS)]
        #[linkme(crate = __sdk::linkme)]
        static __TOOL: __sdk::ToolRecord = __sdk::ToolRecord {
            package: __sdk::env!("CARGO_PKG_NAME"),
            name: #name,
            label: #label,
            docs: &[#(#docs),*],
            function: || __sdk::type_of_function(&#function),
            #declared
            arguments: &[#arguments],
            output: #output,
            #said
            unwinds: __sdk::cfg!(panic = "unwind"),
            entry: #entry,
            ..__sdk::ToolRecord::PLAIN
        };
    }
}

/// The fields of what the author said and could have left out.
fn said(tool: &Tool) -> TokenStream {
    let parallel = tool.parallel.map(|yes| some("parallel", &quote!(#yes)));
    let most = tool.max_concurrent;
    let most = most.map(|most| some("max_concurrent", &quote!(#most)));
    let timeout = tool.timeout_ms.map(|ms| some("timeout_ms", &quote!(#ms)));
    let deprecated = tool.deprecated.as_ref();
    let deprecated = deprecated.map(|note| some("deprecated", &quote!(#note)));
    let prepare = tool.prepare.as_ref();
    let prepare =
        prepare.map(|path| some("prepare", &hook(path, &quote!(Prepared::into_prepared))));
    let validate = tool.validate.as_ref();
    let validate =
        validate.map(|path| some("validate", &hook(path, &quote!(Verdict::into_verdict))));
    let flags = [
        ("inline", tool.inline.is_some()),
        ("require_docs", tool.require_docs),
        ("validate_only", tool.validate_only.is_some()),
    ];
    let flags = flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| {
        let name = Ident::new(name, site());
        quote_spanned!(site()=> #name: true,)
    });
    let annotations = annotations(tool);
    let examples = examples(tool);
    quote_spanned! {site()=>
        #parallel #most #timeout #deprecated #prepare #validate #(#flags)* #annotations #examples
    }
}

/// `timeout_ms: __sdk::Some(500u64),`
fn some(field: &str, value: &TokenStream) -> TokenStream {
    let field = Ident::new(field, site());
    quote_spanned!(site()=> #field: __sdk::Some(#value),)
}

/// How many fields the SDK's `Annotations` has.
const ANNOTATIONS: usize = 4;

/// `annotations: __sdk::Annotations { read_only: __sdk::Some(true), ..__sdk::Annotations::NONE },`
fn annotations(tool: &Tool) -> Option<TokenStream> {
    if tool.annotations.is_empty() {
        return None;
    }
    let annotations = tool.annotations.iter();
    let said = annotations.map(|(name, value)| some(name, &quote!(#value)));
    // Where all is said, clippy would tell the author that a rest has no effect.
    let rest = (tool.annotations.len() < ANNOTATIONS)
        .then(|| quote_spanned!(site()=> ..__sdk::Annotations::NONE));
    Some(quote_spanned! {site()=>
        annotations: __sdk::Annotations { #(#said)* #rest },
    })
}

/// `examples: &[__sdk::ExampleRecord { … }],`
fn examples(tool: &Tool) -> Option<TokenStream> {
    if tool.examples.is_empty() {
        return None;
    }
    let examples = tool.examples.iter().map(|example| {
        let arguments = &example.arguments;
        let expect = match &example.expected {
            Expected::Success => quote_spanned!(site()=> Success),
            Expected::Value(json) => {
                quote_spanned!(site()=> Value(|| __sdk::serde_json::json!(#json)))
            }
            Expected::Pattern(pattern) => quote_spanned!(site()=> Pattern(#pattern)),
        };
        quote_spanned! {site()=>
            __sdk::ExampleRecord {
                arguments: || __sdk::serde_json::json!(#arguments),
                expect: __sdk::Expect::#expect,
            }
        }
    });
    Some(quote_spanned!(site()=> examples: &[#(#examples),*],))
}

/// `file` and `line` of the function. The macros take the place of their own tokens, so those get
/// the place of the function's name.
pub(super) fn site_of_declaration(ident: &Ident) -> TokenStream {
    let here = ident.span();
    let file = quote_spanned!(here=> __sdk::file!());
    let line = quote_spanned!(here=> __sdk::line!());
    quote_spanned!(site()=> file: #file, line: #line,)
}

/// `|__a| __sdk::Prepared::into_prepared(path(__a))`. A hook is called and not passed, so that its
/// parameters and its answer are looked at one by one, and what is wrong with them is reported at
/// the path.
fn hook(path: &ExprPath, answer: &TokenStream) -> TokenStream {
    let site = site_at(path.path.span());
    quote_spanned!(site=> |__a| __sdk::#answer(#path(__a)))
}

/// The function's name as generated code writes it: its use is none of the author's, and
/// `#[deprecated]` does not warn about it.
fn function(tool: &Tool) -> Ident {
    let mut function = tool.ident.clone();
    function.set_span(site_at(tool.ident.span()));
    function
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
    let function = function(tool);
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
