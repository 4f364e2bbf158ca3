//! The expansion as people would read it. A snapshot that changes is read before it is accepted
//! (`INSTA_UPDATE=always`); one that grows over the limit asks for logic to move into the SDK.

use proc_macro2::TokenStream;
use quote::quote;

use super::tool;

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
        ),
        &quote! {
            #[cfg(unix)]
            #[expect(deprecated, reason = "until the next version")]
            pub(crate) fn r#add(
                a: &str,
                #[arg(rename = "B", description = "the other", default = -1)]
                mut b: i64,
                #[cfg(feature = "more")] c: Option<u64>,
                all: &Args,
                _: &ToolContext,
            ) {
            }
        },
    );
    insta::assert_snapshot!("every_option", code);
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
