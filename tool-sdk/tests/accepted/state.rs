//! State of this crate and of others, opened by plain and async functions in any module.
use std::sync::{Arc, Mutex, RwLock};

use tool_sdk::prelude::*;

pub struct Db;

mod opening {
    use tool_sdk::prelude::*;

    #[tool_type]
    pub struct Settings {
        pub path: String,
    }

    #[plugin_state]
    pub async fn db(ctx: &PluginContext, settings: Settings) -> Result<super::Db> {
        ctx.log(settings.path);
        Ok(super::Db)
    }
}

#[plugin_state]
fn list() -> Mutex<Vec<String>> {
    Mutex::default()
}

#[plugin_state]
fn shared() -> std::io::Result<Arc<RwLock<u8>>> {
    Ok(Arc::default())
}

#[plugin_state]
fn text() -> Result<String, std::fmt::Error> {
    Ok("x".to_owned())
}

type Alias = Db;

#[tool]
async fn queried(db: &Db, sql: &str, list: &Mutex<Vec<String>>, ctx: &ToolContext) {
    list.lock().unwrap().push(sql.to_owned());
    let _ = (db, ctx);
}

#[tool]
fn kinds(db: &Alias, shared: &Arc<RwLock<u8>>, same: &crate::state::Db) -> u8 {
    let _ = (db, same);
    *shared.read().unwrap()
}
