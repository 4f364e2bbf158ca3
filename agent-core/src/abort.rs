//! The signal that ends work early: given to whoever starts a call, handed down to the tool.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// A signal that is raised once and stays raised. Clones are the same signal.
#[derive(Clone, Debug, Default)]
// A token's own clone takes a lock; every call clones its signal.
pub struct AbortSignal(Arc<CancellationToken>);

impl AbortSignal {
    /// A signal that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal that is raised with this one, or alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(self.0.child_token()))
    }

    /// Raises the signal.
    pub fn abort(&self) {
        self.0.cancel();
    }

    /// Whether it is raised.
    pub fn is_aborted(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until it is raised.
    pub async fn aborted(&self) {
        self.0.cancelled().await;
    }
}
