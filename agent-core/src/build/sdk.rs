//! The SDK that plugin crates depend on: where it is, and how it gets there.
//!
//! Owns the sources that the program carries and their unpacking. Does not own what is written
//! into a plugin's manifest, which is [`super::template`]'s.
//!
//! The sources are unpacked to `STATE/sdk/VERSION-HASH/`, a workspace of just the two crates. The
//! hash makes the folder's name as good as its content: what is there is never changed, and an
//! older program's folder stays for the crates that were made for it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use fs_err as fs;
use toml::{Table, Value};

use super::error::BuildError;
use super::manifest::is_workspace;

/// The crate that every plugin depends on.
pub const CRATE: &str = "tool-sdk";

/// The crate beside it that its macros come from.
pub(super) const MACROS: &str = "tool-macros";

/// Changes with the way the sources are rendered, so that an older rendering is not taken for it.
const RENDERING: &[u8] = b"1";

/// What the build script has collected.
mod sources {
    include!(concat!(env!("OUT_DIR"), "/sdk_sources.rs"));
}

/// The name of the folder that holds this program's SDK.
static NAME: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    let workspace = ("Cargo.toml", sources::WORKSPACE.as_bytes());
    for (name, content) in sources::FILES
        .iter()
        .copied()
        .chain([workspace, ("", RENDERING)])
    {
        for part in [name.as_bytes(), content] {
            hasher
                .update(&(part.len() as u64).to_le_bytes())
                .update(part);
        }
    }
    let hash: String = hasher.finalize().to_hex().chars().take(16).collect();
    format!("{}-{hash}", env!("CARGO_PKG_VERSION"))
});

/// The folder in which SDKs are unpacked.
pub(super) fn folder(state: &Path) -> PathBuf {
    state.join("sdk")
}

/// The folder of the `tool-sdk` that new plugin crates depend on: the configured one, else the one
/// of the workspace that the plugins belong to, else this program's own, unpacked on need.
pub fn resolve(
    configured: Option<&Path>,
    plugins: &Path,
    state: &Path,
) -> Result<PathBuf, BuildError> {
    if let Some(path) = configured {
        if is_sdk(path) {
            return Ok(std::path::absolute(path)?);
        }
        return Err(BuildError::SdkPath {
            path: path.to_path_buf(),
        });
    }
    let plugins = std::path::absolute(plugins)?;
    match beside(&plugins) {
        Some(path) => Ok(path),
        None => Ok(unpack(state)?),
    }
}

/// Makes sure that this program's SDK is unpacked, and gives the folder of its `tool-sdk`.
pub fn unpack(state: &Path) -> io::Result<PathBuf> {
    /// Tells the unfinished folders of one process apart.
    static UNFINISHED: AtomicU32 = AtomicU32::new(0);

    let parent = std::path::absolute(folder(state))?;
    let place = parent.join(NAME.as_str());
    let sdk = place.join(CRATE);
    if is_sdk(&sdk) {
        return Ok(sdk);
    }
    let number = UNFINISHED.fetch_add(1, Ordering::Relaxed);
    let unfinished = parent.join(format!(".unpacking-{}-{number}", std::process::id()));
    // A process of the same number may have been killed here once.
    drop(fs::remove_dir_all(&unfinished));
    let written = write_all(&unfinished).and_then(|()| fs::rename(&unfinished, &place));
    if written.is_err() {
        // Without success nothing is left behind; that the folder is there already is one.
        drop(fs::remove_dir_all(&unfinished));
    }
    match written {
        Err(error) if !is_sdk(&sdk) => Err(error),
        _ => Ok(sdk),
    }
}

fn write_all(folder: &Path) -> io::Result<()> {
    let mut manifests = Vec::new();
    for (name, content) in sources::FILES {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        if is_member_manifest(name) {
            let manifest = member(&String::from_utf8_lossy(content)).map_err(io::Error::other)?;
            fs::write(&file, manifest.to_string())?;
            manifests.push(manifest);
        } else {
            fs::write(&file, content)?;
        }
    }
    let workspace = workspace(sources::WORKSPACE, &manifests).map_err(io::Error::other)?;
    fs::write(folder.join("Cargo.toml"), workspace.to_string())
}

/// `CRATE/Cargo.toml`; a manifest further down belongs to a template.
fn is_member_manifest(name: &str) -> bool {
    matches!(name.split_once('/'), Some((_, "Cargo.toml")))
}

/// The manifest of a member without the targets and dependencies whose files are not carried.
fn member(text: &str) -> Result<Table, toml::de::Error> {
    let mut manifest: Table = text.parse()?;
    for key in ["test", "bench", "example", "dev-dependencies"] {
        manifest.remove(key);
    }
    if let Some(targets) = manifest.get_mut("target").and_then(Value::as_table_mut) {
        for (_, target) in targets.iter_mut() {
            target
                .as_table_mut()
                .map(|target| target.remove("dev-dependencies"));
        }
    }
    Ok(manifest)
}

/// The workspace's manifest with only what its members use.
fn workspace(text: &str, manifests: &[Table]) -> Result<Table, toml::de::Error> {
    let mut whole: Table = text.parse()?;
    let whole = whole.remove("workspace").and_then(|value| match value {
        Value::Table(table) => Some(table),
        _ => None,
    });
    let mut whole = whole.unwrap_or_default();
    let mut kept = Table::new();
    for key in ["resolver", "package", "lints"] {
        kept.extend(whole.remove(key).map(|value| (key.to_owned(), value)));
    }
    let members = manifests
        .iter()
        .filter_map(|manifest| manifest.get("package")?.get("name"));
    kept.insert(
        "members".to_owned(),
        Value::Array(members.cloned().collect()),
    );
    let used: BTreeSet<&str> = manifests.iter().flat_map(inherited).collect();
    if let Some(Value::Table(mut dependencies)) = whole.remove("dependencies") {
        dependencies.retain(|name, _| used.contains(name));
        kept.insert("dependencies".to_owned(), Value::Table(dependencies));
    }
    Ok(Table::from_iter([(
        "workspace".to_owned(),
        Value::Table(kept),
    )]))
}

/// Names of the dependencies whose versions a manifest takes from its workspace.
fn inherited(manifest: &Table) -> Vec<&str> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table);
    let tables = targets.chain([manifest]).flat_map(|table| {
        ["dependencies", "build-dependencies"].map(|key| table.get(key).and_then(Value::as_table))
    });
    let is_inherited =
        |value: &Value| value.get("workspace").and_then(Value::as_bool) == Some(true);
    tables
        .flatten()
        .flatten()
        .filter(|(_, value)| is_inherited(value))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// The `tool-sdk` of the workspace that a plugins folder belongs to, or right beside the folder.
fn beside(plugins: &Path) -> Option<PathBuf> {
    plugins.ancestors().skip(1).find_map(|folder| {
        let manifest = folder.join("Cargo.toml");
        let is_near = plugins.parent() == Some(folder);
        let own = Some(folder.join(CRATE))
            .filter(|own| is_sdk(own) && (is_near || is_workspace(&manifest)));
        own.or_else(|| {
            let text = fs::read_to_string(&manifest).ok()?;
            let table: Table = text.parse().ok()?;
            let members = table.get("workspace")?.get("members")?.as_array()?;
            let members = members.iter().filter_map(Value::as_str);
            members
                .map(|member| folder.join(member))
                .find(|member| is_sdk(member))
        })
    })
}

/// Whether a folder is an SDK of this project: the one that new crates depend on now, or one that was
/// unpacked for earlier ones.
pub(super) fn is_known(
    path: &Path,
    configured: Option<&Path>,
    plugins: &Path,
    state: &Path,
) -> bool {
    let Ok(path) = fs::canonicalize(path) else {
        return false;
    };
    let is_it = |known: &Path| fs::canonicalize(known).is_ok_and(|known| known == path);
    let is_unpacked = || {
        let place = path.parent().and_then(Path::parent);
        place.is_some_and(|place| is_it_at(&folder(state), place)) && path.ends_with(CRATE)
    };
    configured.is_some_and(is_it) || beside(plugins).is_some_and(|own| is_it(&own)) || is_unpacked()
}

fn is_it_at(known: &Path, place: &Path) -> bool {
    fs::canonicalize(known).is_ok_and(|known| known == place)
}

fn is_sdk(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    text.parse::<Table>().is_ok_and(|table| {
        let name = table.get("package").and_then(|package| package.get("name"));
        name.and_then(Value::as_str) == Some(CRATE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    const SDK: &str = "[package]\nname = \"tool-sdk\"\n";

    #[test]
    fn a_member_keeps_only_what_is_carried() {
        let text = r#"
[package]
name = "tool-sdk"
version.workspace = true

[dependencies]
serde.workspace = true

[dev-dependencies]
insta.workspace = true

[target.'cfg(unix)'.dependencies]
rustix = { workspace = true, features = ["fs"] }

[target.'cfg(unix)'.dev-dependencies]
tempfile.workspace = true

[[bench]]
name = "b"
harness = false

[lints]
workspace = true
"#;
        let expected = r#"
[package]
name = "tool-sdk"
version.workspace = true

[dependencies]
serde.workspace = true

[target.'cfg(unix)'.dependencies]
rustix = { workspace = true, features = ["fs"] }

[lints]
workspace = true
"#;
        assert_eq!(member(text).unwrap(), expected.parse::<Table>().unwrap());
    }

    #[test]
    fn the_workspace_keeps_only_what_its_members_use() {
        let text = r#"
[workspace]
resolver = "3"
members = ["agent-core", "tool-macros", "tool-sdk", "tests"]
default-members = ["agent-core"]
exclude = ["plugins"]

[workspace.package]
version = "0.1.0"

[workspace.dependencies]
agent-core = { path = "agent-core" }
tool-macros = { path = "tool-macros", version = "=0.1.0" }
serde = "1"
syn = "3"
rustix = "1"
clap = "4"

[workspace.lints.rust]
unsafe_code = "deny"

[profile.dev]
debug = 1
"#;
        let members = [
            "[package]\nname = \"tool-macros\"\n[dependencies]\nsyn.workspace = true\n",
            "[package]\nname = \"tool-sdk\"\n[dependencies]\ntool-macros.workspace = true\n\
             serde = { workspace = true, features = [\"derive\"] }\nclap = \"4\"\n\
             [target.'cfg(unix)'.build-dependencies]\nrustix.workspace = true\n",
        ]
        .map(|text| text.parse::<Table>().unwrap());
        let expected = r#"
[workspace]
resolver = "3"
members = ["tool-macros", "tool-sdk"]

[workspace.package]
version = "0.1.0"

[workspace.dependencies]
tool-macros = { path = "tool-macros", version = "=0.1.0" }
serde = "1"
syn = "3"
rustix = "1"

[workspace.lints.rust]
unsafe_code = "deny"
"#;
        assert_eq!(
            workspace(text, &members).unwrap(),
            expected.parse::<Table>().unwrap()
        );
    }

    #[test]
    fn unpacking_gives_both_crates_and_leaves_nothing_else() {
        let state = tempfile::tempdir().unwrap();
        let sdk = unpack(state.path()).unwrap();
        let place = state.path().join("sdk").join(NAME.as_str());
        assert_eq!(sdk, place.join("tool-sdk"));
        for file in [
            "Cargo.toml",
            "tool-sdk/src/lib.rs",
            "tool-macros/Cargo.toml",
        ] {
            assert!(place.join(file).is_file(), "{file}");
        }
        let names: Vec<_> = fs::read_dir(state.path().join("sdk"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(names, [NAME.as_str()]);
        assert!(is_workspace(&place.join("Cargo.toml")));

        // What is there is not touched again.
        fs::write(sdk.join("mark"), "").unwrap();
        assert_eq!(unpack(state.path()).unwrap(), sdk);
        assert!(sdk.join("mark").is_file());
    }

    #[test]
    fn the_configured_sdk_comes_before_the_workspaces_and_that_before_our_own() {
        let folder = tempfile::tempdir().unwrap();
        let (root, state) = (folder.path(), folder.path().join("state"));
        let plugins = root.join("deep/plugins");
        let own = unpack(&state).unwrap();
        assert_eq!(resolve(None, &plugins, &state).unwrap(), own);

        write(
            root,
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/tool-sdk\"]\n",
        );
        write(root, "crates/tool-sdk/Cargo.toml", SDK);
        assert_eq!(
            resolve(None, &plugins, &state).unwrap(),
            root.join("crates/tool-sdk")
        );

        write(root, "deep/tool-sdk/Cargo.toml", SDK);
        assert_eq!(
            resolve(None, &plugins, &state).unwrap(),
            root.join("deep/tool-sdk")
        );

        write(root, "mine/Cargo.toml", SDK);
        let mine = root.join("mine");
        assert_eq!(resolve(Some(&mine), &plugins, &state).unwrap(), mine);
        let error = resolve(Some(root), &plugins, &state).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{}` is no `tool-sdk` crate", root.display())
        );
    }
}
