use tool_sdk::prelude::*;

struct Forecast;

#[tool]
fn plain() -> Forecast {
    Forecast
}

#[tool]
async fn fallible() -> Result<Vec<Forecast>> {
    Ok(vec![])
}

fn main() {}
