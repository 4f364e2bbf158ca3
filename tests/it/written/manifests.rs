//! What a manifest may not say, names that are taken, and where nothing can be confined.

use toolsmith_tests::{Project, Ran};

use super::{edit, list, plugin, unmark, written};

const ONE: &str = "/// One.\n#[tool]\nfn one() -> i32 { 1 }\n";

/// A crate beside the plugins folder.
fn helper(project: &Project, manifest: &str, source: &str) -> String {
    let name = project.crate_name("helper");
    let text = format!("[package]\nname = {name:?}\nedition = \"2024\"\n{manifest}\n[workspace]\n");
    project.write("helper/Cargo.toml", &text);
    project.write("helper/src/lib.rs", source);
    format!("{name} = {{ path = \"../../helper\" }}")
}

/// The crate is refused for this reason, and a person's crate of the same kind is built.
fn is_refused_for_a_model_alone(project: &Project, reason: &str, has_run: impl Fn() -> bool) {
    let refused = list(project);
    let refused = plugin(project, &refused, "odd");
    assert_eq!(refused["state"], "failed", "{refused}");
    let text = refused["reason"].as_str().unwrap();
    let start = format!(
        "`{}` was written by a model and is not built: its manifest may not have ",
        project.crate_name("odd")
    );
    assert!(text.starts_with(&start) && text.contains(reason), "{text}");
    assert!(!has_run(), "something was built");

    unmark(project, "odd");
    let built = list(project);
    let state = plugin(project, &built, "odd")["state"].clone();
    assert_eq!(state, "live", "{}", built.stderr);
    assert!(has_run());
}

#[test]
fn a_build_script_is_refused() {
    let project = Project::new();
    let mark = project.path().join("script-ran");
    written(&project, "odd", ONE);
    let script = format!("fn main() {{ std::fs::write({mark:?}, \"\").unwrap(); }}");
    project.write("plugins/odd/build.rs", &script);
    let has_run = || mark.exists();
    is_refused_for_a_model_alone(&project, "the build script `build.rs`", has_run);
}

#[test]
fn a_macro_crate_of_its_own_is_refused() {
    let project = Project::new();
    let mark = project.path().join("macro-ran");
    let source = format!(
        "#[proc_macro]\npub fn act(input: proc_macro::TokenStream) -> proc_macro::TokenStream \
         {{ std::fs::write({mark:?}, \"\").unwrap(); input }}\n"
    );
    let dependency = helper(&project, "[lib]\nproc-macro = true\n", &source);
    let name = project.crate_name("helper").replace('-', "_");
    written(&project, "odd", &format!("{name}::act! {{}}\n{ONE}"));
    edit(&project, "odd", |manifest| {
        manifest.replace("[dependencies]", &format!("[dependencies]\n{dependency}"))
    });
    let reason = format!("the dependency `{}`", project.crate_name("helper"));
    is_refused_for_a_model_alone(&project, &reason, || mark.exists());
}

#[test]
fn a_folder_that_only_calls_itself_the_sdk_is_refused() {
    let project = Project::new();
    written(&project, "odd", ONE);
    let sdk = toolsmith_tests::repository().join("tool-sdk");
    let other = project.path().join("elsewhere/tool-sdk");
    let sdk = sdk.display().to_string();
    project.write(
        "elsewhere/tool-sdk/Cargo.toml",
        "[package]\nname = \"tool-sdk\"\n",
    );
    edit(&project, "odd", |manifest| {
        manifest.replace(&sdk, &other.display().to_string())
    });
    let refused = list(&project);
    let reason = plugin(&project, &refused, "odd")["reason"].clone();
    let expected = format!("the path `{}` of `tool-sdk`", other.display());
    assert!(reason.as_str().unwrap().contains(&expected), "{reason}");
    edit(&project, "odd", |manifest| {
        let from = other.display().to_string();
        manifest.replace(&from, &sdk)
    });
    let built = list(&project);
    let state = plugin(&project, &built, "odd");
    assert_eq!(state["state"], "live", "{state}\n{}", built.stderr);
}

#[test]
fn a_patch_is_refused() {
    let project = Project::new();
    let dependency = helper(&project, "", "");
    written(&project, "odd", ONE);
    edit(&project, "odd", |manifest| {
        format!("{manifest}\n[patch.crates-io]\n{dependency}\n")
    });
    is_refused_for_a_model_alone(&project, "`patch`", || true_once_built(&project));
}

/// A person's crate has its library among the trusted.
fn true_once_built(project: &Project) -> bool {
    let name = project.crate_name("odd").replace('-', "_");
    let file = format!("trusted/debug/lib{name}.so");
    toolsmith_tests::target().join(file).is_file()
}

#[test]
fn a_name_that_a_person_has_is_not_taken() {
    let project = Project::new();
    project.plugin("own", ONE);
    // By its folder it comes first.
    written(
        &project,
        "a-thief",
        "/// Two.\n#[tool]\nfn one() -> i32 { 2 }\n",
    );
    let (own, thief) = (project.crate_name("own"), project.crate_name("a-thief"));
    let name = own.replace('-', "_").replace("own", "Own");
    edit(&project, "a-thief", |manifest| {
        manifest.replace(&thief, &name)
    });
    let listed = list(&project);
    assert_eq!(plugin(&project, &listed, "own")["state"], "live");
    let listed = listed.json();
    let plugins = listed["plugins"].as_array().unwrap();
    let refused = plugins.iter().find(|plugin| plugin["name"] == "a-thief");
    let refused = refused.unwrap_or_else(|| panic!("{listed}"));
    assert_eq!(refused["state"], "conflicted", "{refused}");
    let reason = format!("a model wrote the crate `{name}`, and `own` has the plugin name `{own}`");
    assert!(
        refused["reason"].as_str().unwrap().starts_with(&reason),
        "{refused}"
    );
    assert_eq!(project.run(&["call", "one"]).stdout.trim(), "1");
}

#[test]
fn without_a_sandbox_nothing_is_built_nor_handed_on() {
    let project = Project::new();
    written(&project, "odd", ONE);
    let file = project.path().join("toolsmith.toml");
    let config = fs_err::read_to_string(&file).unwrap();
    project.write("toolsmith.toml", &format!("sandbox_minimum = 99\n{config}"));
    let listed = list(&project);
    let refused = plugin(&project, &listed, "odd");
    assert_eq!(refused["state"], "failed", "{refused}");
    let reason = refused["reason"].as_str().unwrap();
    let name = project.crate_name("odd");
    let start = format!(
        "`{name}` was written by a model and is built in a sandbox only: a sandbox needs Landlock \
         revision 99, this kernel has "
    );
    assert!(reason.starts_with(&start), "{reason}");
    let choice = format!("run `toolsmith trust {name}`");
    assert!(listed.stderr.contains(&choice), "{}", listed.stderr);

    let handed: Ran = project.run(&["build", "--json"]);
    assert_eq!(handed.code, Some(1), "{}", handed.stdout);
    assert!(
        handed
            .stdout
            .contains("a finished library does not show that")
    );
}
