//! `#[tool]` turns a function into a tool for language models, `#[tool_type]` lets a struct or an
//! enum be an argument or a result of one, `#[plugin_state]` opens what tools share. All are used
//! through `tool_sdk`.
//!
//! Each stage takes the type that the one before it made, so reading, judging and writing never
//! mix: `attr` and `item` read the syntax, `model` and `parameter` say what it means, `check`
//! holds the rules, `expand` makes the code. `kind` and `literal` are what types and values tell by
//! their spelling alone. What the code does at run time is not here but in
//! `tool_sdk::__private`.

#![forbid(unsafe_code)]

mod attr;
mod check;
mod docs;
mod duration;
mod errors;
mod excess;
mod expand;
mod item;
mod kind;
mod literal;
mod model;
mod name;
mod parameter;
mod place;
mod plugin_state;
mod sdk;
mod tool_type;
mod types;

use proc_macro::TokenStream;

/// Makes a function a tool that language models can call.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// #[tool_type]
/// #[serde(rename_all = "lowercase")]
/// enum Units {
///     Celsius,
///     Fahrenheit,
/// }
///
/// /// Fetch current weather and forecast for a given city.
/// #[tool(name = "getWeather", label = "Weather Lookup", parallel = true)]
/// async fn get_weather(
///     /// City name
///     city: String,
///     /// Units of the answer
///     #[arg(default = "celsius")]
///     units: Units,
///     ctx: &ToolContext,
/// ) -> Result<String> {
///     ctx.progress(json!({"status": "asking"}));
///     let degrees = match units {
///         Units::Celsius => "21 °C",
///         Units::Fahrenheit => "70 °F",
///     };
///     Ok(format!("{city}: {degrees}"))
/// }
///
/// let tool = tool_sdk::testing::describe("getWeather").unwrap();
/// assert_eq!(tool.description, "Fetch current weather and forecast for a given city.");
/// assert_eq!(
///     tool.input_schema,
///     json!({
///         "type": "object",
///         "properties": {
///             "city": {"type": "string", "description": "City name"},
///             "units": {
///                 "type": "string",
///                 "description": "Units of the answer",
///                 "enum": ["celsius", "fahrenheit"],
///                 "default": "celsius",
///             },
///         },
///         "required": ["city"],
///         "additionalProperties": false,
///     })
/// );
///
/// let run = tool_sdk::testing::run("getWeather", json!({"city": "Tokyo"})).unwrap();
/// assert_eq!(run.result, ToolResult::text("Tokyo: 21 °C"));
/// ```
///
/// The function itself stays as it is and can be called from Rust.
///
/// # Keys of `#[tool(…)]`
///
/// | key | effect | without it |
/// |---|---|---|
/// | `name = "getWeather"` | name on the wire: 1 to 64 of `A-Z a-z 0-9 _ -` | the function's name, unchanged |
/// | `label = "Weather Lookup"` | name for people | the words of the function's name: `get_weather` is `Get Weather` |
/// | `description = "…"` | what the model reads; also `include_str!("…")` | the doc comment up to its first heading |
/// | `rename_all = "camelCase"` | spelling of the arguments' names on the wire, with the words of serde | the parameters' names, unchanged |
/// | `require_docs` | the tool and each of its arguments must be described | a description may be missing |
/// | `parallel = true` or `false` | whether calls may overlap others | the host decides |
/// | `max_concurrent = 4` | how many calls run at the same time; others wait, and their time limit runs | any number |
/// | `timeout = "30s"` | time limit of one call, in `ms`, `s`, `m` or `h` | the host's limit |
/// | `inline` | you promise that the function never waits, so that it runs on the caller's thread | it runs on a thread of the host's pool, an `async fn` on the plugin's runtime |
/// | `prepare = path` | `fn(Args) -> Result<Args>` that changes the arguments before they are validated | |
/// | `validate = path` | `fn(&Args) -> Option<String>` or `fn(&Args) -> Result<(), String>`; the text is the reason against the arguments | |
/// | `validate_only` | the validator runs instead of the schema, which is shown but not enforced | it runs after the schema |
/// | `read_only`, `idempotent` | it changes nothing; a second equal call changes nothing more | the host assumes the worst |
/// | `destructive`, `open_world` | it may delete or overwrite; it deals with the world outside; `= false` says that it does not | the host assumes the worst |
/// | `deprecated`, `deprecated = "…"` | the description says so, and what to use instead; Rust's own `#[deprecated]` does the same | |
/// | `example({"city": "Rome"}, "sunny")` | a call and its result: a text, a JSON value, `pattern = "regex"`, or nothing if it only has to succeed. `toolsmith test` runs it. May be given often | |
///
/// # Parameters
///
/// | type | what fills it |
/// |---|---|
/// | `String`, `&str`, `bool`, `char`, `i8` … `u64`, `isize`, `usize`, `f32`, `f64` | the model; integers show their bounds |
/// | `Option<T>` | the model; it may be absent or null |
/// | `Vec<T>`, arrays, sets, maps with text as keys, tuples | the model |
/// | `Value` | the model, with anything |
/// | a struct or an enum with [`macro@tool_type`] | the model |
/// | `&ToolContext` | the host: progress, cancellation, the call's id |
/// | `&Args` | all arguments of the call as JSON |
/// | `&T` of your own | what a function with [`macro@plugin_state`] opened |
///
/// They may stand in any order. Which of the ways fits is decided by the type and not by its
/// spelling, so aliases, full paths and shadowed names work; only behind `&` a type is known by
/// its name.
///
/// The description of a parameter is its doc comment, or its item in a list under `# Arguments`
/// in the doc comment of the function:
///
/// ```
/// # use tool_sdk::prelude::*;
/// /// Repeat a text.
/// ///
/// /// # Arguments
/// /// * `text` - what to repeat
/// /// * `times` - how often
/// #[tool]
/// fn repeat(text: &str, #[arg(default = 2)] times: u8) -> String {
///     text.repeat(times.into())
/// }
/// # let tool = tool_sdk::testing::describe("repeat").unwrap();
/// # assert_eq!(tool.input_schema["properties"]["times"]["description"], "how often");
/// ```
///
/// # Keys of `#[arg(…)]`
///
/// | key | effect |
/// |---|---|
/// | `default = …` | the value of an absent argument; anything that serialises to what the type reads |
/// | `rename = "…"` | name on the wire: 1 to 64 of `A-Z a-z 0-9 _ - .` |
/// | `description = "…"` | what the model reads, instead of the doc comment |
/// | `min`, `max`, `exclusive_min`, `exclusive_max` | bounds of a number |
/// | `min_length`, `max_length` | characters of a text, items of a list, keys of a map |
/// | `pattern = "^[a-z]+$"` | a regular expression that has to be found in the text; it is not anchored |
/// | `format = "date"` | a format of JSON Schema, which the host checks |
/// | `one_of = ["a", "b"]` | the only values |
/// | `example = …` | a value that shows the model what is meant |
/// | `preset` | the value comes from the host's configuration; no model sees the argument |
///
/// Everything here stands in the schema, and the host refuses a call that does not keep to it. In a
/// list `min`, `max`, `pattern`, `format` and `one_of` hold for each item; in an `Option` they hold
/// for the value that is there. Values may be any expression; a default or an example that its own
/// constraints forbid is an error, of the compiler where it is a literal, else of the library's
/// probe.
///
/// ```
/// # use tool_sdk::prelude::*;
/// # const TEN: u32 = 10;
/// #[tool]
/// fn search(
///     #[arg(rename = "q", description = "What to look for")] query: &str,
///     #[arg(default = TEN)] limit: u32,
///     #[arg(default = ["web"])] sources: Vec<String>,
/// ) -> String {
///     format!("{limit} × {query} from {sources:?}")
/// }
/// # let run = tool_sdk::testing::run("search", json!({"q": "rust"})).unwrap();
/// # assert_eq!(run.result, ToolResult::text(r#"10 × rust from ["web"]"#));
/// ```
///
/// # Results
///
/// | type | what the model reads |
/// |---|---|
/// | `String`, `&str`, numbers, `bool`, `char` | the value as text |
/// | `()` | nothing |
/// | `Content`, `Vec<Content>`, `ToolResult` | just that |
/// | any other type with [`macro@tool_type`], `Value`, `Vec<T>`, … | its JSON; programs get the same as data, with an output schema |
/// | `Result<T, E>` of one of these | the value, or the error's text; `E` is `ToolError` or any error type |
///
/// # What is refused
///
/// Every mistake of a function is reported in one compile, where it is written, with what to
/// write instead:
///
/// ```compile_fail
/// # use tool_sdk::prelude::*;
/// #[tool(naem = "search")]             // no such key; did you mean `name`?
/// fn search<'a>(                       // a tool is not generic: `&str` needs no lifetime
///     query: &'a String,               // an argument is owned: write `String`
///     (from, to): (u32, u32),          // a pattern has no name that a model could fill in
///     id: u128,                        // JSON has no numbers of 128 bits
/// ) -> impl Iterator<Item = String> {  // the output schema needs one type
///     std::iter::empty()
/// }
/// ```
///
/// Methods are refused too; a tool is a free function. Two tools of one name in a crate fail its
/// build.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(attribute.into(), &item.into(), &sdk::path()).into()
}

/// Lets a struct or an enum be an argument or a result of a tool.
///
/// It derives `Serialize`, `Deserialize` and `JsonSchema` of the SDK's own serde and schemars, so
/// a plugin crate depends on neither, and refuses unknown fields, so that a model hears of a
/// misspelled one.
///
/// ```
/// use tool_sdk::prelude::*;
///
/// /// Where to look.
/// #[tool_type]
/// #[derive(Debug)]
/// #[serde(rename_all = "camelCase")]
/// struct Area {
///     /// Name of the city
///     city_name: String,
///     /// Kilometres around it
///     #[serde(default)]
///     radius: Option<f64>,
/// }
///
/// #[tool_type]
/// enum Order {
///     Newest,
///     Cheapest,
/// }
///
/// #[tool]
/// fn find(area: Area, order: Order) -> String {
///     let order = match order {
///         Order::Newest => "newest",
///         Order::Cheapest => "cheapest",
///     };
///     format!("{order} in {area:?}")
/// }
/// # let arguments = json!({"area": {"cityName": "Rome", "town": 1}, "order": "Newest"});
/// # let error = tool_sdk::testing::run("find", arguments).unwrap_err();
/// # assert!(error.message().starts_with("/area: unknown field `town`"), "{error}");
/// ```
///
/// It has no keys. `#[serde(…)]` below it says how fields and variants are called and read,
/// `#[schemars(…)]` what else their schema says; doc comments are descriptions. Derives of the
/// same traits below it stay and are not made twice. With `#[serde(flatten)]` on a map a type takes
/// unknown fields, since the map collects them; with it on a struct it knows that struct's fields.
///
/// ```compile_fail
/// # use tool_sdk::prelude::*;
/// #[tool_type(rename_all = "camelCase")] // write `#[serde(rename_all = "camelCase")]` below it
/// struct Area {
///     city_name: String,
/// }
/// ```
#[proc_macro_attribute]
pub fn tool_type(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tool_type::expand(&attribute.into(), &item.into(), &sdk::path()).into()
}

/// Opens what the tools of a plugin share: a connection, a cache, a model.
///
/// The function runs when the plugin is loaded, before its tools can be called. What it returns is
/// state: tools borrow it as a parameter `&T`, which no model sees.
///
/// ```
/// use std::collections::HashMap;
///
/// use tool_sdk::prelude::*;
///
/// #[tool_type]
/// struct Settings {
///     /// Where the wine lies
///     cellar: String,
///     #[serde(default)]
///     bottles: HashMap<String, u32>,
/// }
///
/// struct Cellar {
///     name: String,
///     bottles: HashMap<String, u32>,
/// }
///
/// #[plugin_state]
/// fn open(settings: Settings, ctx: &PluginContext) -> Result<Cellar> {
///     ctx.log(format!("{} bottles", settings.bottles.len()));
///     Ok(Cellar { name: settings.cellar, bottles: settings.bottles })
/// }
///
/// /// Count the bottles of a wine.
/// #[tool]
/// fn count(wine: &str, cellar: &Cellar) -> String {
///     let bottles = cellar.bottles.get(wine).unwrap_or(&0);
///     format!("{bottles} bottles in the {} cellar", cellar.name)
/// }
/// # let settings = json!({"cellar": "north", "bottles": {"Barolo": 3}});
/// # let plugin = tool_sdk::testing::Plugin::open(env!("CARGO_PKG_NAME"), settings).unwrap();
/// # let run = plugin.run("count", json!({"wine": "Barolo"})).unwrap();
/// # assert_eq!(run.result, ToolResult::text("3 bottles in the north cellar"));
/// ```
///
/// | what | rule |
/// |---|---|
/// | parameters | at most one of settings, any struct with [`macro@tool_type`]; and `&PluginContext` |
/// | settings | the table `[plugins.NAME.settings]` of `toolsmith.toml`, checked as arguments are |
/// | return type | `T` or `Result<T>`, where `T` is `Send + Sync`; of any crate |
/// | `async fn` | runs on the plugin's own runtime |
/// | how many | any number in a crate, each of another type |
/// | end | `Drop`, when the plugin was replaced and its last call has ended |
///
/// When a host gives the plugin other settings, a new value is opened; calls that run keep the one
/// they began with. If opening fails, what served before goes on serving.
#[proc_macro_attribute]
pub fn plugin_state(attribute: TokenStream, item: TokenStream) -> TokenStream {
    plugin_state::expand(&attribute.into(), &item.into(), &sdk::path()).into()
}
