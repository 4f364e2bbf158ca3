//! What one plugin must not use up, and code that nobody has looked at.

use super::{Attempt, check, escape};

const LIMITS: [Attempt; 3] = [
    escape("open 2000 files", "EMFILE"),
    escape("make a file of 2 GiB", "EFBIG"),
    escape("write behind 2 GiB", "EFBIG"),
];

#[tokio::test(flavor = "multi_thread")]
async fn files_and_their_sizes_are_limited() {
    check(&LIMITS).await;
}
