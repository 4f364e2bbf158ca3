//! From a sandbox into a person's own process, and back.

use toolsmith_tests::{Project, target};

use super::{list, plugin, tool, written};

/// A tool that looks out of its sandbox while it runs.
const LOOKS: &str = "/// Looks.\n#[tool]\nfn look(path: String) -> Result<String> \
                     { Ok(std::fs::read_to_string(path)?) }\n";

fn artifact(project: &Project, place: &str) -> bool {
    let name = project.crate_name("looks").replace('-', "_");
    let file = format!("{place}/debug/lib{name}.so");
    target().join(file).is_file()
}

#[test]
fn a_written_crate_serves_in_a_sandbox_unless_a_person_decides_otherwise() {
    let project = Project::new();
    written(&project, "looks", LOOKS);
    project.write("outside", "seen");
    let path = project.path().join("outside").display().to_string();
    let arguments = serde_json::json!({ "path": path }).to_string();

    let listed = list(&project);
    let shown = plugin(&project, &listed, "looks");
    assert_eq!(shown["state"], "live", "{shown}\n{}", listed.stderr);
    assert_eq!(shown["isolation"], "sandbox", "{shown}");
    let enforced = shown["enforced"].as_array().unwrap();
    let is_enforced = |rule: &str| {
        enforced
            .iter()
            .any(|line| line.as_str().unwrap().starts_with(rule))
    };
    assert!(is_enforced("files: Landlock"), "{shown}");
    let look = tool(&listed, "look");
    assert_eq!(
        (&look["origin"], &look["isolation"]),
        (&"written".into(), &"sandbox".into())
    );
    assert!(artifact(&project, "written") && !artifact(&project, "trusted"));
    let refused = project.run(&["call", "look", &arguments]);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);

    // The build stays what it was: only where the tool runs is decided.
    let config = fs_err::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let name = project.crate_name("looks");
    project.write(
        "toolsmith.toml",
        &format!("{config}\n[plugins.{name}]\nisolation = \"in-process\"\n"),
    );
    let look = tool(&list(&project), "look");
    assert_eq!(
        (&look["origin"], &look["isolation"]),
        (&"written".into(), &"in-process".into())
    );
    assert_eq!(
        project.run(&["call", "look", &arguments]).stdout.trim(),
        "seen"
    );
    assert!(!artifact(&project, "trusted"));
}

#[test]
fn trust_takes_effect_at_once_and_ends_with_the_content() {
    let project = Project::new();
    written(&project, "looks", LOOKS);
    project.write("outside", "seen");
    let path = project.path().join("outside").display().to_string();
    let arguments = serde_json::json!({ "path": path }).to_string();
    let name = project.crate_name("looks");
    let mut dev = project.dev();
    let origin_is = |list: &serde_json::Value, origin: &str, isolation: &str| {
        let tool = &list["tools"][0];
        tool["origin"] == origin && tool["isolation"] == isolation
    };
    dev.ask_until("list", |list| origin_is(list, "written", "sandbox"));
    assert_ne!(dev.call("look", &arguments), "seen");

    let trusted = project.run(&["trust", &name, "--json"]).json();
    assert_eq!(trusted["state"], "trusted", "{trusted}");
    assert_eq!(trusted["plugin"], name.as_str());
    dev.ask_until("list", |list| origin_is(list, "plugin", "in-process"));
    assert_eq!(dev.call("look", &arguments), "seen");
    assert!(artifact(&project, "trusted"));
    let again = project.run(&["trust", &name, "--json"]).json();
    assert_eq!(again["state"], "alreadyTrusted", "{again}");

    project.source("looks", &format!("{LOOKS}// An edit.\n"));
    dev.ask_until("list", |list| origin_is(list, "written", "sandbox"));
    assert_ne!(dev.call("look", &arguments), "seen");
    // What a person vouched for stays so.
    project.source("looks", LOOKS);
    dev.ask_until("list", |list| origin_is(list, "plugin", "in-process"));
    assert_eq!(dev.finish(), Some(0));
}

#[test]
fn only_what_a_model_wrote_can_be_trusted() {
    let project = Project::new();
    project.plugin("own", LOOKS);
    let name = project.crate_name("own");
    let own = project.run(&["trust", &name]);
    assert_eq!(own.code, Some(0), "{}", own.stderr);
    assert!(
        own.stdout.contains("was not written by a model"),
        "{}",
        own.stdout
    );
    let slip = name.replace("own", "owm");
    let unknown = project.run(&["trust", &slip]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stdout);
    let expected = format!("there is no plugin `{slip}`; did you mean `{name}`?");
    assert!(unknown.stderr.contains(&expected), "{}", unknown.stderr);
}
