//! One call as its plugin sees it: report progress, learn of an abort, have the host make HTTP
//! requests, answer exactly once.
//!
//! A [`CallPort`] is a counted reference to the host's state of one call. The host makes it from
//! an `Arc` of anything that implements [`CallTarget`]; a plugin may clone it and keep it longer
//! than the call lasts, since what arrives late is dropped by the host.
#![expect(
    unsafe_code,
    reason = "a counted reference crosses the border as a bare pointer"
)]
#![expect(
    clippy::cast_ptr_alignment,
    reason = "so do the derived accessors of fields that a host may lack find them"
)]

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use abi_stable::StableAbi;
use abi_stable::prefix_type::WithMetadata;
use abi_stable::staticref;
use abi_stable::std_types::{RStr, RVec};

use super::Reply;
use super::http::{AnswerPort, RequestId};

/// Names a started call inside its plugin; 0 when the call was answered before it started.
pub type TaskId = u64;

/// The host's half of a call.
///
/// Methods are called from the plugin's threads. They must not block; a panic in one of them is
/// swallowed, since it must not unwind into the plugin.
pub trait CallTarget: Send + Sync + 'static {
    /// A partial result, as JSON.
    fn progress(&self, partial: &str);
    /// Whether nobody waits for the answer any more.
    fn is_aborted(&self) -> bool;
    /// The answer. Only the first one counts.
    fn complete(&self, reply: Reply);
    /// Begins an HTTP request: a JSON [`RequestHead`](super::http::RequestHead) and a body. The answer
    /// goes to the port once, from any thread, at the end of the call at the latest. A host that makes
    /// no requests says so.
    fn http(&self, _head: &str, _body: Vec<u8>, answer: AnswerPort) -> RequestId {
        let error = crate::ToolError::of(crate::ErrorKind::Unavailable, NO_HTTP);
        answer.complete(crate::private::reply(Err(error)), Vec::new());
        0
    }
    /// Nobody waits for the answer of this request any more.
    fn cancel_http(&self, _request: RequestId) {}
}

/// What a tool hears from a host that makes no requests for it.
pub(crate) const NO_HTTP: &str = "this host makes no HTTP requests for tools";

/// Stands for the host's type, which the plugin does not know.
#[repr(C)]
#[derive(StableAbi)]
struct Opaque {
    _private: u8,
}

/// The plugin's end of one call.
#[repr(C)]
#[derive(StableAbi)]
pub struct CallPort {
    state: *const Opaque,
    functions: PortFunctionsRef,
}

/// What a port can do; made once for each [`CallTarget`] type, by the host.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PortFunctionsRef)))]
#[sabi(missing_field(panic))]
struct PortFunctions {
    retain: unsafe extern "C" fn(*const Opaque),
    release: unsafe extern "C" fn(*const Opaque),
    progress: unsafe extern "C" fn(*const Opaque, RStr<'_>),
    is_aborted: unsafe extern "C" fn(*const Opaque) -> bool,
    #[sabi(last_prefix_field)]
    complete: unsafe extern "C" fn(*const Opaque, Reply),
    #[sabi(missing_field(option))]
    http: unsafe extern "C" fn(*const Opaque, RStr<'_>, RVec<u8>, AnswerPort) -> RequestId,
    #[sabi(missing_field(option))]
    cancel_http: unsafe extern "C" fn(*const Opaque, RequestId),
}

impl CallPort {
    /// A port to this call.
    pub fn new<T: CallTarget>(target: Arc<T>) -> Self {
        Self {
            state: Arc::into_raw(target).cast(),
            functions: Functions::<T>::REF,
        }
    }

    /// Sends a partial result, as JSON.
    pub fn progress(&self, partial: &str) {
        let progress = self.functions.progress();
        // SAFETY: `state` is alive, since this port holds a reference to it (`new`, `clone`).
        unsafe { progress(self.state, partial.into()) }
    }

    /// Whether nobody waits for the answer any more.
    pub fn is_aborted(&self) -> bool {
        let is_aborted = self.functions.is_aborted();
        // SAFETY: `state` is alive, since this port holds a reference to it (`new`, `clone`).
        unsafe { is_aborted(self.state) }
    }

    /// Answers the call. Only the first answer counts.
    pub fn complete(&self, reply: Reply) {
        let complete = self.functions.complete();
        // SAFETY: `state` is alive, since this port holds a reference to it (`new`, `clone`).
        unsafe { complete(self.state, reply) }
    }

    /// Has the host make an HTTP request, whose answer goes to the port. A host that was built before
    /// there were such requests gives it up.
    pub fn http(&self, head: &str, body: Vec<u8>, answer: AnswerPort) -> RequestId {
        let Some(http) = self.functions.http() else {
            let error = crate::ToolError::of(crate::ErrorKind::Unavailable, NO_HTTP)
                .with_hint("it is older than the tool-sdk of this plugin: update toolsmith");
            answer.complete(crate::private::reply(Err(error)), Vec::new());
            return 0;
        };
        // SAFETY: `state` is alive, since this port holds a reference to it (`new`, `clone`).
        unsafe { http(self.state, head.into(), body.into(), answer) }
    }

    /// Tells the host that nobody waits for the answer of this request any more.
    pub fn cancel_http(&self, request: RequestId) {
        if let Some(cancel) = self.functions.cancel_http() {
            // SAFETY: `state` is alive, since this port holds a reference to it (`new`, `clone`).
            unsafe { cancel(self.state, request) }
        }
    }
}

impl Clone for CallPort {
    fn clone(&self) -> Self {
        let retain = self.functions.retain();
        // SAFETY: `state` is alive, since this port holds a reference to it (`new`, `clone`).
        unsafe { retain(self.state) }
        Self {
            state: self.state,
            functions: self.functions,
        }
    }
}

impl Drop for CallPort {
    fn drop(&mut self) {
        let release = self.functions.release();
        // SAFETY: this port's reference is given up here, once, and not used again.
        unsafe { release(self.state) }
    }
}

impl fmt::Debug for CallPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallPort").finish_non_exhaustive()
    }
}

// SAFETY: the state behind the pointer is a `CallTarget`, which is `Send + Sync` (`new` demands it).
unsafe impl Send for CallPort {}
// SAFETY: as for `Send`; all methods take `&self` and reach the state by shared reference only.
unsafe impl Sync for CallPort {}

/// Carries the functions of one target type.
struct Functions<T>(T);

impl<T: CallTarget> Functions<T> {
    staticref! {
        const METADATA: WithMetadata<PortFunctions> = WithMetadata::new(PortFunctions {
            retain: retain::<T>,
            release: release::<T>,
            progress: progress::<T>,
            is_aborted: is_aborted::<T>,
            complete: complete::<T>,
            http: http::<T>,
            cancel_http: cancel_http::<T>,
        });
    }
    const REF: PortFunctionsRef = PortFunctionsRef(Self::METADATA.as_prefix());
}

unsafe extern "C" fn retain<T: CallTarget>(state: *const Opaque) {
    // SAFETY: the port that is cloned made `state` from an `Arc<T>` and still holds a reference.
    unsafe { Arc::increment_strong_count(state.cast::<T>()) }
}

unsafe extern "C" fn release<T: CallTarget>(state: *const Opaque) {
    // SAFETY: the port that is dropped owned one reference of the `Arc<T>` and gives it up.
    let target = unsafe { Arc::from_raw(state.cast::<T>()) };
    swallow(|| drop(target));
}

unsafe extern "C" fn progress<T: CallTarget>(state: *const Opaque, partial: RStr<'_>) {
    // SAFETY: the calling port keeps the `Arc<T>` behind `state` alive during this call.
    let target = unsafe { &*state.cast::<T>() };
    swallow(|| target.progress(partial.as_str()));
}

unsafe extern "C" fn is_aborted<T: CallTarget>(state: *const Opaque) -> bool {
    // SAFETY: the calling port keeps the `Arc<T>` behind `state` alive during this call.
    let target = unsafe { &*state.cast::<T>() };
    let mut aborted = false;
    swallow(|| aborted = target.is_aborted());
    aborted
}

unsafe extern "C" fn complete<T: CallTarget>(state: *const Opaque, reply: Reply) {
    // SAFETY: the calling port keeps the `Arc<T>` behind `state` alive during this call.
    let target = unsafe { &*state.cast::<T>() };
    swallow(|| target.complete(reply));
}

unsafe extern "C" fn http<T: CallTarget>(
    state: *const Opaque,
    head: RStr<'_>,
    body: RVec<u8>,
    answer: AnswerPort,
) -> RequestId {
    // SAFETY: the calling port keeps the `Arc<T>` behind `state` alive during this call.
    let target = unsafe { &*state.cast::<T>() };
    let mut request = 0;
    swallow(|| request = target.http(head.as_str(), body.into_vec(), answer));
    request
}

unsafe extern "C" fn cancel_http<T: CallTarget>(state: *const Opaque, request: RequestId) {
    // SAFETY: the calling port keeps the `Arc<T>` behind `state` alive during this call.
    let target = unsafe { &*state.cast::<T>() };
    swallow(|| target.cancel_http(request));
}

/// A panic of one side must not unwind through the other's frames.
pub(super) fn swallow(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        crate::panic::drop_payload(payload);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::abi::Status;

    #[derive(Default)]
    struct Recorder(Mutex<Vec<String>>);

    impl CallTarget for Recorder {
        fn progress(&self, partial: &str) {
            assert_ne!(partial, "panic", "asked to");
            self.0.lock().unwrap().push(partial.to_owned());
        }

        fn is_aborted(&self) -> bool {
            true
        }

        fn complete(&self, reply: Reply) {
            self.0.lock().unwrap().push(reply.body.into_string());
        }
    }

    #[test]
    fn every_port_holds_one_reference_and_reaches_the_target() {
        let target = Arc::new(Recorder::default());
        let port = CallPort::new(Arc::clone(&target));
        let second = port.clone();
        assert_eq!(Arc::strong_count(&target), 3);
        port.progress("1");
        second.complete(Reply::new(Status::TEXT, "2"));
        assert!(port.is_aborted());
        drop((port, second));
        assert_eq!(Arc::strong_count(&target), 1);
        assert_eq!(*target.0.lock().unwrap(), ["1", "2"]);
    }

    #[test]
    fn panic_of_the_target_does_not_cross() {
        let port = CallPort::new(Arc::new(Recorder::default()));
        port.progress("panic");
        port.progress("still works");
    }
}
