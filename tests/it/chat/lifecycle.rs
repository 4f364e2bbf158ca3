//! The complete example of the documents (Y50), through the library and a real connection.

use agent_core::agent::{Agent, HttpModel, HttpSettings};
use agent_core::config::Provider;
use agent_core::event::EndReason;
use agent_core::message::Block;
use agent_core::registry::Registry;
use serde_json::{Value, json};
use toolsmith_tests::Project;

use super::fixture::{LAST, QUESTION, RESULT, SYSTEM, WEATHER, weather_script};
use super::server::{Dialect, KEY, MODEL, Server};
use crate::agent::weather;
use crate::host::{Recorder, within};

/// The client that a program makes for this server.
fn model(server: &Server) -> HttpModel {
    let provider = match server.dialect() {
        Dialect::OpenAi => Provider::OpenAi,
        Dialect::Anthropic => Provider::Anthropic,
    };
    let settings = HttpSettings::new(provider, MODEL)
        .with_base_url(&server.url)
        .with_api_key(KEY);
    HttpModel::new(settings).unwrap()
}

/// What the model was told at its second call, in the words of the provider.
fn second_request(dialect: Dialect) -> Value {
    match dialect {
        Dialect::OpenAi => json!({"messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": null, "tool_calls": [{
                "id": "call_1", "type": "function",
                "function": {"name": "getWeather", "arguments": "{\"city\":\"Tokyo\"}"},
            }]},
            {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
        ]}),
        Dialect::Anthropic => json!({"system": SYSTEM, "messages": [
            {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "call_1", "name": "getWeather", "input": {"city": "Tokyo"}},
            ]},
            {"role": "user", "content": [{
                "type": "tool_result", "tool_use_id": "call_1",
                "content": [{"type": "text", "text": RESULT}],
            }]},
        ]}),
    }
}

/// Runs the example and checks everything that the documents say of it.
async fn check(dialect: Dialect, streamed: bool, tools: Option<&Registry>) {
    let server = Server::start(dialect, weather_script());
    let mut agent = Agent::builder(model(&server))
        .system_prompt(SYSTEM)
        .stream(streamed);
    agent = match tools {
        Some(registry) => agent.tools(registry.clone()),
        None => agent.tool(weather()),
    };
    let agent = agent.build().unwrap();
    let events = Recorder::default();
    agent.events().add({
        let emitter = events.emitter();
        move |event: &std::sync::Arc<agent_core::event::Event>| {
            emitter.emit(|| event.kind.clone());
        }
    });
    let run = within(agent.run(QUESTION)).await.unwrap();
    assert_eq!((run.reason, run.iterations), (EndReason::Final, 2));
    assert_eq!(agent.take_response().unwrap().content, [Block::text(LAST)]);

    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request.body["stream"] == true, streamed);
        let tools = request.body["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 1);
    }
    for (name, value) in second_request(dialect).as_object().unwrap() {
        assert_eq!(&requests[1].body[name], value);
    }
    let history = json!([
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        {"role": "assistant", "content": [{
            "type": "toolUse", "id": "call_1", "name": "getWeather",
            "input": arguments(dialect, streamed),
        }]},
        {"role": "tool", "content": [{
            "type": "toolResult", "toolCallId": "call_1", "toolName": "getWeather",
            "content": [{"type": "text", "text": RESULT}], "isError": false,
        }]},
        {"role": "assistant", "content": [{"type": "text", "text": LAST}]},
    ]);
    assert_eq!(json!(agent.conversation()), history);
    let types = events.take_types();
    let ends = types.iter().filter(|kind| *kind == "agentEnd").count();
    assert_eq!((ends, types.last().unwrap().as_str()), (1, "agentEnd"));
    let grows = types.iter().any(|kind| kind == "messageUpdate");
    assert_eq!(grows, streamed);
}

/// The arguments as the conversation keeps them: as the provider sends them, which may be as text.
fn arguments(dialect: Dialect, streamed: bool) -> Value {
    if dialect == Dialect::Anthropic && !streamed {
        json!({"city": "Tokyo"})
    } else {
        json!("{\"city\":\"Tokyo\"}")
    }
}

/// Y20 to Y33, Y43, Y44, Y50: whatever the dialect, streamed or whole.
#[tokio::test(flavor = "multi_thread")]
async fn y50_lifecycle_with_a_tool_of_the_program() {
    for dialect in Dialect::BOTH {
        for streamed in [false, true] {
            check(dialect, streamed, None).await;
        }
    }
}

/// The same with the tool of a plugin.
#[tokio::test(flavor = "multi_thread")]
async fn y50_lifecycle_with_a_tool_of_a_plugin() {
    let project = Project::new();
    project.plugin("weather", WEATHER);
    let host = project.host().await;
    for dialect in Dialect::BOTH {
        for streamed in [false, true] {
            check(dialect, streamed, Some(host.registry())).await;
        }
    }
}
