//! Types count and not their names.
use tool_sdk::prelude::*;

type Text = String;
type Maybe<T> = Option<T>;
type Outcome = Result<Vec<Text>, std::io::Error>;

#[tool]
fn aliased(a: Text, b: Maybe<Text>, c: self::Maybe<Maybe<u8>>) -> Outcome {
    let _ = (b, c);
    Ok(vec![a])
}
