//! Requests, answers and streams in `OpenAI`'s words, letter by letter.

mod conversations;
mod replies;
mod requests;
mod rules;
mod streams;
