//! The host of toolsmith: loads plugins of tools, keeps them current while they are edited, and
//! takes a model's calls through prepare → execute → finalize.
//!
//! ```
//! use agent_core::agent::{Agent, ScriptedModel};
//! use agent_core::message::Reply;
//! use agent_core::tool::{FunctionTool, ToolSpec};
//! use serde_json::json;
//! use tool_sdk::ToolResult;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = ToolSpec::new("ping", "Answer pong.", json!({"type": "object"}));
//! let ping = FunctionTool::new(spec, |_call| async { Ok(ToolResult::text("pong")) });
//! // Says what it is told to say; `agent::HttpModel` speaks to a server.
//! let model = ScriptedModel::new([Reply::text("Hello!")]);
//! let agent = Agent::builder(model).tool(ping).build()?;
//! agent.run("Hello?").await?;
//! assert_eq!(agent.take_response().unwrap().as_text(), "Hello!");
//! # Ok(())
//! # }
//! ```
//!
//! [`registry::Registry::of_folder`] has the tools of a folder of plugins,
//! [`registry::Registry::without_plugins`] those of the program alone.
//!
//! # The ladder
//!
//! A module uses only modules of lower rungs.
//!
//! | rung | modules | what they own |
//! |---|---|---|
//! | 1 | [`ids`], [`limits`], [`abort`], [`fingerprint`], [`json_text`], [`json_value`], [`config`], transport | plain values; what HTTP clients share |
//! | 2 | [`tool`], [`message`], [`event`] | one callable tool; what is said; what happens |
//! | 3 | [`plugin`] | a library file → tools |
//! | 4 | [`worker`], [`network`] | helper processes; HTTP requests of plugins |
//! | 5 | [`build`] | a crate → a library file |
//! | 6 | [`registry`] | which tools exist now |
//! | 7 | [`call`] | prepare → execute → finalize |
//! | 8 | [`mod@format`] | one definition, many dialects |
//! | 10 | [`agent`] | the loop, the conversation, model clients |
//! | 12 | [`cli`] | the command, behind the feature `cli` |

pub mod abort;
pub mod agent;
pub mod build;
pub mod call;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
pub mod event;
pub mod fingerprint;
pub mod format;
pub mod ids;
pub mod json_text;
pub mod json_value;
pub mod limits;
pub mod message;
pub mod network;
pub mod plugin;
pub mod registry;
pub mod tool;
#[cfg(feature = "http")]
mod transport;
pub mod worker;

pub use worker::helper;
