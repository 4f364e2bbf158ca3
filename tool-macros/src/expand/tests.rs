//! The expansion as people would read it. A snapshot that changes is read before it is accepted
//! (`INSTA_UPDATE=always`); one that grows over the limit asks for logic to move into the SDK.

use proc_macro2::TokenStream;
use quote::quote;

use super::tool;
use crate::plugin_state;

/// What an ordinary tool may expand to, without the function itself.
const LIMIT: usize = 80;

fn expanded(attribute: TokenStream, item: &TokenStream) -> String {
    let tokens = tool(attribute, item, &quote!(::tool_sdk));
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

#[test]
fn ordinary_tool_expands_to_little_readable_code() {
    let code = expanded(
        quote!(
            name = "getWeather",
            label = "Weather Lookup",
            parallel = true
        ),
        &quote! {
            /// Fetch current weather and forecast for a given city.
            #[instrument]
            async fn get_weather(
                /// City name
                city: String,
                /// Units of the answer
                #[arg(default = "celsius")]
                units: Units,
                ctx: &ToolContext,
            ) -> Result<String> {
                ctx.progress(json!({"status": "asking"}));
                Ok(format!("{city} {units}"))
            }
        },
    );
    let lines = code
        .split("const _: () = {")
        .nth(1)
        .unwrap()
        .lines()
        .count();
    assert!(lines <= LIMIT, "{lines} lines:\n{code}");
    insta::assert_snapshot!("ordinary", code);
}

#[test]
fn every_option_has_its_place_in_the_expansion() {
    let code = expanded(
        quote!(
            description = "Adds.",
            inline,
            timeout = "500ms",
            prepare = hooks::prepare,
            validate = hooks::validate,
            max_concurrent = 2,
            deprecated = "use sum",
            read_only,
            open_world = false,
            require_docs,
            example({"B": 2}, "3"),
            example({"B": -1}, pattern = "^-"),
        ),
        &quote! {
            #[cfg(unix)]
            #[expect(deprecated, reason = "until the next version")]
            pub(crate) fn r#add(
                /// the one
                a: &str,
                #[arg(rename = "B", description = "the other", default = -1, min = -1, one_of = [-1, 2])]
                mut b: i64,
                #[arg(preset, pattern = KEY)] key: String,
                #[cfg(feature = "more")]
                /// one more
                c: Option<u64>,
                all: &Args,
                _: &ToolContext,
                db: &store::Db,
            ) {
            }
        },
    );
    insta::assert_snapshot!("every_option", code);
}

#[test]
fn opener_of_state_expands_to_its_record() {
    let tokens = plugin_state::expand(
        &quote!(),
        &quote! {
            async fn open(settings: Settings, ctx: &PluginContext) -> Result<store::Db> {
                Ok(store::Db::open(settings.path)?)
            }
        },
        &quote!(::tool_sdk),
    );
    let code = prettyplease::unparse(&syn::parse2(tokens).unwrap());
    insta::assert_snapshot!("state", code);
}

#[test]
fn function_survives_mistakes() {
    let code = expanded(
        quote!(nmae = "x"),
        &quote!(
            fn f(
                #[arg(rename = "a")]
                /** doc */
                self,
                b: &mut [u8],
            ) -> u8 {
                b[0]
            }
        ),
    );
    insta::assert_snapshot!("mistakes", code);
}

#[test]
fn body_is_not_read() {
    let tokens = tool(quote!(), &quote!(fn f() { let = , }), &quote!(::tool_sdk));
    assert!(
        tokens.to_string().starts_with("fn f () { let = , }"),
        "{tokens}"
    );
}
