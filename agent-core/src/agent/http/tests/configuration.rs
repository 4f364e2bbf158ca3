//! Models of the configuration: what is taken from it, and how mistakes are told.

use std::path::Path;

use super::*;
use crate::config::Config;

/// The client of `[models.mine]` with these lines, where two variables are set.
fn configured(lines: &str) -> Result<HttpModel, ModelError> {
    let text = format!("[models.mine]\n{lines}\n");
    let config = Config::parse(&text, Path::new("/project/toolsmith.toml")).unwrap();
    let environment = |name: &str| match name {
        "MY_KEY" => Some("sk-hunter2\n".to_owned()),
        "OPENAI_API_KEY" => Some("sk-usual".to_owned()),
        _ => None,
    };
    HttpModel::from_config("mine", &config.models["mine"], &environment)
}

/// Where requests go, the model's name and the key.
fn place(lines: &str) -> (String, String, Option<String>) {
    let model = configured(lines).unwrap();
    let place = model.place;
    (place.endpoint.into(), place.model, place.key)
}

#[test]
fn providers_have_their_own_servers() {
    let key = Some(KEY.to_owned());
    let mine = "mine".to_owned();
    for (provider, endpoint) in [
        ("openai", "https://api.openai.com/v1/chat/completions"),
        (
            "dashscope",
            "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions",
        ),
        ("anthropic", "https://api.anthropic.com/v1/messages"),
    ] {
        let lines = format!("provider = \"{provider}\"\napi_key = \"${{MY_KEY}}\"");
        assert_eq!(
            place(&lines),
            (endpoint.to_owned(), mine.clone(), key.clone())
        );
    }
    assert_eq!(
        place("base_url = \"http://127.0.0.1:11434/v1\"\nname = \"qwen3:8b\""),
        (
            "http://127.0.0.1:11434/v1/chat/completions".to_owned(),
            "qwen3:8b".to_owned(),
            None
        )
    );
}

/// The usual variable is for the provider's own server: no other is sent what it holds.
#[test]
fn usual_key_goes_to_the_providers_own_server_only() {
    assert_eq!(
        place("provider = \"openai\"").2.as_deref(),
        Some("sk-usual")
    );
    let elsewhere = place("provider = \"openai\"\nbase_url = \"https://example.com/v1\"");
    assert_eq!(elsewhere.2, None);
}

#[test]
fn limit_of_tokens_has_the_name_that_the_server_knows() {
    let parameters = |lines: &str| Value::from(configured(lines).unwrap().parameters).to_string();
    assert_eq!(
        parameters(
            "provider = \"openai\"\nmax_tokens = 5\nparameters = { user = \"${MY_KEY:-x}\" }"
        ),
        r#"{"max_completion_tokens":5,"user":"sk-hunter2\n"}"#
    );
    assert_eq!(
        parameters("base_url = \"http://127.0.0.1/v1\"\nmax_tokens = 5"),
        r#"{"max_tokens":5}"#
    );
    assert_eq!(
        parameters(
            "base_url = \"http://127.0.0.1/v1\"\nmax_tokens = 5\nparameters = { max_tokens = 7 }"
        ),
        r#"{"max_tokens":7}"#
    );
}

#[test]
fn mistakes_are_told_by_their_keys() {
    for (lines, expected) in [
        ("", "`models.mine` needs `provider` or `base_url`"),
        (
            "provider = \"dashscope\"",
            "https://dashscope.aliyuncs.com/compatible-mode/v1 asks for a key, and there is none: set \
             `models.mine.api_key` or the environment variable `DASHSCOPE_API_KEY`",
        ),
        (
            "provider = \"openai\"\napi_key = \"${NONE}\"",
            "`models.mine.api_key` can't be used: the environment variable `NONE` is not set; set it, \
             or write a value in its place",
        ),
        (
            "provider = \"openai\"\nparameters = { user = \"${NONE}\" }",
            "`models.mine.parameters.user` can't be used: the environment variable `NONE` is not set; \
             set it, or write a value in its place",
        ),
        (
            "provider = \"gemini\"\napi_key = \"x\"",
            "`models.mine.provider` = \"gemini\" is not served; served are \"openai\", \"dashscope\" and \
             \"anthropic\". Gemini answers in OpenAI's dialect too: provider = \"openai\" with \
             base_url = \"https://generativelanguage.googleapis.com/v1beta/openai\"",
        ),
        (
            "base_url = \"localhost:11434/v1\"",
            "`models.mine.base_url` must be an address that begins with `http://` or `https://`, found \
             \"localhost:11434/v1\"",
        ),
        (
            "base_url = \"http://example.com/v1\"\napi_key = \"sk-hunter2\"",
            "the key would travel to http://example.com/v1 without encryption; write `https://` in \
             `models.mine.base_url`",
        ),
        (
            "provider = \"openai\"\napi_key = \"sk\\nhunter2\"",
            "`models.mine.api_key` holds letters that no key has",
        ),
    ] {
        let error = configured(lines)
            .map(|model| format!("{model:?}"))
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn refused_key_is_told_with_where_it_came_from() {
    let refusal = || Answer::json(401, &json!({"error": {"message": "No."}}));
    let server = Server::start([refusal(), refusal()]).await;
    let base_url = format!("{}/v1", server.url);
    let lines = format!("base_url = \"{base_url}\"\napi_key = \"x\"");
    let mut model = configured(&lines).unwrap();
    assert_eq!(
        complete(&model).await.unwrap_err().to_string(),
        format!("{base_url} refuses the key: No. (HTTP 401); check `models.mine.api_key`")
    );
    model.place.key_variable = Some("OPENAI_API_KEY");
    assert_eq!(
        complete(&model).await.unwrap_err().to_string(),
        format!(
            "{base_url} refuses the key: No. (HTTP 401); check the environment variable `OPENAI_API_KEY`"
        )
    );
}

/// Secrets reach no log.
#[test]
fn key_and_parameters_are_in_no_debug_output() {
    let settings = settings(
        Provider::OpenAi,
        "http://me:hunter2@127.0.0.1/v1?key=hunter2",
    )
    .with_parameters(serde_json::Map::from_iter([(
        "key".to_owned(),
        json!("hunter2"),
    )]));
    let shown = format!("{settings:?} {:?}", client(settings.clone()));
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("http://127.0.0.1/v1"), "{shown}");
}
