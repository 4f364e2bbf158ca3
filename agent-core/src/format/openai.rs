//! Chat Completions, the dialect of `OpenAI` and of the many servers that imitate it.

mod conversation;

pub use conversation::conversation;
