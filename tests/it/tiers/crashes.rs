//! What a tool may do to its own process: the host answers each call with a clear error, other calls
//! go on, and the next call works or is refused with the reason.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::call::Caller;
use agent_core::config::Isolation;
use agent_core::registry::{Configuration, PluginState, Scope};
use agent_core::tool::ToolCallResult;
use fs_err as fs;
use serde_json::json;
use tool_sdk::ErrorKind;
use toolsmith_tests::{DEADLINE, Project, call};

use super::isolate;

const VANDAL: &str = r##"
    use std::io::Write;
    use std::time::Duration;

    /// Who it is.
    #[tool]
    fn pid() -> u32 { std::process::id() }

    /// Takes its time.
    #[tool]
    async fn sleep(ms: u64) -> String {
        tool_sdk::tokio::time::sleep(Duration::from_millis(ms)).await;
        "slept".into()
    }

    struct Bad;
    impl Drop for Bad { fn drop(&mut self) { panic!("in a drop"); } }

    fn overflow(depth: u64) -> u64 {
        let page = std::hint::black_box([depth; 512]);
        overflow(depth + 1) + page[7]
    }

    fn write_into_every_socket(bytes: &[u8]) {
        use std::os::fd::FromRawFd;
        for descriptor in 0..64 {
            let is_socket = std::fs::read_link(format!("/proc/self/fd/{descriptor}"))
                .is_ok_and(|target| target.to_string_lossy().starts_with("socket:"));
            if is_socket {
                let file = unsafe { std::fs::File::from_raw_fd(descriptor) };
                let mut file = std::mem::ManuallyDrop::new(file);
                let _ = file.write_all(bytes);
            }
        }
    }

    fn framed(head: &str, body: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        frame.extend((head.len() as u32).to_le_bytes());
        frame.extend((body.len() as u32).to_le_bytes());
        frame.extend(head.as_bytes());
        frame.extend(body);
        frame
    }

    /// Does it.
    #[tool(timeout = "2s")]
    fn vandal(how: String) -> Result<String> {
        eprintln!("now: {how}");
        match how.as_str() {
            "segfault" => unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) },
            "abort" => std::process::abort(),
            "exit" => std::process::exit(0),
            "stack overflow" => return Ok(overflow(0).to_string()),
            "double panic" => { let _bad = Bad; panic!("the first"); }
            "drop" => drop(Bad),
            "thread" => { let _ = std::thread::spawn(|| panic!("in a thread")).join(); }
            "loop" => loop { std::hint::spin_loop() },
            "deadlock" => {
                let mutex = std::sync::Mutex::new(());
                let _first = mutex.lock();
                let _second = mutex.lock();
            }
            "memory" => {
                let gigantic: Vec<u8> = Vec::with_capacity(100_000_000_000_000_000);
                std::hint::black_box(gigantic);
            }
            "stdout" => {
                let line = [b'x'; 1 << 16];
                let mut out = std::io::stdout().lock();
                for _ in 0..3200 { let _ = out.write_all(&line); }
            }
            "children" => {
                for _ in 0..100 {
                    let child = std::process::Command::new("sleep").arg("4711").spawn();
                    drop(child.map(|child| print!("{} ", child.id())));
                }
                println!();
                loop { std::thread::sleep(Duration::from_secs(1)) }
            }
            "descriptors" => {
                use std::os::fd::{FromRawFd, OwnedFd};
                for descriptor in 0..256 {
                    if std::fs::read_link(format!("/proc/self/fd/{descriptor}")).is_ok() {
                        drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
                    }
                }
            }
            "garbage" => write_into_every_socket(b"this is no message at all, is it?"),
            "huge frame" => write_into_every_socket(&[0xff; 8]),
            "foreign answer" => {
                write_into_every_socket(&framed(r#"{"reply":{"number":4711,"status":0}}"#, b"mine"));
            }
            "twice" => {
                for _ in 0..2 {
                    write_into_every_socket(&framed(r#"{"reply":{"number":1,"status":0}}"#, b"twice"));
                }
            }
            "not text" => {
                write_into_every_socket(&framed(r#"{"reply":{"number":1,"status":0}}"#, b"\xff\xfe"));
            }
            other => return Err(format!("no such act: {other}").into()),
        }
        Ok("survived".into())
    }
"##;

struct Site {
    project: Project,
    caller: Caller,
}

impl Site {
    async fn new() -> Self {
        let project = Project::new();
        project.plugin("vandal", VANDAL);
        let caller = project.host().await;
        let site = Self { project, caller };
        site.isolate().await;
        site
    }

    async fn isolate(&self) {
        let configuration = Configuration::default();
        isolate(
            &self.caller,
            &self.project,
            "vandal",
            Isolation::Worker,
            configuration,
        )
        .await;
    }

    async fn act(&self, how: &str) -> Arc<ToolCallResult> {
        let act = call(&self.caller, "vandal", json!({"how": how}));
        tokio::time::timeout(DEADLINE, act).await.unwrap()
    }

    async fn pid(&self) -> String {
        let result = call(&self.caller, "pid", json!({})).await;
        assert!(!result.is_error, "{}", result.text());
        result.text()
    }
}

fn kind(result: &ToolCallResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ends_the_process_is_told_with_how_and_its_last_words_and_the_next_call_works() {
    let site = Site::new().await;
    let acts = [
        ("segfault", "signal 11, SIGSEGV"),
        ("abort", "signal 6, SIGABRT"),
        ("exit", "exit code 0"),
        ("stack overflow", "has overflowed its stack"),
        ("double panic", "signal 6, SIGABRT"),
        ("memory", "signal 6, SIGABRT"),
        ("descriptors", "it closed the connection"),
        ("garbage", "what it sent is no answer"),
        ("huge frame", "at most 67108864 are allowed"),
        (
            "foreign answer",
            "an answer to request 4711, which was never made",
        ),
    ];
    for (how, said) in acts {
        let before = site.pid().await;
        let begin = Instant::now();
        let result = site.act(how).await;
        assert_eq!(
            kind(&result),
            Some(ErrorKind::Crashed),
            "{how}: {}",
            result.text()
        );
        let text = result.text();
        let plugin = site.project.crate_name("vandal");
        let head = format!("The process of plugin {plugin} ended during the call (");
        assert!(
            text.starts_with(&head) && text.contains(said),
            "{how}: {text}"
        );
        if how != "descriptors" {
            assert!(text.contains(&format!("now: {how}")), "{text}");
        }
        assert!(
            begin.elapsed() < Duration::from_secs(2),
            "{how}: {:?}",
            begin.elapsed()
        );
        assert_ne!(site.pid().await, before, "{how}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stays_inside_of_a_call_does_not_end_the_process() {
    let site = Site::new().await;
    let before = site.pid().await;
    for how in ["drop", "thread", "stdout"] {
        let result = site.act(how).await;
        let expected = (how == "drop").then_some(ErrorKind::Panic);
        assert_eq!(kind(&result), expected, "{how}: {}", result.text());
        assert_eq!(site.pid().await, before, "{how}");
    }
    // The first answer counts, the second changes nothing.
    let one = Site::new().await;
    assert_eq!(one.act("twice").await.text(), "twice");
    assert!(!one.pid().await.is_empty());
    let one = Site::new().await;
    assert_eq!(kind(&*one.act("not text").await), Some(ErrorKind::Crashed));
    assert!(!one.pid().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_hangs_costs_its_process_and_no_other_call() {
    let site = Site::new().await;
    for how in ["loop", "deadlock"] {
        let before = site.pid().await;
        let sleeper = call(&site.caller, "sleep", json!({"ms": 5000}));
        let hanging = site.act(how);
        let (slept, hung) = tokio::join!(sleeper, hanging);
        assert_eq!(
            kind(&hung),
            Some(ErrorKind::Timeout),
            "{how}: {}",
            hung.text()
        );
        assert_eq!(slept.text(), "slept", "{how}");
        wait_until("another process takes the calls", || async {
            site.pid().await != before
        })
        .await;
        wait_until("the process that hung is gone", || async {
            !Path::new("/proc").join(&before).exists()
        })
        .await;
    }
}

/// One that does nothing at all any more holds up no call that comes after the one that hangs.
/// What a plugin's process has started ends with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_starts_others_without_end_leaves_none_behind() {
    let site = Site::new().await;
    let pid = site.pid().await;
    let hung = site.act("children").await;
    assert_eq!(kind(&hung), Some(ErrorKind::Timeout), "{}", hung.text());
    let children = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let group = format!(" {pid} ");
        let of_group = |stat: &String| {
            // Behind the name: the state, the parent, the group.
            let behind = stat.rsplit_once(')').map(|(_, behind)| behind.to_owned());
            let group_of =
                behind.and_then(|behind| Some(behind.split_whitespace().nth(2)?.to_owned()));
            group_of.as_deref() == Some(group.trim())
        };
        let stats =
            processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
        stats
            .filter(of_group)
            .filter(|stat| !stat.contains(") Z "))
            .count()
    };
    assert!(children() > 50, "they were started: {}", children());
    wait_until("all of them have ended", || async { children() == 0 }).await;
    assert_ne!(site.pid().await, pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_stands_still_is_replaced_and_calls_that_it_had_are_answered() {
    let site = Site::new().await;
    let pid = site.pid().await;
    let process = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    let begin = Instant::now();
    let hanging = site.act("loop");
    let other = call(&site.caller, "sleep", json!({"ms": 1}));
    let (hung, other) = tokio::join!(hanging, other);
    assert_eq!(kind(&hung), Some(ErrorKind::Timeout), "{}", hung.text());
    assert_eq!(kind(&other), Some(ErrorKind::Crashed), "{}", other.text());
    assert!(
        other.text().contains("it does nothing any more"),
        "{}",
        other.text()
    );
    assert!(
        begin.elapsed() < Duration::from_secs(30),
        "{:?}",
        begin.elapsed()
    );
    assert_ne!(site.pid().await, pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_by_hand_answers_every_call_at_once() {
    let site = Site::new().await;
    let pid: i32 = site.pid().await.parse().unwrap();
    let sleepers = (0..20).map(|_| call(&site.caller, "sleep", json!({"ms": 60_000})));
    let all = futures_util::future::join_all(sleepers);
    let kill = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        Instant::now()
    };
    let (results, killed) = tokio::join!(all, kill);
    assert!(killed.elapsed() < Duration::from_secs(1));
    for result in results {
        assert_eq!(kind(&result), Some(ErrorKind::Crashed));
        assert!(
            result.text().contains("signal 9, SIGKILL"),
            "{}",
            result.text()
        );
    }
    assert!(!site.pid().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_whenever_it_is_asked_is_quarantined_until_reload_asks_for_it() {
    let site = Site::new().await;
    for _ in 0..5 {
        assert_eq!(kind(&*site.act("abort").await), Some(ErrorKind::Crashed));
    }
    let refused = call(&site.caller, "pid", json!({})).await;
    assert_eq!(kind(&refused), Some(ErrorKind::Unavailable));
    let reason = "its process ended 5 times in a row without an answer, at last: signal 6, SIGABRT";
    assert!(refused.text().contains(reason), "{}", refused.text());
    let registry = site.caller.registry();
    let state = || {
        let plugins = registry.plugins();
        let plugin = plugins.first().expect("there is one");
        (plugin.state, plugin.reason.clone())
    };
    assert_eq!(state().0, PluginState::Quarantined);
    assert!(state().1.unwrap().contains(reason));
    // Looking again is no new content.
    registry.refresh(Scope::All, &()).await.unwrap();
    assert_eq!(state().0, PluginState::Quarantined);
    // The content is known to the next host, too.
    let other = site.project.host().await;
    let plugins = other.registry().plugins();
    assert_eq!(plugins[0].state, PluginState::Quarantined, "{plugins:?}");
    registry.refresh(Scope::Forced, &()).await.unwrap();
    assert_eq!(state(), (PluginState::Live, None));
    assert!(!site.pid().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_ends_the_old_process_and_calls_of_it_end_first() {
    let site = Site::new().await;
    let before = site.pid().await;
    let sleeper = call(&site.caller, "sleep", json!({"ms": 2000}));
    let reload = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        site.project
            .source("vandal", &VANDAL.replace("\"survived\"", "\"anew\""));
        site.caller
            .registry()
            .refresh(Scope::All, &())
            .await
            .unwrap();
        site.pid().await
    };
    let (slept, after) = tokio::join!(sleeper, reload);
    assert_eq!(slept.text(), "slept");
    assert_ne!(after, before);
    wait_until("the old process is gone", || async {
        !Path::new("/proc").join(&before).exists()
    })
    .await;
    let status = &site.caller.registry().plugins()[0];
    assert_eq!(
        (status.generation.0, status.mapped_images),
        (3, 1),
        "{status:?}"
    );
}

#[test]
fn processes_end_with_a_host_that_is_killed() {
    let project = Project::new();
    project.plugin("vandal", VANDAL);
    let plugin = project.crate_name("vandal");
    let config = fs::read_to_string(project.path().join("toolsmith.toml")).unwrap();
    let config = format!("{config}\n[plugins.{plugin}]\nisolation = \"worker\"\n");
    project.write("toolsmith.toml", &config);
    let mut dev = project.dev();
    let listed = dev.ask("list");
    assert_eq!(listed["tools"][0]["isolation"], "worker", "{listed}");
    assert_eq!(listed["plugins"][0]["isolation"], "worker", "{listed}");
    let pid = dev.call("pid", "");
    dev.send("call vandal {\"how\": \"loop\"}");
    let host = rustix::process::Pid::from_raw(i32::try_from(dev.id()).unwrap()).unwrap();
    rustix::process::kill_process(host, rustix::process::Signal::KILL).unwrap();
    let begin = Instant::now();
    while Path::new("/proc").join(&pid).exists() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{pid} lives");
        std::thread::sleep(Duration::from_millis(10));
    }
}

async fn wait_until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < DEADLINE, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
