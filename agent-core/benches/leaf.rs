//! What one more tool adds to the build of its plugin crate, and how much of that its function
//! alone would add.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench prints, and ends where it can't measure"
)]

#[expect(dead_code, reason = "the other benches use the rest")]
mod support;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use agent_core::build::Profile;
use support::{Project, median, repository};

const ROUNDS: u32 = 11;

/// How many tools or functions the larger crates have besides their first tool.
const MORE: u32 = 40;

/// What a tool may add.
const GOAL: Duration = Duration::from_millis(10);

/// Removed from cargo's environment, since the host removes them too.
const REMOVED: [&str; 6] = [
    "CARGO_BUILD_JOBS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
];

/// A plugin crate of one tool and of what more is built.
struct Leaf {
    package: String,
    folder: PathBuf,
    is_async: bool,
    tools: u32,
    functions: u32,
    /// Without anything kept from a build before.
    first: Vec<Duration>,
    /// After a change of the first tool's body.
    edited: Vec<Duration>,
}

impl Leaf {
    /// A crate whose dependencies are built.
    fn new(project: &Project, is_async: bool, tools: u32, functions: u32) -> Self {
        let kind = if is_async { "async" } else { "plain" };
        let package = format!("bench-leaf-{kind}-{tools}-{functions}");
        project.plugin(&package, "");
        let leaf = Self {
            folder: project.path().join("plugins").join(&package),
            package,
            is_async,
            tools,
            functions,
            first: Vec::new(),
            edited: Vec::new(),
        };
        leaf.write(0);
        leaf.build();
        leaf
    }

    /// Writes the source; only the body of the first tool differs between versions.
    fn write(&self, version: u32) {
        let mut source = "use tool_sdk::prelude::*;\n".to_owned();
        for index in 0..self.tools + self.functions {
            let version = if index == 0 { version } else { 0 };
            source += &self.function(index, version);
        }
        fs_err::write(self.folder.join("src/lib.rs"), source).expect("writable");
    }

    /// One function of an ordinary signature.
    fn function(&self, index: u32, version: u32) -> String {
        let is_tool = index < self.tools;
        let tool = if is_tool { "#[tool]" } else { "" };
        let default = if is_tool { "#[arg(default = 3)]" } else { "" };
        let asynchrony = if self.is_async { "async" } else { "" };
        format!(
            r#"
            /// Says what the weather will be.
            {tool}
            pub {asynchrony} fn weather_{index}(
                city: String,
                {default} days: u8,
                ctx: &ToolContext,
            ) -> Result<String> {{
                ctx.progress(json!({{"asked": {index}}}));
                Ok(format!("{{city}} {{days}} v{version}"))
            }}
            "#
        )
    }

    /// Builds as the host does, and says how long that took.
    fn build(&self) -> Duration {
        let mut command = Command::new("cargo");
        command
            .args(["build", "--quiet", "--lib", "--locked", "--target-dir"])
            .arg(target())
            .args(Profile::Dev.arguments())
            .current_dir(&self.folder);
        for name in REMOVED {
            command.env_remove(name);
        }
        let begin = Instant::now();
        assert!(command.status().expect("cargo starts").success());
        begin.elapsed()
    }

    /// Takes away what the compiler keeps between builds.
    fn forget(&self) {
        let name = format!("{}-", self.package.replace('-', "_"));
        for entry in fs_err::read_dir(target().join("debug/incremental")).expect("readable") {
            let path = entry.expect("readable").path();
            let found = path.file_name().expect("an entry has a name");
            if found.to_string_lossy().starts_with(&name) {
                fs_err::remove_dir_all(path).expect("writable");
            }
        }
    }

    /// Measures a first build, and one after an edit.
    fn round(&mut self, round: u32) {
        self.forget();
        self.write(2 * round);
        self.first.push(self.build());
        self.write(2 * round + 1);
        self.edited.push(self.build());
    }
}

/// The benches share a target directory.
fn target() -> PathBuf {
    repository().join("target/toolsmith-bench")
}

fn main() {
    agent_core::helper::init();
    let project = Project::new();
    let mut leaves = Vec::new();
    for is_async in [false, true] {
        for (tools, functions) in [(1, 0), (1 + MORE, 0), (1, MORE)] {
            leaves.push(Leaf::new(&project, is_async, tools, functions));
        }
    }
    for round in 1..=ROUNDS {
        for leaf in &mut leaves {
            leaf.round(round);
        }
    }
    for leaves in leaves.chunks_mut(3) {
        let kind = if leaves[0].is_async { "async fn" } else { "fn" };
        report(kind, "first build", leaves, |leaf| &mut leaf.first);
        report(kind, "after an edit", leaves, |leaf| &mut leaf.edited);
    }
}

/// Prints what each of the tools and each of the functions adds to the crate of one tool.
fn report(
    kind: &str,
    build: &str,
    leaves: &mut [Leaf],
    times: fn(&mut Leaf) -> &mut Vec<Duration>,
) {
    let mut of = |index: usize| median(times(&mut leaves[index]));
    let (one, tools, functions) = (of(0), of(1), of(2));
    let tool = tools.saturating_sub(one) / MORE;
    let function = functions.saturating_sub(one) / MORE;
    let verdict = if tool <= GOAL { "met" } else { "MISSED" };
    println!(
        "{kind:>8}, {build}: {tool:.1?} for a tool, {function:.1?} for its function alone; \
         1 tool in {one:.0?}, {more} in {tools:.0?} (goal {GOAL:?} for a tool, {verdict})",
        more = 1 + MORE,
    );
}
