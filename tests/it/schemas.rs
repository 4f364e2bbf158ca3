//! What a plugin's functions look like from outside, and that what is shown is what is enforced:
//! the documents' own functions, and the kinds of functions that other tool kits got wrong.

use serde_json::{Value, json};
use toolsmith_tests::{Dev, Project, text};

/// The functions of the second source document, with the types that it gives them (R17).
const DOCUMENT: &str = r#"
    /// Executes a given shell command.
    #[tool]
    fn execute_shell_command(
        /// The shell command to execute.
        command: String,
    ) -> String {
        command
    }

    /// Search question in Bing Search API and return the searching results
    ///
    /// # Arguments
    /// * `question` - The search query string.
    /// * `num_results` - The number of search results to return.
    #[tool]
    fn bing_search(
        #[arg(preset)] api_key: String,
        question: String,
        #[arg(default = 10)] num_results: f64,
    ) -> String {
        format!("{num_results} of {question} with {} letters", api_key.len())
    }

    /// A brief introduction of this function in one line.
    ///
    /// # Arguments
    /// * `arg1` - Brief description of arg1
    /// * `arg2` - Brief description of arg2
    #[tool]
    fn new_function(arg1: String, arg2: f64) -> String {
        _ = (arg1, arg2);
        "Done!".to_owned()
    }
"#;

/// A project whose `bing_search` has its key, and its host.
fn document() -> (Project, Dev) {
    let project = Project::new();
    project.plugin("document", DOCUMENT);
    let mut configured = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    configured.push_str("\n[tools.bing_search]\npreset = { api_key = \"secret\" }\n");
    project.write("toolsmith.toml", &configured);
    let dev = project.dev();
    (project, dev)
}

fn shown(dev: &mut Dev, tool: &str) -> Value {
    let mut schemas = dev.ask(&format!("schema {tool} mcp"));
    schemas[0].take()
}

/// A2, A9, A28, R17: types, descriptions, defaults and what is required come from the function.
#[test]
fn a2_a9_a28_functions_of_the_document_are_shown_as_it_shows_them() {
    let (_project, mut dev) = document();
    let mut expect = |tool: &str, description: &str, properties: Value, required: Value| {
        let shown = shown(&mut dev, tool);
        assert_eq!(shown["description"], description);
        // R33: this format shows that it is closed.
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        assert_eq!(shown["inputSchema"].to_string(), schema.to_string());
    };
    expect(
        "execute_shell_command",
        "Executes a given shell command.",
        json!({"command": {"type": "string", "description": "The shell command to execute."}}),
        json!(["command"]),
    );
    let count = "The number of search results to return.";
    expect(
        "bing_search",
        "Search question in Bing Search API and return the searching results",
        json!({
            "question": {"type": "string", "description": "The search query string."},
            "num_results": {"type": "number", "description": count, "default": 10},
        }),
        json!(["question"]),
    );
    expect(
        "new_function",
        "A brief introduction of this function in one line.",
        json!({
            "arg1": {"type": "string", "description": "Brief description of arg1"},
            "arg2": {"type": "number", "description": "Brief description of arg2"},
        }),
        json!(["arg1", "arg2"]),
    );
}

/// A2, A5, R13, R18: arguments are checked by the schema that is shown; a preset is passed on and
/// can't be sent.
#[test]
fn a2_a5_calls_are_checked_and_presets_are_passed_on() {
    let (_project, mut dev) = document();
    assert_eq!(
        dev.call("new_function", r#"{"arg1": "x", "arg2": 1}"#),
        "Done!"
    );
    let found = dev.call("bing_search", r#"{"question": "rust"}"#);
    assert_eq!(found, "10 of rust with 6 letters");
    for (arguments, problem) in [
        (r#"{"query": "rust"}"#, "/question: missing"),
        (r#"{"query": "rust"}"#, "/query: unknown argument"),
        (
            r#"{"question": "rust", "api_key": "mine"}"#,
            "/api_key: unknown argument",
        ),
        (
            r#"{"question": "rust", "num_results": "many"}"#,
            "/num_results: ",
        ),
    ] {
        let refused = dev.ask(&format!("call bing_search {arguments}"));
        assert_eq!(refused["error"]["kind"], "invalidArguments");
        let refused = text(&refused);
        assert!(refused.contains(problem), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }
}

/// Functions of the kinds that other tool kits described wrongly.
const KINDS: &str = r#"
    /// First line
    /// wrapped here.
    ///
    /// - item one
    /// - item two
    #[tool]
    fn ping() -> &'static str {
        "pong"
    }

    #[tool]
    fn optional(mail: Option<String>) -> String {
        format!("{mail:?}")
    }

    #[tool]
    fn unsigned(n: usize, m: u32) -> String {
        format!("{n} {m}")
    }

    #[tool]
    fn anything(/** Whatever */ data: Value) -> String {
        data.to_string()
    }

    #[tool]
    fn pairs(pairs: Vec<(String, f64)>) -> String {
        format!("{pairs:?}")
    }

    #[tool]
    fn keywords(pattern: String, format: String, r#const: String, title: String, properties: String) -> String {
        [pattern, format, r#const, title, properties].join(" ")
    }

    #[tool]
    fn listed(list: Vec<Value>) -> String {
        format!("{list:?}")
    }

    #[tool]
    fn bytes(data: Vec<u8>) -> String {
        format!("{data:?}")
    }

    #[tool_type]
    #[derive(Debug)]
    struct Node {
        v: String,
        kids: Vec<Node>,
    }

    #[tool]
    fn tree(tree: Node) -> String {
        format!("{tree:?}")
    }

    #[tool_type]
    #[derive(Debug)]
    #[serde(tag = "kind", rename_all = "lowercase")]
    enum Shape {
        Circle { radius: f64 },
        Square { side: f64 },
        Dots { count: u8 },
    }

    #[tool]
    fn draw(shape: Shape) -> String {
        format!("{shape:?}")
    }

    #[tool]
    fn shot(page: u32, #[arg(default = false)] full_page: bool) -> String {
        format!("{page} {full_page}")
    }

    #[tool]
    fn spelled(
        #[arg(pattern = "[0-9]+")] some_digits: Option<String>,
        #[arg(pattern = "^(?!tmp_)")] no_tmp: Option<String>,
        #[arg(pattern = "((a+)+)+$")] many: Option<String>,
        #[arg(max_length = 1)] one: Option<String>,
        #[arg(format = "date-time")] at: Option<String>,
    ) -> String {
        format!("{some_digits:?} {no_tmp:?} {many:?} {one:?} {at:?}")
    }
"#;

/// One table of what is shown: cases g2.no-arg, g2.option, g2.uint-format, g2.any-type, g2.tuple,
/// g2.keyword-named-field, g2.bytes, g2.recursive, g2.doc-comment, g2.root-object.
fn kinds_are_shown(dev: &mut Dev) {
    let unsigned = |maximum: u64| json!({"type": "integer", "minimum": 0, "maximum": maximum});
    let text = || json!({"type": "string"});
    let expected = [
        ("ping", json!({})),
        ("optional", json!({"mail": {"type": ["string", "null"]}})),
        (
            "unsigned",
            json!({"n": unsigned(u64::MAX), "m": unsigned(u32::MAX.into())}),
        ),
        ("anything", json!({"data": {"description": "Whatever"}})),
        (
            "pairs",
            json!({"pairs": {"type": "array", "items": {
                "type": "array",
                "prefixItems": [text(), {"type": "number"}],
                "minItems": 2,
                "maxItems": 2,
            }}}),
        ),
        (
            "keywords",
            json!({
                "pattern": text(), "format": text(), "const": text(), "title": text(),
                "properties": text(),
            }),
        ),
        (
            "bytes",
            json!({"data": {"type": "array", "items": unsigned(255)}}),
        ),
    ];
    for (tool, properties) in expected {
        let schema = &shown(dev, tool)["inputSchema"];
        assert_eq!(schema["type"], "object", "{tool}");
        assert_eq!(schema["properties"], properties, "{tool}");
        assert_eq!(schema["additionalProperties"], false, "{tool}");
    }
    let tree = shown(dev, "tree");
    let kids = json!({"type": "array", "items": {"$ref": "#/$defs/Node"}});
    assert_eq!(
        tree["inputSchema"]["$defs"]["Node"]["properties"]["kids"],
        kids
    );
    let ping = shown(dev, "ping");
    let description = "First line\nwrapped here.\n\n- item one\n- item two";
    assert_eq!(ping["description"], description);
    assert_eq!(shown(dev, "optional")["inputSchema"].get("required"), None);
}

/// Arguments of `tree`, five levels deep, with this leaf.
fn deep(leaf: &str) -> String {
    let inner = format!(r#"{{"v": {leaf}, "kids": []}}"#);
    let tree = (0..5).fold(inner, |tree, _| {
        format!(r#"{{"v": "x", "kids": [{tree}]}}"#)
    });
    format!(r#"{{"tree": {tree}}}"#)
}

/// Calls that pass, with the answer.
fn what_is_shown_passes(dev: &mut Dev) {
    let passing = [
        ("ping", "{}", "pong"),
        ("optional", "{}", "None"),
        ("optional", r#"{"mail": null}"#, "None"),
        ("bytes", r#"{"data": [0, 255]}"#, "[0, 255]"),
        (
            "anything",
            r#"{"data": {"$serde_json::private::RawValue": "5"}}"#,
            r#"{"$serde_json::private::RawValue":"5"}"#,
        ),
        ("unsigned", r#"{"n": 5.0, "m": -0}"#, "5 0"),
        (
            "unsigned",
            r#"{"n": 18446744073709551615, "m": 0}"#,
            "18446744073709551615 0",
        ),
        (
            "anything",
            r#"{"data": [1, {"a": null}]}"#,
            r#"[1,{"a":null}]"#,
        ),
        ("pairs", r#"{"pairs": [["a", 1]]}"#, r#"[("a", 1.0)]"#),
        ("shot", r#"{"page": 1}"#, "1 false"),
        (
            "draw",
            r#"{"shape": {"kind": "circle", "radius": 2}}"#,
            "Circle { radius: 2.0 }",
        ),
        (
            "draw",
            r#"{"shape": {"kind": "dots", "count": 3.0}}"#,
            "Dots { count: 3 }",
        ),
        (
            "draw",
            r#"{"shape": {"kind": "dots", "count": "3"}}"#,
            "Dots { count: 3 }",
        ),
    ];
    for (tool, arguments, expected) in passing {
        assert_eq!(dev.call(tool, arguments), expected, "{tool} {arguments}");
    }
    assert!(
        dev.call("tree", &deep(r#""leaf""#))
            .contains(r#"v: "leaf""#)
    );
    for (key, value) in [
        ("some_digits", "abc 7 xyz"),
        ("one", "\u{1F973}"),
        ("many", "aaa"),
    ] {
        let answer = dev.call("spelled", &json!({key: value}).to_string());
        assert!(answer.contains(&format!("Some({value:?})")), "{answer}");
    }
}

/// Calls that are refused, with a part of the reason.
fn what_is_not_shown_is_refused(dev: &mut Dev) {
    let attack = format!(r#"{{"many": "{}!"}}"#, "a".repeat(28));
    let refused = [
        ("bytes", r#"{"data": [256]}"#, "/data/0: "),
        ("bytes", r#"{"data": [-1]}"#, "/data/0: "),
        ("unsigned", r#"{"n": 5.5, "m": 0}"#, "/n: "),
        (
            "unsigned",
            r#"{"n": 123456789012345678901234567890, "m": 0}"#,
            "/n: ",
        ),
        ("pairs", r#"{"pairs": [["a", 1, 2]]}"#, "/pairs/0: "),
        (
            "shot",
            r#"{"page": 1, "fullpage": true}"#,
            r#"did you mean "full_page"?"#,
        ),
        (
            "shot",
            r#"{"page": 1, "fullpage": true}"#,
            "allowed: page, full_page",
        ),
        (
            "draw",
            r#"{"shape": {"kind": "circle", "side": 2}}"#,
            "/shape/radius: missing",
        ),
        ("draw", r#"{"shape": {"kind": "oval"}}"#, "circle"),
        (
            "tree",
            &deep("[5]"),
            "/tree/kids/0/kids/0/kids/0/kids/0/kids/0/v: ",
        ),
        ("spelled", r#"{"no_tmp": "tmp_a"}"#, "/no_tmp: "),
        ("spelled", r#"{"at": "some day"}"#, "/at: "),
        ("spelled", r#"{"one": "ab"}"#, "/one: "),
        ("spelled", &attack, "/many: "),
    ];
    for (tool, arguments, problem) in refused {
        let answer = dev.ask(&format!("call {tool} {arguments}"));
        assert_eq!(
            answer["error"]["kind"], "invalidArguments",
            "{tool} {arguments}"
        );
        let answer = text(&answer);
        assert!(answer.contains(problem), "{tool} {arguments}: {answer}");
    }
}

/// Cases of the groups 2-schema-generation and 3-schema-validation that a plugin can meet, each for
/// its kind: g2.no-arg to g2.bytes; g3.integer-1.0, g3.format, g3.pattern-dialect, g3.length-units,
/// g3.unknown-property, g3.error-text, g3.redos, g3.cyclic-ref, g3.number-range.
#[test]
fn y2_what_is_shown_is_what_is_enforced() {
    let project = Project::new();
    project.plugin("kinds", KINDS);
    let mut dev = project.dev();
    kinds_are_shown(&mut dev);
    what_is_shown_passes(&mut dev);
    what_is_not_shown_is_refused(&mut dev);
}

/// Case g3.schema-agreement and the probe: a default that its own constraint forbids, where the
/// compiler can't see it, and an enum's value that there is none of.
#[test]
fn a_default_that_is_not_allowed_is_refused_by_the_probe_and_what_served_stays() {
    let project = Project::new();
    let source = |default: &str| {
        format!(
            "const LEVEL: u8 = {default};\n\
             /// Levels.\n#[tool]\nfn level(#[arg(default = LEVEL, max = 3)] level: u8) -> u8 {{ level }}\n"
        )
    };
    project.plugin("levels", &source("2"));
    let mut dev = project.dev();
    assert_eq!(dev.call("level", "{}"), "2");
    project.source("levels", &source("7"));
    let list = dev.ask_until("list", |list| list["plugins"][0]["state"] == "failed");
    let reason = list["plugins"][0]["reason"].as_str().unwrap();
    for part in ["`level`", "7", "src/lib.rs:5"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert_eq!(dev.call("level", "{}"), "2");
    drop(dev);
    let mut restarted = project.dev();
    assert_eq!(restarted.call("level", "{}"), "2", "after a restart too");
    let list = restarted.ask("list");
    assert_eq!(list["plugins"][0]["state"], "failed");
}

/// R26: the message names both places.
#[test]
fn r26_two_tools_of_one_name_are_shown_with_file_and_line_of_both() {
    let project = Project::new();
    let source = "mod other;\n/// One.\n#[tool(name = \"same-name\")]\nfn one() {}\n";
    project.plugin("twins", source);
    let other =
        "use tool_sdk::prelude::*;\n\n/// Two.\n#[tool(name = \"same-name\")]\npub fn two() {}\n";
    project.write("plugins/twins/src/other.rs", other);
    let ran = project.run(&["list"]);
    for place in ["src/lib.rs:4", "src/other.rs:4", "defined multiple times"] {
        assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
    }
}

/// Without a runtime there are no async tools, and the compiler says so at each of them.
#[test]
fn async_without_its_feature_is_an_error_at_the_function() {
    let project = Project::new();
    let source = "/// Waits.\n#[tool]\nasync fn wait() {}\n\nstruct Db;\n\n\
                  #[plugin_state]\nasync fn open() -> Db {\n    Db\n}\n";
    project.plugin("waiting", source);
    let manifest = project.plugins().join("waiting/Cargo.toml");
    let text = fs_err::read_to_string(&manifest).unwrap();
    let text = text.replace("tool-sdk = { ", "tool-sdk = { default-features = false, ");
    fs_err::write(&manifest, text).unwrap();
    let ran = project.run(&["list"]);
    let told = ran
        .stderr
        .matches("needs the feature `async` of tool-sdk")
        .count();
    assert_eq!(told, 2, "{}", ran.stderr);
    for place in ["src/lib.rs:4:10", "src/lib.rs:9:10"] {
        assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
    }
}
