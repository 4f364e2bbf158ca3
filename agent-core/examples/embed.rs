//! An agent with a tool of this program and the tools of a folder of plugins, which is watched:
//! `MODEL=qwen3:8b cargo run -p agent-core --example embed -- "What time is it in Oslo?"`
use std::{env, error::Error, io, io::Write, sync::Arc};

use agent_core::agent::{Agent, HttpModel, HttpSettings};
use agent_core::config::Provider;
use agent_core::event::Emitter;
use agent_core::registry::{Registry, Scope};
use tool_sdk::{tool, toolsmith_static};

/// Add two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() -> Result<(), Box<dyn Error>> {
    agent_core::helper::init();
    answer(&env::args().nth(1).ok_or("expected a question")?)
}

#[tokio::main]
async fn answer(question: &str) -> Result<(), Box<dyn Error>> {
    let registry = Registry::of_folder("plugins", Emitter::default())?;
    registry.register_static(toolsmith_static![add]).await?;
    registry.refresh(Scope::All, &()).await?;
    let _watch = registry.watch(Arc::new(()));

    let base_url = env::var("BASE_URL").unwrap_or("http://127.0.0.1:11434/v1".to_owned());
    let settings = HttpSettings::new(Provider::OpenAi, env::var("MODEL")?)
        .with_base_url(base_url)
        .with_api_key(env::var("API_KEY").unwrap_or_default());
    let agent = Agent::builder(HttpModel::new(settings)?)
        .tools(registry)
        .on_text(|text| drop(write!(io::stdout(), "{text}").and_then(|()| io::stdout().flush())))
        .build()?;
    agent.run(question).await?;
    Ok(())
}
