//! The environment that cargo runs in.
//!
//! Owns which variables of the host are handed on, and which of those a build depends on. Does
//! not start anything.
//!
//! The host itself is often a child of cargo (`cargo run`, `cargo test`), which leaves many
//! variables behind: handed on, they would name the wrong package to build scripts, change flags
//! and make every build a full one.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use fs_err as fs;

use crate::fingerprint::Fingerprint;

/// The variable that names the cargo to use instead of the one in `PATH`.
pub(super) const CARGO_VARIABLE: &str = "TOOLSMITH_CARGO";

/// Variables of cargo that say where things are and how to reach them, rather than what is built.
const KEPT: &[&str] = &[
    "CARGO_HOME",
    "CARGO_REGISTRY_",
    "CARGO_REGISTRIES_",
    "CARGO_HTTP_",
    "CARGO_NET_",
];

/// Beginnings of the names of variables that change what is built.
const REMOVED: &[&str] = &["CARGO_", "RUSTC", "__CARGO"];

/// Variables that change what is built, by their whole names.
const REMOVED_NAMES: &[&str] = &["CARGO", "RUSTFLAGS", "RUSTDOCFLAGS", "MAKEFLAGS", "MFLAGS"];

/// Variables to which cargo and rustup add folders of their own.
const LIBRARY_PATHS: &[&str] = &[
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
];

/// Variables that compilers and common build scripts read, by their whole names. Cargo does not
/// follow all of them, so a build is asked for again when one has changed.
const READ_NAMES: &[&str] = &[
    "AR",
    "CC",
    "CXX",
    "LD",
    "CFLAGS",
    "CPPFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "SDKROOT",
    "SOURCE_DATE_EPOCH",
];

/// The same by the beginnings of their names.
const READ: &[&str] = &[
    "AR_",
    "CC_",
    "CXX_",
    "CFLAGS_",
    "CXXFLAGS_",
    "PKG_CONFIG",
    "OPENSSL_",
    "RUSTUP_DIST",
];

/// Variables with their values, as a process is started with them.
#[derive(Debug, Clone, Default)]
pub(super) struct BuildEnvironment {
    variables: Vec<(OsString, OsString)>,
}

impl BuildEnvironment {
    /// The host's own environment without what cargo left in it.
    pub(super) fn of_this_process() -> Self {
        let program = std::env::current_exe().ok();
        let folder = program.as_deref().and_then(Path::parent);
        Self::cleaned(std::env::vars_os(), folder)
    }

    /// Hands on every variable but those that change a build, and takes cargo's folders out of
    /// library paths; `folder` is the one that the running program stands in.
    pub(super) fn cleaned(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        folder: Option<&Path>,
    ) -> Self {
        let variables: Vec<_> = variables.into_iter().collect();
        // Cargo tells its children where it stands itself. Elsewhere library paths are a person's.
        let below_cargo = variables.iter().any(|(name, _)| name == "CARGO");
        let variables = variables
            .into_iter()
            .filter(|(name, _)| is_kept(name))
            .filter_map(|(name, value)| {
                let is_shared = below_cargo && is_one_of(&name, LIBRARY_PATHS);
                let value = if is_shared {
                    without_cargos_folders(&value, folder)
                } else {
                    Some(value)
                };
                value.map(|value| (name, value))
            })
            .collect();
        Self { variables }
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    pub(super) fn get(&self, wanted: &str) -> Option<&OsStr> {
        self.variables()
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| value)
    }

    /// The cargo to run.
    pub(super) fn cargo(&self) -> PathBuf {
        self.get(CARGO_VARIABLE)
            .filter(|program| !program.is_empty())
            .map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
    }

    /// The rustc that belongs to it.
    pub(super) fn rustc(&self) -> PathBuf {
        let sibling = self.cargo().with_file_name("rustc");
        if sibling
            .parent()
            .is_some_and(|folder| folder != Path::new(""))
            && sibling.is_file()
        {
            return sibling;
        }
        PathBuf::from("rustc")
    }

    /// A hash of the variables that compilers and build scripts read; their values may be secret.
    pub(super) fn fingerprint(&self) -> String {
        let mut read: Vec<_> = self.variables().filter(|(name, _)| is_read(name)).collect();
        read.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for (name, value) in read {
            for part in [name, value] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_encoded_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// A hash of the variables by which programs and libraries are found.
    pub(super) fn search_paths(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for name in LIBRARY_PATHS.iter().chain(&["PATH"]) {
            let value = self.get(name).map_or(&b"-"[..], OsStr::as_encoded_bytes);
            hasher
                .update(&(value.len() as u64).to_le_bytes())
                .update(value);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// What tells a program's file from a later one, wherever it is found.
    pub(super) fn fingerprint_of(&self, program: &Path) -> Option<Fingerprint> {
        let found = if program.components().count() > 1 {
            program.to_path_buf()
        } else {
            std::env::split_paths(self.get("PATH")?)
                .map(|folder| folder.join(program))
                .find(|file| file.is_file())?
        };
        Some(Fingerprint::of(&fs::metadata(found).ok()?))
    }

    /// The folder of cargo's configuration.
    pub(super) fn cargo_home(&self) -> Option<PathBuf> {
        self.home("CARGO_HOME", ".cargo")
    }

    /// The file in which rustup keeps the toolchain to use where nothing else names one.
    pub(super) fn rustup_settings(&self) -> Option<PathBuf> {
        Some(self.home("RUSTUP_HOME", ".rustup")?.join("settings.toml"))
    }

    fn home(&self, variable: &str, folder: &str) -> Option<PathBuf> {
        let named = self.get(variable).map(PathBuf::from);
        named.or_else(|| Some(Path::new(self.get("HOME")?).join(folder)))
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, name: &str, value: &OsStr) {
        self.variables.retain(|(other, _)| other != name);
        self.variables.push((name.into(), value.to_owned()));
    }
}

fn is_kept(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return true;
    };
    let kept = |kept: &&str| {
        if kept.ends_with('_') {
            name.starts_with(*kept)
        } else {
            name == *kept
        }
    };
    KEPT.iter().any(kept) || !(begins_with(name, REMOVED) || REMOVED_NAMES.contains(&name))
}

fn is_read(name: &OsStr) -> bool {
    is_one_of(name, READ_NAMES) || name.to_str().is_some_and(|name| begins_with(name, READ))
}

fn is_one_of(name: &OsStr, names: &[&str]) -> bool {
    name.to_str().is_some_and(|name| names.contains(&name))
}

fn begins_with(name: &str, beginnings: &[&str]) -> bool {
    beginnings
        .iter()
        .any(|beginning| name.starts_with(beginning))
}

/// Keeps the folders that a person put into a library path.
///
/// Cargo adds the folders of the running program and of the toolchain's libraries, rustup the
/// toolchain's own. Whatever lies elsewhere is a person's.
fn without_cargos_folders(value: &OsStr, own: Option<&Path>) -> Option<OsString> {
    // Tests and examples stand one folder below the profile's.
    let profile = own.map(|own| match own.file_name() {
        Some(name) if name == "deps" || name == "examples" => own.parent().unwrap_or(own),
        _ => own,
    });
    let is_cargos = |folder: &Path| {
        let is_toolchains =
            |part: Component<'_>| part.as_os_str() == "rustlib" || part.as_os_str() == "toolchains";
        profile.is_some_and(|profile| folder.starts_with(profile))
            || folder.components().any(is_toolchains)
    };
    let mut kept = std::env::split_paths(value)
        .filter(|folder| folder != Path::new("") && !is_cargos(folder))
        .peekable();
    kept.peek()?;
    std::env::join_paths(kept).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(variables: &[(&str, &str)]) -> Vec<(String, String)> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        let folder = Path::new("/project/target/debug/deps");
        BuildEnvironment::cleaned(variables, Some(folder))
            .variables()
            .map(|(name, value)| {
                (
                    name.to_str().unwrap().to_owned(),
                    value.to_str().unwrap().to_owned(),
                )
            })
            .collect()
    }

    #[test]
    fn what_cargo_left_behind_is_removed_and_the_rest_is_kept() {
        let kept = [
            ("PATH", "/bin"),
            ("HOME", "/home/ada"),
            ("CARGO_HOME", "/home/ada/.cargo"),
            ("CARGO_REGISTRIES_OURS_INDEX", "x"),
            ("CARGO_REGISTRY_DEFAULT", "x"),
            ("CARGO_HTTP_PROXY", "x"),
            ("CARGO_NET_OFFLINE", "true"),
            ("RUSTUP_TOOLCHAIN", "stable"),
            ("RUST_BACKTRACE", "1"),
            ("CARGOX", "x"),
        ];
        let removed = [
            ("CARGO", "/bin/cargo"),
            ("CARGO_MANIFEST_DIR", "/project"),
            ("CARGO_PKG_NAME", "toolsmith"),
            ("CARGO_HOMESTEAD", "x"),
            ("CARGO_TARGET_DIR", "/project/target"),
            ("CARGO_BUILD_TARGET", "x"),
            ("CARGO_ENCODED_RUSTFLAGS", "x"),
            ("CARGO_MAKEFLAGS", "x"),
            ("CARGO_INCREMENTAL", "0"),
            ("RUSTFLAGS", "-Dwarnings"),
            ("RUSTC", "x"),
            ("RUSTC_WRAPPER", "sccache"),
            ("RUSTC_BOOTSTRAP", "1"),
            ("MAKEFLAGS", "-j"),
            ("LD_LIBRARY_PATH", ""),
        ];
        let kept_too: Vec<_> = kept
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(cleaned(&[&kept[..], &removed[..]].concat()), kept_too);
    }

    #[test]
    fn library_paths_keep_what_a_person_put_in() {
        for (value, expected) in [
            (
                "/project/target/debug/deps:/project/target/debug:/r/toolchains/stable/lib",
                None,
            ),
            (
                "/project/target/debug/build/x/out:/nix/lib",
                Some("/nix/lib"),
            ),
            (
                "/opt/lib:/r/lib/rustlib/x86_64-unknown-linux-gnu/lib",
                Some("/opt/lib"),
            ),
            ("/opt/lib::/usr/lib", Some("/opt/lib:/usr/lib")),
            ("/project", Some("/project")),
            ("/", Some("/")),
        ] {
            let expected: Vec<_> = expected
                .map(|value| ("LD_LIBRARY_PATH".to_owned(), value.to_owned()))
                .into_iter()
                .collect();
            let below_cargo = [("CARGO", "/bin/cargo"), ("LD_LIBRARY_PATH", value)];
            assert_eq!(cleaned(&below_cargo), expected, "{value}");
        }
        let alone = [("LD_LIBRARY_PATH", "/project/target/debug")];
        assert_eq!(cleaned(&alone).len(), 1);
    }

    #[test]
    fn only_variables_that_compilers_read_are_in_the_fingerprint() {
        let fingerprint = |variables: &[(&str, &str)]| {
            let variables = variables
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            BuildEnvironment::cleaned(variables, None).fingerprint()
        };
        let base = fingerprint(&[("CC", "gcc"), ("TERM", "x")]);
        assert_eq!(
            base,
            fingerprint(&[("TERM", "y"), ("SHLVL", "2"), ("CC", "gcc")])
        );
        assert_ne!(base, fingerprint(&[("CC", "clang")]));
        assert_ne!(base, fingerprint(&[("CC", "gcc"), ("OPENSSL_DIR", "/o")]));
        assert_ne!(fingerprint(&[("CC", "ab")]), fingerprint(&[("CCa", "b")]));
    }

    #[test]
    fn a_named_cargo_is_used_instead_of_the_one_in_path() {
        let mut environment = BuildEnvironment::default();
        assert_eq!(environment.cargo(), Path::new("cargo"));
        assert_eq!(environment.rustc(), Path::new("rustc"));
        environment.set(CARGO_VARIABLE, OsStr::new("/no/such/cargo"));
        assert_eq!(environment.cargo(), Path::new("/no/such/cargo"));
        assert_eq!(environment.rustc(), Path::new("rustc"));
    }
}
