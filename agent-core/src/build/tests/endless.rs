//! Builds that never end by themselves, and who ends them.

use super::*;

/// A crate whose build script calls a listener and then waits for ever.
struct Endless {
    listener: TcpListener,
    manifest: CrateManifest,
}

impl Endless {
    fn new(workshop: &Workshop) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        workshop.add_crate("tiny", "tiny", "answer-one");
        let script = format!(
            "use std::io::Read;\nfn main() {{\n    \
             let mut caller = std::net::TcpStream::connect((\"127.0.0.1\", {port})).unwrap();\n    \
             let mut byte = [0];\n    let _ = caller.read(&mut byte);\n}}\n"
        );
        workshop.write("tiny/build.rs", &script);
        let manifest = CrateManifest::read(&workshop.path("tiny")).unwrap();
        Self { listener, manifest }
    }

    /// Waits until the build script runs; the connection lives as long as the script.
    async fn runs(&self) -> std::net::TcpStream {
        let listener = self.listener.try_clone().unwrap();
        tokio::task::spawn_blocking(move || listener.accept().unwrap().0)
            .await
            .unwrap()
    }
}

/// Waits until the process at the other end is gone.
async fn is_gone(mut script: std::net::TcpStream) {
    script.set_read_timeout(Some(DEADLINE)).unwrap();
    let read = tokio::task::spawn_blocking(move || script.read(&mut [0]))
        .await
        .unwrap();
    assert!(!matches!(read, Ok(1..)), "the build script still runs");
}

#[tokio::test]
async fn a_cancelled_build_ends_with_everything_it_has_started() {
    let workshop = Workshop::new();
    let endless = Endless::new(&workshop);
    let cancel = CancellationToken::new();
    let heard = Heard::default();
    let building = workshop.builder.ensure(&endless.manifest, &heard, &cancel);
    let cancelling = async {
        let script = endless.runs().await;
        cancel.cancel();
        script
    };
    let (outcome, script) =
        tokio::time::timeout(DEADLINE, async { tokio::join!(building, cancelling) })
            .await
            .unwrap();
    assert!(matches!(outcome, Err(BuildError::Cancelled { package }) if package == "tiny"));
    is_gone(script).await;

    // Nothing is left that could hold the next build up.
    fs::remove_file(workshop.path("tiny/build.rs")).unwrap();
    let manifest = CrateManifest::read(&workshop.path("tiny")).unwrap();
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
}

#[tokio::test]
async fn a_build_that_nobody_waits_for_ends_too() {
    let workshop = Workshop::new();
    let endless = Endless::new(&workshop);
    let (builder, manifest) = (Arc::clone(&workshop.builder), endless.manifest.clone());
    let building = tokio::spawn(async move {
        let cancel = CancellationToken::new();
        builder
            .ensure(&manifest, &(), &cancel)
            .await
            .map(|built| built.package)
    });
    let script = tokio::time::timeout(DEADLINE, endless.runs())
        .await
        .unwrap();
    building.abort();
    is_gone(script).await;
}

#[tokio::test]
async fn a_build_beyond_its_time_ends() {
    let limit = Duration::from_secs(2);
    let workshop = Workshop::with(|options| options.time_limit = limit, &BTreeMap::new());
    let endless = Endless::new(&workshop);
    let error = workshop
        .ensure(&endless.manifest, &Heard::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the build of `tiny` took longer than 2 s"
    );
}

#[tokio::test]
async fn the_newest_request_for_a_crate_wins() {
    let workshop = Workshop::new();
    let endless = Endless::new(&workshop);
    let heard = Heard::default();
    let older = workshop.ensure(&endless.manifest, &heard);
    let newer = async {
        let script = endless.runs().await;
        fs::remove_file(workshop.path("tiny/build.rs")).unwrap();
        workshop.write("tiny/src/lib.rs", &answering("answer-two"));
        let manifest = CrateManifest::read(&workshop.path("tiny")).unwrap();
        let answer = workshop.answer(&manifest).await;
        is_gone(script).await;
        answer
    };
    let (older, newer) = tokio::join!(older, newer);
    assert!(matches!(older, Err(BuildError::Superseded { package }) if package == "tiny"));
    assert_eq!(newer, (true, vec!["answer-two"]));
}
