//! Soaks: what a host goes through in weeks, in seconds or hours.
//!
//! `soak reloads N` replaces plugins, `soak starts N` starts processes of plugins, both under eight
//! callers. One JSON object is printed. The exit code is 1 if a call had a wrong end.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program that prints, and ends where it can't measure"
)]

mod reloads;
mod resources;
mod starts;

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (soak, number) = match arguments.as_slice() {
        [soak, number] => (*soak, number.parse().expect("a number")),
        _ => ("", 0),
    };
    let (report, is_good) = match soak {
        "reloads" => reloads::run(number).await,
        "starts" => starts::run(number).await,
        _ => panic!("expected `reloads N` or `starts N`, found {arguments:?}"),
    };
    println!("{report}");
    ExitCode::from(u8::from(!is_good))
}
