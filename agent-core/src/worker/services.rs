//! What the host does for a call that a plugin's process makes: it passes partial results on and makes
//! HTTP requests, for as long as somebody waits for the call.

use std::sync::Weak;

use abi_stable::std_types::RVec;
use tool_sdk::ToolError;
use tool_sdk::abi::Reply;
use tool_sdk::abi::http::{HttpWaiter, RequestId};

use super::outbox::Outbox;
use super::protocol::Request;
use crate::limits;
use crate::plugin::http::{Requests, failure};
use crate::tool::ProgressSink;

/// The services of one call.
pub(super) struct CallServices {
    pub(super) progress: ProgressSink,
    /// Under the names that the process has given them.
    pub(super) requests: Requests,
}

impl Drop for CallServices {
    /// Requests end with their call.
    fn drop(&mut self) {
        self.requests.end();
    }
}

/// Takes the answer to an HTTP request back to the process that wants it.
pub(super) struct WayBack {
    pub(super) outbox: Weak<Outbox>,
    pub(super) request: RequestId,
}

impl HttpWaiter for WayBack {
    fn complete(&self, head: Reply, body: RVec<u8>) {
        let Some(outbox) = self.outbox.upgrade() else {
            return;
        };
        let answer = |head: Reply| Request::HttpAnswer {
            request: self.request,
            status: head.status,
            head: head.body.into_string(),
        };
        // What is too long for a message is told instead.
        if outbox.send(&answer(head), &body).is_err() {
            let text = format!("The answer is longer than {} bytes", limits::FRAME_BODY);
            drop(outbox.send(&answer(failure(&ToolError::new(text))), &[]));
        }
    }
}
