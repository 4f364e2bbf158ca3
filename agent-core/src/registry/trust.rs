//! A person vouches for a crate that a model wrote.
//!
//! Owns which crate that is, by its plugin name. Does not own what is remembered of it, which is
//! [`Trust`]'s.

use std::path::{Path, PathBuf};

use super::scan::{Found, scan};
use crate::build::{CrateOrigin, Trust};
use crate::ids::{PluginName, is_same_plugin};
use crate::tool::problem::closest;

/// What came of a person's word for a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vouched {
    /// From now on the crate is a person's, until it changes.
    Trusted {
        /// The crate's folder.
        path: PathBuf,
        /// What stands for its content.
        content: String,
    },
    /// It was already.
    Already {
        /// The crate's folder.
        path: PathBuf,
    },
    /// A person wrote it, or it is a finished library: there is nothing to vouch for.
    NotWritten {
        /// The file or folder.
        path: PathBuf,
    },
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// There is no such plugin.
    #[error("there is no plugin `{name}`{}", hint(.closest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The one that may be meant.
        closest: Option<String>,
    },
    /// It can't be a plugin.
    #[error("`{name}` can't be trusted: {reason}")]
    Refused {
        /// The name of its file or folder.
        name: String,
        /// Why it is none.
        reason: String,
    },
    /// A folder can't be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

fn hint(closest: Option<&str>) -> String {
    closest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Vouches for a crate in a plugins folder as it is now. A registry over the same folders sees it
/// at its next look.
///
/// # Errors
///
/// There is no such plugin, or the files can't be read or written.
pub fn vouch_for(plugins: &Path, state: &Path, name: &str) -> Result<Vouched, TrustError> {
    let trust = Trust::of(state);
    let index = scan(plugins, &trust)?;
    let mut all = index.plugins.iter();
    let found = all.find(|(known, _)| is_same_plugin(known.as_str(), name));
    let Some((_, found)) = found else {
        let mut refused = index.refused.iter();
        if let Some((known, refused)) = refused.find(|(known, _)| known.as_str() == name) {
            return Err(TrustError::Refused {
                name: known.to_string(),
                reason: refused.reason.clone(),
            });
        }
        let names = index.plugins.keys().map(PluginName::as_str);
        return Err(TrustError::Unknown {
            name: name.to_owned(),
            closest: closest(name, names),
        });
    };
    let path = found.path().to_owned();
    match found {
        Found::Crate(manifest) if manifest.origin == CrateOrigin::Written => {
            let content = trust.grant(manifest)?;
            Ok(Vouched::Trusted { path, content })
        }
        Found::Crate(manifest) if manifest.origin == CrateOrigin::Trusted => {
            Ok(Vouched::Already { path })
        }
        _ => Ok(Vouched::NotWritten { path }),
    }
}
