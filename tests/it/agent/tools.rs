//! Which tools a turn shows, and which version of them its calls run on.

use std::sync::Arc;

use agent_core::agent::groups::GROUPS_TOOL;
use agent_core::agent::{Agent, ScriptedModel, ToolGroup};
use agent_core::config::Permission;
use agent_core::event::EndReason;
use agent_core::message::{Prompt, Reply};
use agent_core::registry::{Configuration, Scope};
use serde_json::json;
use toolsmith_tests::Project;

use super::calling;
use super::fixture::{Waiting, asked, calls, of_type, recorded, registry, results, saying};
use super::validity;
use crate::host::within;

fn shown(prompt: &Prompt) -> Vec<&str> {
    let tools = prompt.context.tools.iter();
    tools.map(|tool| tool.name.as_str()).collect()
}

fn answers(agent: &Agent) -> Vec<String> {
    let results = results(&agent.conversation().messages());
    results.into_iter().map(|(_, text)| text).collect()
}

fn greeter(word: &str) -> String {
    let body = format!("format!(\"{word}, {{name}}\")");
    format!("/// Greets with {word}.\n#[tool]\nfn greet(name: String) -> String {{ {body} }}")
}

/// A plugin is replaced, and then taken away, while the model thinks: the call runs on the version
/// that the model was shown, and the next turn sees what there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_a_turn_are_pinned_while_plugins_come_and_go() {
    let project = Project::new();
    project.plugin("greeter", &greeter("Hello"));
    let registry = project.host().await.registry().clone();
    let greet = |id: &str| calling(id, "greet", json!({"name": "Ada"}));
    let model = Waiting::new([greet("1"), greet("2"), greet("3"), Reply::text("ok")]);
    let agent = Agent::builder(model.clone())
        .tools(registry.clone())
        .build()
        .unwrap();
    let running = tokio::spawn({
        let agent = agent.clone();
        async move { agent.run("Hello").await.map(|run| run.reason) }
    });
    model.asked.wait().await;
    project.source("greeter", &greeter("Salut"));
    registry.refresh(Scope::All, &()).await.unwrap();
    model.go.raise();
    model.asked.wait().await;
    fs_err::remove_dir_all(project.plugins().join("greeter")).unwrap();
    registry.refresh(Scope::All, &()).await.unwrap();
    assert!(registry.table().get("greet").is_none());
    model.go.raise();
    for _ in 0..2 {
        model.asked.wait().await;
        model.go.raise();
    }
    assert_eq!(within(running).await.unwrap(), Ok(EndReason::Final));
    let texts = answers(&agent);
    assert_eq!(texts[..2], ["Hello, Ada", "Salut, Ada"]);
    assert!(texts[2].starts_with("Tool greet not found"), "{texts:?}");
    let prompts = model.script.prompts();
    let descriptions = |at: usize| {
        let tools: &Vec<_> = &prompts[at].context.tools;
        tools
            .iter()
            .map(|tool| tool.description.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(descriptions(0), ["Greets with Hello."]);
    assert_eq!(descriptions(1), ["Greets with Salut."]);
    assert_eq!(descriptions(2), [""; 0]);
}

/// A tool that is registered while the model thinks is there in the next turn, not before.
#[tokio::test]
async fn tool_that_is_registered_meanwhile_is_seen_by_the_next_turn() {
    let (registry, _) = registry();
    let model = Waiting::new([
        calls(&[("1", "late")]),
        calls(&[("2", "late")]),
        Reply::text("ok"),
    ]);
    let agent = Agent::builder(model.clone())
        .tools(registry.clone())
        .build()
        .unwrap();
    let running = tokio::spawn({
        let agent = agent.clone();
        async move { agent.run("Hello").await.map(|run| run.reason) }
    });
    model.asked.wait().await;
    registry
        .register(Arc::new(saying("late", "Done!")))
        .await
        .unwrap();
    model.go.raise();
    for _ in 0..2 {
        model.asked.wait().await;
        model.go.raise();
    }
    assert_eq!(within(running).await.unwrap(), Ok(EndReason::Final));
    assert_eq!(answers(&agent), ["Tool late not found", "Done!"]);
    let prompts = model.script.prompts();
    assert_eq!(
        (shown(&prompts[0]), shown(&prompts[1])),
        (vec![], vec!["late"])
    );
}

fn files() -> ToolGroup {
    ToolGroup::new("files", "Read and write files.", ["read"]).instructions("Use absolute paths.")
}

/// A tool of a group that is not active is neither shown nor known; its instructions come with it.
#[tokio::test]
async fn hidden_tools_are_unknown_and_instructions_come_with_the_group() {
    let model = ScriptedModel::new([
        calls(&[("1", "read"), ("2", "both")]),
        Reply::text("ok"),
        calls(&[("3", "read")]),
        Reply::text("ok"),
        Reply::text("ok"),
    ]);
    let agent = Agent::builder(model.clone())
        .system_prompt("Be short.")
        .tool(saying("read", "I read"))
        .tool(saying("both", "I am in two groups"))
        .tool(saying("free", "I am in none"))
        .group(files())
        .group(ToolGroup::new("web", "Surf.", ["both"]).active())
        .group(ToolGroup::new("mail", "Write.", ["both"]))
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    let texts = answers(&agent);
    assert!(texts[0].starts_with("Tool read not found"), "{texts:?}");
    assert!(
        texts[0].ends_with("Available tools: both, free"),
        "{texts:?}"
    );
    assert_eq!(texts[1], "I am in two groups");
    agent.groups().activate(&["files"]).unwrap();
    within(agent.run("Now")).await.unwrap();
    assert_eq!(answers(&agent)[2], "I read");
    agent.groups().deactivate(&["files", "web"]).unwrap();
    within(agent.run("And now")).await.unwrap();

    let prompts = model.prompts();
    assert_eq!(shown(&prompts[0]), ["both", "free"]);
    assert_eq!(shown(&prompts[2]), ["read", "both", "free"]);
    assert_eq!(shown(&prompts[4]), ["free"]);
    assert_eq!(asked(&prompts[0])[0]["content"], "Be short.");
    assert_eq!(
        asked(&prompts[2])[0]["content"],
        "Be short.\n\nUse absolute paths."
    );
    assert_eq!(asked(&prompts[4])[0]["content"], "Be short.");
    let error = agent.groups().choose(&["file"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "There is no group \"file\", did you mean \"files\"? (groups: files, web, mail)"
    );
}

/// The model chooses: what it chose counts from the next turn on; a wrong name changes nothing.
#[tokio::test]
async fn model_chooses_its_groups() {
    let choose = |id: &str, names: &[&str]| calling(id, GROUPS_TOOL, json!({"groups": names}));
    let mut both = choose("1", &["files"]);
    both.content.extend(calls(&[("2", "read")]).content);
    let model = ScriptedModel::new([
        both,
        calls(&[("3", "read")]),
        choose("4", &["nope"]),
        choose("5", &[]),
        Reply::text("ok"),
    ]);
    let agent = Agent::builder(model.clone())
        .tool(saying("read", "I read"))
        .group(files())
        .model_chooses_groups()
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    let texts = answers(&agent);
    assert_eq!(
        texts[0],
        "Active groups of tools: files.\n\nUse absolute paths."
    );
    assert!(texts[1].starts_with("Tool read not found"), "{texts:?}");
    assert_eq!(texts[2], "I read");
    assert!(texts[3].contains("/groups/0"), "{texts:?}");
    assert_eq!(texts[4], "No group of tools is active now.");
    let prompts = model.prompts();
    assert_eq!(shown(&prompts[0]), [GROUPS_TOOL]);
    assert_eq!(shown(&prompts[1]), ["read", GROUPS_TOOL]);
    assert_eq!(shown(&prompts[3]), ["read", GROUPS_TOOL]);
    assert_eq!(shown(&prompts[4]), [GROUPS_TOOL]);
    let described = &prompts[0].context.tools[0].description;
    assert!(
        described.ends_with("- files: Read and write files."),
        "{described}"
    );
}

/// With a prefix, the prefixed name is the name: shown, called, told, kept.
#[tokio::test]
async fn prefix_is_part_of_every_name() {
    let model = ScriptedModel::new([calls(&[("1", "my_say"), ("2", "say")]), Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(saying("say", "Done!"))
        .group(ToolGroup::new("talk", "Talk.", ["say"]).active())
        .tool_prefix("my_")
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    assert_eq!(shown(&model.prompts()[0]), ["my_say"]);
    let texts = answers(&agent);
    assert_eq!(texts[0], "Done!");
    assert_eq!(texts[1], "Tool say not found\nAvailable tools: my_say");
    let events = events.take_json();
    assert_eq!(
        of_type(&events, "toolExecutionEnd")[0]["toolName"],
        "my_say"
    );
    let kept = json!(agent.conversation());
    assert_eq!(kept[2]["content"][0]["toolName"], "my_say");
}

/// What the configuration denies is not shown, and refused where a model calls it all the same.
#[tokio::test]
async fn denied_tools_are_not_shown_and_refused() {
    let (registry, events) = registry();
    let mut configuration = Configuration::default();
    configuration
        .permissions
        .insert("secret".to_owned(), Permission::Deny);
    registry.configure(configuration);
    for name in ["open", "secret"] {
        registry
            .register(Arc::new(saying(name, "Done!")))
            .await
            .unwrap();
    }
    let model = ScriptedModel::new([calls(&[("1", "secret"), ("2", "open")]), Reply::text("ok")]);
    let agent = Agent::builder(model.clone())
        .tools(registry)
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    assert_eq!(shown(&model.prompts()[0]), ["open"]);
    validity::check(&asked(&model.prompts()[1])).unwrap();
    let texts = answers(&agent);
    assert!(
        texts[0].starts_with("Tool secret is denied by configuration"),
        "{texts:?}"
    );
    assert_eq!(texts[1], "Done!");
    assert_eq!(of_type(&events.take_json(), "toolExecutionStart").len(), 1);
}
