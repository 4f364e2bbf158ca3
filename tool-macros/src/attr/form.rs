//! What may stand behind a key of an attribute, and how it is read.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Expr, ExprPath, Ident, LitBool, LitInt, LitStr, Token, parenthesized, token};

/// A key with nothing behind it.
#[derive(Debug)]
pub(crate) struct Flag;

/// `= true`, `= false`, or nothing for `true`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Toggle(pub(crate) bool);

/// `= "…"`, or nothing for an empty text.
#[derive(Debug)]
pub(crate) struct Note(pub(crate) String);

/// Every `example(…)` of a tool.
#[derive(Debug)]
pub(crate) struct Examples(pub(crate) Vec<Example>);

/// `example({"city": "Tokyo"}, "Sunny")`.
#[derive(Debug)]
pub(crate) struct Example {
    /// The arguments as they stand in `json!(…)`.
    pub(crate) arguments: TokenStream,
    /// What the call comes to.
    pub(crate) expected: Expected,
}

/// What stands behind the arguments of an example.
#[derive(Debug)]
pub(crate) enum Expected {
    /// Nothing.
    Success,
    /// A text, or a value as in `json!(…)`.
    Value(TokenStream),
    /// `pattern = "…"`.
    Pattern(LitStr),
}

/// What may stand behind a key.
pub(super) trait Form: Sized {
    /// An example for messages, without the key.
    const EXAMPLE: &'static str;

    /// Reads what stands behind the key.
    fn parse(input: ParseStream<'_>) -> syn::Result<Self>;

    /// Adds what stands behind the same key when it is given again; `false` where a key may be
    /// given once.
    fn join(&mut self, _again: Self) -> bool {
        false
    }
}

impl Form for Flag {
    const EXAMPLE: &'static str = "";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() || input.peek(Token![,]) {
            Ok(Self)
        } else {
            Err(input.error("nothing stands behind this key"))
        }
    }
}

impl Form for bool {
    const EXAMPLE: &'static str = " = true";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![=]>()?;
        input.parse::<LitBool>().map(|literal| literal.value)
    }
}

impl Form for LitStr {
    const EXAMPLE: &'static str = " = \"…\"";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![=]>()?;
        input.parse()
    }
}

impl Form for Expr {
    const EXAMPLE: &'static str = " = …";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![=]>()?;
        input.parse()
    }
}

impl Form for ExprPath {
    const EXAMPLE: &'static str = " = path::of::a_function";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![=]>()?;
        let mut value: Expr = input.parse()?;
        // A path that came through `macro_rules!` is wrapped.
        while let Expr::Group(group) = value {
            value = *group.expr;
        }
        match value {
            Expr::Path(path) => Ok(path),
            other => Err(syn::Error::new_spanned(
                other,
                "this is no path of a function",
            )),
        }
    }
}

impl Form for LitInt {
    const EXAMPLE: &'static str = " = 4";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![=]>()?;
        input.parse()
    }
}

impl Form for Toggle {
    const EXAMPLE: &'static str = "` or `… = false";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self(true));
        }
        <bool as Form>::parse(input).map(Self)
    }
}

impl Form for Note {
    const EXAMPLE: &'static str = " = \"what to use instead\"";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self(String::new()));
        }
        <LitStr as Form>::parse(input).map(|note| Self(note.value()))
    }
}

impl Form for Examples {
    const EXAMPLE: &'static str = "({\"argument\": \"value\"}, \"the result\")";

    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let inside;
        parenthesized!(inside in input);
        let example = example(&inside);
        // What stands behind a mistake is not another one.
        inside.parse::<TokenStream>()?;
        Ok(Self(vec![example?]))
    }

    fn join(&mut self, again: Self) -> bool {
        self.0.extend(again.0);
        true
    }
}

/// What stands between the parentheses of an example.
fn example(input: ParseStream<'_>) -> syn::Result<Example> {
    if !input.peek(token::Brace) {
        return Err(input.error("the arguments are an object"));
    }
    let arguments = input.parse::<TokenTree>()?.into();
    let comma: Option<Token![,]> = input.parse()?;
    let expected = if input.is_empty() {
        Expected::Success
    } else if comma.is_none() {
        return Err(input.error("expected `,` before the result"));
    } else if input.peek(Ident) && input.peek2(Token![=]) {
        pattern(input)?
    } else {
        Expected::Value(input.parse()?)
    };
    Ok(Example {
        arguments,
        expected,
    })
}

/// `pattern = "…"` in place of a result.
fn pattern(input: ParseStream<'_>) -> syn::Result<Expected> {
    let key: Ident = input.parse()?;
    if key != "pattern" {
        let text = "the result is a text, a JSON value, or `pattern = \"…\"`";
        return Err(syn::Error::new(key.span(), text));
    }
    input.parse::<Token![=]>()?;
    let pattern = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    if input.is_empty() {
        Ok(Expected::Pattern(pattern))
    } else {
        Err(input.error("nothing stands behind the pattern"))
    }
}
