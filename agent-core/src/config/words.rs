//! The words that a configuration may use where it must choose one of a few.
//!
//! Owns the spelling. Does not own what a choice leads to.

use std::fmt;

/// A choice that is written as one word.
pub(super) trait Word: Copy + Sized + 'static {
    /// Every spelling that is understood, the preferred one of each choice first.
    const SPELLINGS: &'static [(&'static str, Self)];
}

macro_rules! words {
    ($(#[$docs:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal $(| $other:literal)*,)+ }) => {
        $(#[$docs])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// The word that stands for the choice in a file.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The choice that a word stands for.
            pub fn from_word(word: &str) -> Option<Self> {
                let mut spellings = Self::SPELLINGS.iter();
                spellings.find_map(|(known, choice)| (*known == word).then_some(*choice))
            }

            /// Every choice.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
        }

        impl Word for $name {
            const SPELLINGS: &'static [(&'static str, Self)] =
                &[$(($word, Self::$variant), $(($other, Self::$variant),)*)+];
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Where the code of a plugin runs.
    Isolation {
        /// In the host's own process.
        InProcess = "in-process",
        /// In a process of its own.
        Worker = "worker",
        /// In a process of its own that gave up every right it was not granted.
        Sandbox = "sandbox",
    }
}

words! {
    /// What happens when a model calls a tool.
    Permission {
        /// The call runs.
        Allow = "allow",
        /// A person is asked first.
        Ask = "ask",
        /// The call is refused.
        Deny = "deny",
    }
}

words! {
    /// Whose dialect a model service speaks.
    Provider {
        /// `OpenAI` and the many services that imitate it.
        OpenAi = "openai",
        /// Alibaba's `DashScope`.
        DashScope = "dashscope",
        /// Anthropic.
        Anthropic = "anthropic",
        /// Google's Gemini.
        Gemini = "gemini",
    }
}

words! {
    /// How the agent tells a model about its tools.
    AgentMode {
        /// Through the provider's interface for tools.
        Api = "api",
        /// Through the text of the conversation.
        React = "react",
    }
}

words! {
    /// Whether the calls of one turn run beside each other.
    ToolExecution {
        /// As each tool says.
        PerTool = "per-tool",
        /// One after the other.
        Sequential = "sequential",
        /// All at once.
        Parallel = "parallel",
    }
}

words! {
    /// How an MCP server is spoken to.
    Transport {
        /// Through the standard streams of a started program.
        Stdio = "stdio",
        /// Over streamable HTTP.
        Http = "http" | "streamable-http" | "streamable_http" | "streamableHttp",
        /// Over HTTP with server-sent events, as older servers do.
        Sse = "sse",
    }
}
