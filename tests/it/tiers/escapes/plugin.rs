//! The plugin that tries to get out, built once for all tests.

use std::path::Path;
use std::sync::OnceLock;

use fs_err as fs;
use toolsmith_tests::{Project, exchanged};

const SOURCE: &str = include_str!("plugin/lib.rs.txt");

const MODULES: [(&str, &str); 5] = [
    ("files", include_str!("plugin/files.rs.txt")),
    ("limits", include_str!("plugin/limits.rs.txt")),
    ("network", include_str!("plugin/network.rs.txt")),
    ("processes", include_str!("plugin/processes.rs.txt")),
    ("system", include_str!("plugin/system.rs.txt")),
];

/// How the path of the file begins in the library that its constructor writes, and how long it is.
const MARK: (&str, usize) = ("@MARK@", 240);

/// The library whose constructor writes this file.
pub(super) fn library(mark: &Path) -> Vec<u8> {
    let (begin, length) = MARK;
    let mark = mark.to_str().unwrap();
    // Slashes more do no harm to a path.
    let path = format!("{}{mark}", "/".repeat(length - mark.len()));
    exchanged(built(), format!("{begin:@<length$}"), path)
}

fn built() -> &'static [u8] {
    static BUILT: OnceLock<Vec<u8>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let project = Project::new();
        project.plugin_with("escape", &["libc"], SOURCE);
        for (name, source) in MODULES {
            project.write(format!("plugins/escape/src/{name}.rs"), source);
        }
        let package = project.crate_name("escape");
        let config = fs::read_to_string(project.path().join("toolsmith.toml")).unwrap();
        let config = format!("{config}\n[plugins.{package}]\nisolation = \"sandbox\"\n");
        project.write("toolsmith.toml", &config);
        let list = project.run(&["list", "--json"]);
        let list = list.json();
        let hash = list["plugins"][0]["hash"]
            .as_str()
            .unwrap_or_else(|| panic!("{list:#}"));
        fs::read(project.path().join(format!(".toolsmith/store/{hash}.so"))).unwrap()
    })
}
