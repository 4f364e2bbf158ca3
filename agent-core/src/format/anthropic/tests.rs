//! Requests, answers and streams in Anthropic's words, letter by letter.

mod conversations;
mod replies;
mod requests;
mod rules;
mod streams;
