//! The order of a run: what the tool gets, what the model is asked, what follows what.

use std::sync::{Arc, Mutex};

use agent_core::agent::{Agent, ScriptedModel};
use agent_core::call::{Before, CallView};
use agent_core::event::EndReason;
use agent_core::message::{Arguments, Block, Context, Message, Prompt, Reply, Role};
use agent_core::tool::{Execution, FunctionTool};
use serde_json::{Map, Value, json};
use tool_sdk::{Content, ToolResult};

use super::fixture::{asked, block, calls, of_type, recorded, results, saying, types};
use super::{calling, weather};
use crate::host::{Log, open_spec, weather_spec, within};

/// Y3, Y4, Y5, Y6, Y7: the model's id unchanged, prepared arguments, a signal that is not raised,
/// partial results.
#[tokio::test]
async fn y3_y7_tool_gets_id_prepared_arguments_signal_and_progress() {
    let log = Log::default();
    let seen = log.clone();
    let tool = FunctionTool::new(weather_spec(), move |call: Execution<'_>| {
        seen.add(format!("{} {}", call.call_id, call.arguments));
        seen.add(format!("aborted: {}", call.abort.is_aborted()));
        (call.progress)(json!({"status": "Fetching data..."}));
        (call.progress)(json!({"status": "Half of it"}));
        async { Ok(ToolResult::text("Done!")) }
    });
    let model = ScriptedModel::new([
        calling(
            "toolu_01 ü/=",
            "getWeather",
            json!({"city": 5, "units": null}),
        ),
        Reply::text("Done!"),
    ]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(tool).build().unwrap();
    within(agent.run("Hello")).await.unwrap();
    assert_eq!(
        log.take(),
        [
            r#"toolu_01 ü/= {"city":"5","units":"celsius"}"#,
            "aborted: false"
        ]
    );
    let events = events.take_json();
    let updates = of_type(&events, "toolExecutionUpdate");
    let status: Vec<&Value> = updates
        .iter()
        .map(|one| &one["partialResult"]["status"])
        .collect();
    assert_eq!(status, ["Fetching data...", "Half of it"]);
    assert_eq!(
        asked(&model.prompts()[1]).last().unwrap()["tool_call_id"],
        "toolu_01 ü/="
    );
}

/// Y8, Y9: all parts of a result come out as they went in; the model sees the content alone.
#[tokio::test]
async fn y8_y9_result_keeps_all_its_parts() {
    let tool = FunctionTool::new(open_spec("rows"), |_| async {
        let content = [Content::text("Done!"), Content::text("3 rows")];
        let result = ToolResult::content(content).details(json!({"rows": 3}));
        Ok(result.usage(json!({"cost": 1})))
    });
    let model = ScriptedModel::new([calls(&[("call_1", "rows")]), Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(tool).build().unwrap();
    within(agent.run("Hello")).await.unwrap();
    let events = events.take_json();
    let end = of_type(&events, "toolExecutionEnd")[0];
    assert_eq!(
        end["result"],
        json!({
            "toolCallId": "call_1", "toolName": "rows",
            "content": [{"type": "text", "text": "Done!"}, {"type": "text", "text": "3 rows"}],
            "details": {"rows": 3}, "usage": {"cost": 1}, "terminate": false, "isError": false,
        })
    );
    let answer = json!({"role": "tool", "tool_call_id": "call_1", "content": "Done!\n3 rows"});
    assert_eq!(asked(&model.prompts()[1])[2], answer);
}

/// Y21: prepare, format, ask; once each turn, in that order, each with what came before.
#[tokio::test]
async fn y21_context_is_prepared_then_formatted_then_asked() {
    let log = Log::default();
    let (first, second, third) = (log.clone(), log.clone(), log.clone());
    let script = ScriptedModel::new([calls(&[("call_1", "say")]), Reply::text("ok")]);
    let answers = script.clone();
    let model = move |prompt: Prompt| {
        third.add(format!(
            "ask {}",
            Value::Object(prompt.conversation.clone())
        ));
        let answers = answers.clone();
        async move { agent_core::agent::Model::complete(&answers, prompt).await }
    };
    let agent = Agent::builder(model)
        .tool(saying("say", "Done!"))
        .prepare_context(move |mut context: Context| {
            first.add(format!("prepare {}", context.messages.len()));
            context.system_prompt = "Be short.".to_owned();
            async { Ok(context) }
        })
        .format_messages(move |context: Context| {
            second.add(format!("format {}", context.system_prompt));
            let count = context.messages.len();
            async move { Ok(Map::from_iter([("count".to_owned(), json!(count))])) }
        })
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    let expected = [
        "prepare 1",
        "format Be short.",
        r#"ask {"count":1}"#,
        "prepare 3",
        "format Be short.",
        r#"ask {"count":3}"#,
    ];
    assert_eq!(log.take(), expected);
    let prompts = script.prompts();
    assert_eq!(prompts[1].context.system_prompt, "Be short.");
    assert_eq!(prompts[1].context.messages.len(), 3);
    assert_eq!(
        agent.conversation().messages().len(),
        4,
        "the hook changes no history"
    );
}

/// Y22: an answer without calls is the response, and nothing is asked again.
#[tokio::test]
async fn y22_answer_without_calls_ends_the_run() {
    let model = ScriptedModel::new([Reply::text("Hello!"), Reply::text("never")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(weather()).build().unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!(
        (run.reason, run.iterations, run.usage),
        (EndReason::Final, 1, None)
    );
    assert_eq!(model.prompts().len(), 1);
    assert_eq!(
        agent.take_response(),
        Some(Message::text(Role::Assistant, "Hello!"))
    );
    let events = events.take_json();
    let expected = [
        "agentStart",
        "messageStart",
        "messageEnd",
        "turnStart",
        "messageStart",
        "messageEnd",
        "turnEnd",
        "agentEnd",
    ];
    assert_eq!(types(&events), expected);
}

/// Y23, Y24: instructions, messages and tools are what the model is asked with, each time.
#[tokio::test]
async fn y23_y24_context_is_instructions_messages_and_tools() {
    let model = ScriptedModel::new([calls(&[("call_1", "b")]), Reply::text("ok")]);
    let agent = Agent::builder(model.clone())
        .name("Friday")
        .system_prompt("You are a helpful assistant.")
        .tool(saying("b", "Done!"))
        .tool(saying("a", "Done!"))
        .build()
        .unwrap();
    assert_eq!(agent.name(), "Friday");
    within(agent.run("Hello")).await.unwrap();
    let prompts = model.prompts();
    for prompt in &prompts {
        let names: Vec<&str> = prompt
            .context
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(prompt.context.system_prompt, "You are a helpful assistant.");
    }
    let lengths: Vec<usize> = prompts
        .iter()
        .map(|one| one.context.messages.len())
        .collect();
    assert_eq!(lengths, [1, 3]);
}

/// Y26, Y27: what a model sends instead of a call is answered, and the loop goes on.
#[tokio::test]
async fn y26_y27_bad_calls_are_answered_with_errors() {
    let broken = Block::ToolUse {
        id: "call_2".to_owned(),
        name: "getWeather".to_owned(),
        input: Arguments::Text("{\"city\": ".to_owned()),
    };
    let text = Block::ToolUse {
        id: "call_3".to_owned(),
        name: "getWeather".to_owned(),
        input: Arguments::Text("{\"city\": \"Tokyo\"}".to_owned()),
    };
    let reply = Reply::new(vec![block("", "", json!({})), broken, text]);
    let model = ScriptedModel::new([reply, Reply::text("ok")]);
    let (agent, events) = recorded(model.clone());
    let agent = agent.tool(weather()).build().unwrap();
    let run = within(agent.run("Hello")).await.unwrap();
    assert_eq!(run.reason, EndReason::Final);
    let answers = results(&agent.conversation().messages());
    assert!(uuid(&answers[0].0), "{answers:?}");
    assert!(answers[0].1.starts_with("Tool  not found"), "{answers:?}");
    assert_eq!(answers[1].0, "call_2");
    assert_eq!(
        answers[2],
        (
            "call_3".to_owned(),
            "Weather in Tokyo: Sunny, 22°C".to_owned()
        )
    );
    let events = events.take_json();
    assert_eq!(of_type(&events, "toolCallRejected").len(), 2);
    assert_eq!(of_type(&events, "toolExecutionStart").len(), 1);
    // What was told of the answer is what is kept of it: the new id too.
    let said = of_type(&events, "messageEnd")[1];
    assert_eq!(said["message"]["content"][0]["id"], answers[0].0.as_str());
}

/// Whether a text is a UUID of version 4.
pub(super) fn uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && text
            .chars()
            .all(|letter| letter == '-' || letter.is_ascii_hexdigit())
        && groups[2].starts_with('4')
}

/// Y28, Y30, Y31, Y32: several calls keep their order, each has its message, and the loop goes on.
#[tokio::test]
async fn y28_y31_y32_every_call_has_its_message_in_order() {
    let ids = [("call_b", "b"), ("call_a", "a"), ("call_c", "b")];
    let model = ScriptedModel::new([calls(&ids), Reply::text("ok")]);
    let agent = Agent::builder(model.clone())
        .tool(saying("a", "I am a"))
        .tool(saying("b", "I am b"))
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    let answer =
        |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let expected = [
        answer("call_b", "I am b"),
        answer("call_a", "I am a"),
        answer("call_c", "I am b"),
    ];
    assert_eq!(asked(&model.prompts()[1])[2..], expected);
}

/// Y29: the hook and the mode of the builder are those of the calls.
#[tokio::test]
async fn y29_hooks_of_the_builder_see_every_call() {
    let log = Log::default();
    let seen = log.clone();
    let ids = [("call_1", "a"), ("call_2", "a")];
    let model = ScriptedModel::new([calls(&ids), Reply::text("ok")]);
    let agent = Agent::builder(model)
        .tool(saying("a", "Done!"))
        .before_tool_call(move |call: CallView| {
            seen.add(&*call.id);
            async { Ok(Before::Run) }
        })
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    assert_eq!(log.take(), ["call_1", "call_2"]);
}

/// Y40, Y41, Y42, Y43: the events of a call, and the history after it.
#[tokio::test]
async fn y40_y43_events_and_history_of_the_documents_example() {
    let model = ScriptedModel::new([
        calling("call_1", "getWeather", json!({"city": "Tokyo"})),
        Reply::text("The weather in Tokyo is sunny, 22°C."),
    ]);
    let (agent, events) = recorded(model);
    let agent = agent
        .system_prompt("You are a helpful assistant.")
        .tool(weather())
        .build()
        .unwrap();
    within(agent.run("What's the weather in Tokyo?"))
        .await
        .unwrap();
    let events = events.take_json();
    let expected = [
        "agentStart",
        "messageStart",
        "messageEnd", // the question
        "turnStart",
        "messageStart",
        "messageEnd", // the call
        "toolExecutionStart",
        "toolExecutionEnd",
        "messageStart",
        "messageEnd",
        "turnEnd",
        "turnStart",
        "messageStart",
        "messageEnd",
        "turnEnd",
        "agentEnd",
    ];
    assert_eq!(types(&events), expected);
    assert_eq!(events[7]["toolCallId"], "call_1");
    assert_eq!(events[7]["isError"], false);
    assert_eq!(events[15], json!({"type": "agentEnd", "reason": "final"}));
    let history = json!([
        {"role": "user", "content": [{"type": "text", "text": "What's the weather in Tokyo?"}]},
        {"role": "assistant", "content": [{
            "type": "toolUse", "id": "call_1", "name": "getWeather", "input": {"city": "Tokyo"},
        }]},
        {"role": "tool", "content": [{
            "type": "toolResult", "toolCallId": "call_1", "toolName": "getWeather",
            "content": [{"type": "text", "text": "Weather in Tokyo: Sunny, 22°C"}],
            "isError": false,
        }]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "The weather in Tokyo is sunny, 22°C."},
        ]},
    ]);
    assert_eq!(json!(agent.conversation()), history);
    // What was told, message by message, is the history.
    let told: Vec<&Value> = of_type(&events, "messageEnd")
        .iter()
        .map(|one| &one["message"])
        .collect();
    assert_eq!(json!(told), history);
}

/// Y19: the text of a failed validation goes back to the model under the call's id.
#[tokio::test]
async fn y19_model_reads_why_its_arguments_were_refused() {
    let heard = Arc::new(Mutex::new(0));
    let count = Arc::clone(&heard);
    let model = ScriptedModel::new([
        calling("call_1", "getWeather", json!({})),
        calling("call_2", "getWeather", json!({"city": "Tokyo"})),
        Reply::text("ok"),
    ]);
    let (agent, events) = recorded(model.clone());
    let agent = agent
        .tool(weather())
        .before_tool_call(move |_| {
            *count.lock().unwrap() += 1;
            async { Ok(Before::Run) }
        })
        .build()
        .unwrap();
    within(agent.run("Hello")).await.unwrap();
    let last = asked(&model.prompts()[1]).pop().unwrap();
    assert_eq!(
        (&last["role"], &last["tool_call_id"]),
        (&json!("tool"), &json!("call_1"))
    );
    let text = last["content"].as_str().unwrap();
    assert!(text.contains("/city: missing required argument"), "{text}");
    assert_eq!(
        *heard.lock().unwrap(),
        1,
        "Y14: no hook hears of the refused call"
    );
    assert_eq!(of_type(&events.take_json(), "toolExecutionStart").len(), 1);
}
