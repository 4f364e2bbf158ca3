//! What ordinary code does must still work.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use std::fs;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Place, act, check};

#[test]
fn ordinary_code_works() {
    check(
        "works::ordinary_code_works",
        Place::confinement,
        &[
            act("threads", "ok", |_| {
                let threads = (0..16).map(|number| {
                    std::thread::Builder::new()
                        .name(format!("worker-{number}"))
                        .spawn(move || vec![number; 1 << 20].len())
                });
                let threads: Vec<_> = threads.collect::<io::Result<_>>()?;
                for thread in threads {
                    assert_eq!(thread.join().unwrap(), 1 << 20);
                }
                std::thread::available_parallelism().map(drop)
            }),
            act("allocation", "ok", |_| {
                let sizes = (0..20).map(|power| vec![0_u8; 1 << power]);
                assert_eq!(
                    sizes.map(|memory| memory.len()).sum::<usize>(),
                    (1 << 20) - 1
                );
                Ok(())
            }),
            act("random numbers", "ok", |_| {
                let mut bytes = [0; 16];
                fs::File::open("/dev/urandom")?.read_exact(&mut bytes)
            }),
            act("nothing", "ok", |_| fs::write("/dev/null", "x")),
            act("time zones and certificates", "ok", |_| {
                let paths = [
                    "/etc/localtime",
                    "/usr/share/zoneinfo/UTC",
                    "/etc/ssl/certs",
                ];
                let mut there = paths.iter().filter(|path| fs::exists(path).unwrap_or(true));
                there.try_for_each(|path| fs::File::open(*path).map(drop))
            }),
            act("time", "ok", |_| {
                let begin = Instant::now();
                std::thread::sleep(Duration::from_millis(1));
                assert!(begin.elapsed() >= Duration::from_millis(1));
                Ok(())
            }),
            act("inherited socket", "ok", |_| {
                let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
                let mut heard = [0; 4];
                socket.read_exact(&mut heard)?;
                assert_eq!(&heard, b"ping");
                socket.write_all(b"pong")
            }),
            act("caught panic with a trace", "ok", |_| {
                let panic = std::panic::catch_unwind(|| {
                    let trace = std::backtrace::Backtrace::force_capture().to_string();
                    assert!(trace.contains("catch_unwind"), "{trace}");
                    panic!("on purpose");
                });
                assert!(panic.is_err());
                Ok(())
            }),
        ],
    );
}

#[test]
fn asynchronous_code_works() {
    check(
        "works::asynchronous_code_works",
        Place::confinement,
        &[act("tokio", "ok", |place| {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()?;
            let file = place.path("scratch/async");
            let work = async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                let (mut ours, mut theirs) = tokio::net::UnixStream::pair()?;
                let echo = tokio::spawn(async move {
                    let heard = theirs.read_u8().await?;
                    theirs.write_u8(heard).await
                });
                ours.write_u8(7).await?;
                assert_eq!(ours.read_u8().await?, 7);
                echo.await.unwrap()?;
                let written = tokio::task::spawn_blocking(move || fs::write(file, "x"));
                written.await.unwrap()
            };
            runtime.block_on(work)
        })],
    );
}
