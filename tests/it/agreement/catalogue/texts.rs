//! Text, characters, booleans, and anything.

use std::borrow::Cow;

use tool_sdk::prelude::*;

use super::echo;

#[tool]
fn agree_scalars(lent: &str, owned: String, letter: char, flag: bool, anything: Value) -> Value {
    echo!(lent, owned, letter, flag, anything)
}

#[tool]
fn agree_optional_scalars(
    text: Option<String>,
    letter: Option<char>,
    flag: Option<bool>,
    anything: Option<Value>,
    boxed: Option<Box<str>>,
) -> Value {
    echo!(text, letter, flag, anything, boxed)
}

#[tool]
fn agree_boxed_texts(boxed: Box<str>, cow: Cow<'static, str>) -> Value {
    echo!(boxed, cow)
}

#[tool]
fn agree_lengths_of_text(
    #[arg(min_length = 1, max_length = 5)] lent: &str,
    #[arg(max_length = 3)] owned: String,
    #[arg(min_length = 3)] optional: Option<String>,
    #[arg(max_length = 0)] empty: String,
) -> Value {
    echo!(lent, owned, optional, empty)
}

#[tool]
fn agree_patterns(
    #[arg(pattern = "^[a-zß🥳]{2,4}$")] lent: &str,
    #[arg(pattern = "[0-9]", max_length = 4)] owned: String,
    #[arg(pattern = "[a-f]")] letter: char,
    #[arg(pattern = "^(yes|no)$")] optional: Option<String>,
    #[arg(pattern = "^[A-Z][a-z]*$", max_length = 2)] list: Vec<String>,
    #[arg(pattern = "^x")] optional_list: Option<Vec<String>>,
) -> Value {
    echo!(lent, owned, letter, optional, list, optional_list)
}

#[tool]
fn agree_formats(
    #[arg(format = "date")] date: &str,
    #[arg(format = "date-time")] moment: String,
    #[arg(format = "time")] time: String,
    #[arg(format = "duration")] duration: String,
    #[arg(format = "email")] email: String,
    #[arg(format = "uuid")] uuid: Option<String>,
    #[arg(format = "uri")] uris: Vec<String>,
    #[arg(format = "ipv4")] old: String,
    #[arg(format = "ipv6")] new: Option<Vec<String>>,
    #[arg(format = "hostname")] host: String,
) -> Value {
    echo!(
        date, moment, time, duration, email, uuid, uris, old, new, host
    )
}
