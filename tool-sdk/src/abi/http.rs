//! One HTTP request that a plugin leaves to its host: what is asked, and the way of the answer.
//!
//! The request goes through the [`CallPort`](super::CallPort) of the call that makes it. Its answer
//! comes back through an [`AnswerPort`], a counted reference to the plugin's own state. The plugin
//! makes it from an `Arc` of anything that implements [`HttpWaiter`]; the host answers it once, from
//! any thread.
#![expect(
    unsafe_code,
    reason = "a counted reference crosses the border as a bare pointer"
)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use abi_stable::StableAbi;
use abi_stable::prefix_type::WithMetadata;
use abi_stable::staticref;
use abi_stable::std_types::RVec;
use serde::{Deserialize, Serialize};

use super::task::swallow;
use super::{Reply, Status};

/// Names a request within its call; 0 when it was answered before it started.
pub type RequestId = u64;

/// What is asked, apart from the body. It crosses as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct RequestHead {
    /// `GET`, `POST`, …
    pub method: String,
    /// The address, as the tool wrote it.
    pub url: String,
    /// What the host adds to the address's query, not encoded yet.
    pub query: Vec<(String, String)>,
    /// The headers, in their order.
    pub headers: Vec<(String, String)>,
    /// How long the whole exchange may take, in milliseconds, where the tool says so.
    pub timeout_ms: Option<u64>,
    /// Longest body of an answer, in bytes, where the tool says so.
    pub max_size: Option<u64>,
}

/// The answer, apart from the body. It crosses as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ResponseHead {
    /// The status, such as 200.
    pub status: u16,
    /// The headers by their names in small letters; what is no UTF-8 in a value is replaced.
    pub headers: Vec<(String, String)>,
    /// Scheme, host and port of the server that answered, for messages.
    pub origin: String,
}

/// The plugin's half of a request.
///
/// The method is called from a thread of the host. It must not block and runs no code of the tool; a
/// panic in it is swallowed, since it must not unwind into the host.
pub trait HttpWaiter: Send + Sync + 'static {
    /// The answer: [`Status::VALUE`] with a [`ResponseHead`] and the body, [`Status::ERROR`], or
    /// [`Status::ABORTED`] when the host gave up the request. Only the first one counts.
    fn complete(&self, head: Reply, body: RVec<u8>);
}

/// Stands for the plugin's type, which the host does not know.
#[repr(C)]
#[derive(StableAbi)]
struct Opaque {
    _private: u8,
}

/// The host's end of one request. It is answered once: dropped without an answer, it says that the
/// request was given up.
#[repr(C)]
#[derive(StableAbi)]
pub struct AnswerPort {
    state: *const Opaque,
    functions: AnswerFunctionsRef,
}

/// What an answer port can do; made once for each [`HttpWaiter`] type, by the plugin.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = AnswerFunctionsRef)))]
#[sabi(missing_field(panic))]
struct AnswerFunctions {
    /// Takes the reference over.
    #[sabi(last_prefix_field)]
    complete: unsafe extern "C" fn(*const Opaque, Reply, RVec<u8>),
}

impl AnswerPort {
    /// A port to this waiter.
    pub fn new<T: HttpWaiter>(waiter: Arc<T>) -> Self {
        Self {
            state: Arc::into_raw(waiter).cast(),
            functions: Functions::<T>::REF,
        }
    }

    /// Answers the request.
    pub fn complete(self, head: Reply, body: Vec<u8>) {
        // The answer takes the reference over, so that none is left to be dropped.
        ManuallyDrop::new(self).give(head, body);
    }

    /// To be called once, by whoever does not use the port again.
    fn give(&self, head: Reply, body: Vec<u8>) {
        let complete = self.functions.complete();
        // SAFETY: `state` is alive, since this port owns a reference to it (`new`), and gives it up
        // here: `complete` consumes the port without its drop, and drop is the end of it.
        unsafe { complete(self.state, head, body.into()) }
    }
}

impl Drop for AnswerPort {
    fn drop(&mut self) {
        self.give(Reply::new(Status::ABORTED, ""), Vec::new());
    }
}

impl fmt::Debug for AnswerPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerPort").finish_non_exhaustive()
    }
}

// SAFETY: the state behind the pointer is an `HttpWaiter`, which is `Send + Sync` (`new` demands it).
unsafe impl Send for AnswerPort {}

/// Carries the functions of one waiter type.
struct Functions<T>(T);

impl<T: HttpWaiter> Functions<T> {
    staticref! {
        const METADATA: WithMetadata<AnswerFunctions> = WithMetadata::new(AnswerFunctions {
            complete: complete::<T>,
        });
    }
    const REF: AnswerFunctionsRef = AnswerFunctionsRef(Self::METADATA.as_prefix());
}

unsafe extern "C" fn complete<T: HttpWaiter>(state: *const Opaque, head: Reply, body: RVec<u8>) {
    // SAFETY: the port that calls made `state` from an `Arc<T>` and gives its reference up with this.
    let waiter = unsafe { Arc::from_raw(state.cast::<T>()) };
    swallow(move || waiter.complete(head, body));
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Recorder(Mutex<Vec<(Status, Vec<u8>)>>);

    impl HttpWaiter for Recorder {
        fn complete(&self, head: Reply, body: RVec<u8>) {
            assert_ne!(head.body, "panic", "asked to");
            self.0.lock().unwrap().push((head.status, body.into_vec()));
        }
    }

    #[test]
    fn a_port_holds_one_reference_and_answers_once_in_each_way() {
        let waiter = Arc::new(Recorder::default());
        let (one, two) = (Arc::clone(&waiter), Arc::clone(&waiter));
        let (answered, dropped) = (AnswerPort::new(one), AnswerPort::new(two));
        assert_eq!(Arc::strong_count(&waiter), 3);
        answered.complete(Reply::new(Status::VALUE, "{}"), b"body".to_vec());
        assert_eq!(Arc::strong_count(&waiter), 2);
        drop(dropped);
        assert_eq!(Arc::strong_count(&waiter), 1);
        let expected = [(Status::VALUE, b"body".to_vec()), (Status::ABORTED, vec![])];
        assert_eq!(*waiter.0.lock().unwrap(), expected);
    }

    #[test]
    fn panic_of_the_waiter_does_not_cross_and_leaves_no_reference() {
        let waiter = Arc::new(Recorder::default());
        let port = AnswerPort::new(Arc::clone(&waiter));
        port.complete(Reply::new(Status::ERROR, "panic"), Vec::new());
        assert_eq!(Arc::strong_count(&waiter), 1);
    }
}
