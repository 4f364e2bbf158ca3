//! The agent's loop: what it asks, what it answers, how it ends.

mod aborts;
mod batches;
mod endings;
mod events;
mod fixture;
mod guard;
mod history;
mod hooks;
mod lifecycle;
mod points;
mod steering;
mod streaming;
mod tools;
mod validity;

use agent_core::agent::{Agent, ScriptedModel};
use agent_core::event::EndReason;
use agent_core::message::{Arguments, Block, Reply};
use agent_core::tool::FunctionTool;
use serde_json::{Value, json};
use tool_sdk::ToolResult;

use crate::host::{weather_spec, within};

/// An answer that makes one call.
pub(crate) fn calling(id: &str, name: &str, arguments: Value) -> Reply {
    Reply::new(vec![Block::ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: Arguments::Json(arguments),
    }])
}

/// `getWeather` of the documents.
pub(crate) fn weather() -> FunctionTool {
    FunctionTool::new(weather_spec(), |call| {
        let city = call.arguments["city"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        async move { Ok(ToolResult::text(format!("Weather in {city}: Sunny, 22°C"))) }
    })
}

#[tokio::test]
async fn y50_lifecycle_asks_twice_and_ends_with_the_models_words() {
    let last = "The weather in Tokyo is sunny, 22°C.";
    let model = ScriptedModel::new([
        calling("call_1", "getWeather", json!({"city": "Tokyo"})),
        Reply::text(last),
    ]);
    let agent = Agent::builder(model.clone())
        .system_prompt("You are a helpful assistant.")
        .tool(weather())
        .build()
        .unwrap();
    let run = within(agent.run("What's the weather in Tokyo?"))
        .await
        .unwrap();
    assert_eq!((run.reason, run.iterations), (EndReason::Final, 2));
    assert_eq!(agent.take_response().unwrap().content, [Block::text(last)]);
    assert_eq!(agent.take_response(), None);

    let prompts = model.prompts();
    let expected = json!([
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "What's the weather in Tokyo?"},
        {"role": "assistant", "content": null, "tool_calls": [{
            "id": "call_1", "type": "function",
            "function": {"name": "getWeather", "arguments": "{\"city\": \"Tokyo\"}"},
        }]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Weather in Tokyo: Sunny, 22°C"},
    ]);
    assert_eq!(prompts[1].conversation["messages"], expected);
    assert_eq!(prompts[0].context.tools.len(), 1);
}
