//! The root module: what a host may ask of a plugin.
//!
//! The SDK exports it for every plugin, so a plugin crate holds nothing but its tools. The order
//! of use is: `connect` once, `describe` once, then calls from any thread, `retire` once when the
//! last call has ended. The image stays mapped after that.

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::RStr;

use super::{CallPort, HostServices, Reply, TaskId};

/// Position of a tool in the list that `describe` answers.
pub type ToolIndex = u32;

/// One call of a tool.
#[repr(C)]
#[derive(StableAbi, Debug)]
#[non_exhaustive]
pub struct Invocation<'a> {
    /// The arguments: a JSON object, already validated by the host.
    pub arguments: RStr<'a>,
    /// The id that the model gave the call, unchanged.
    pub call_id: RStr<'a>,
    /// The plugin's end of the call.
    pub port: CallPort,
}

impl<'a> Invocation<'a> {
    /// A call with these arguments.
    pub fn new(arguments: &'a str, call_id: &'a str, port: CallPort) -> Self {
        Self {
            arguments: arguments.into(),
            call_id: call_id.into(),
            port,
        }
    }
}

/// What a plugin exports. Every function catches the plugin's panics.
#[repr(C)]
#[derive(StableAbi, Debug)]
#[sabi(kind(Prefix(prefix_ref = PluginModuleRef)))]
#[sabi(missing_field(panic))]
pub struct PluginModule {
    /// Hands over the host's services. [`Status::VALUE`](super::Status::VALUE) when all is well.
    pub connect: extern "C" fn(HostServices) -> Reply,
    /// What the library holds, as a JSON
    /// [`PluginDescription`](crate::tool::PluginDescription). A [`ToolIndex`] is a position in its
    /// list of tools.
    pub describe: extern "C" fn() -> Reply,
    /// Runs the tool's `prepare` hook: the arguments in, the changed arguments out.
    pub prepare: extern "C" fn(ToolIndex, RStr<'_>) -> Reply,
    /// Runs the tool's `validate` hook: [`Status::VALUE`](super::Status::VALUE) passes,
    /// [`Status::TEXT`](super::Status::TEXT) is the reason against it.
    pub validate: extern "C" fn(ToolIndex, RStr<'_>) -> Reply,
    /// Runs a plain `fn` on the calling thread.
    pub call: extern "C" fn(ToolIndex, Invocation<'_>) -> Reply,
    /// Starts an `async fn` on the plugin's own runtime and returns at once. The answer arrives
    /// exactly once through the invocation's port.
    pub start: extern "C" fn(ToolIndex, Invocation<'_>) -> TaskId,
    /// Asks a started call to end: its context says so, and after a grace period it is dropped.
    pub cancel: extern "C" fn(TaskId),
    /// Panics inside and reports it: shows that this plugin's panics can be caught.
    pub panic_on_purpose: extern "C" fn() -> Reply,
    /// Opens the state of a package from settings, a JSON object, and closes what was open of it
    /// when its last call has ended. [`Status::VALUE`](super::Status::VALUE) when all is open; else
    /// nothing changes. May take as long as the plugin likes.
    pub open: extern "C" fn(RStr<'_>, RStr<'_>) -> Reply,
    /// Closes the state and ends what still runs: waits this many milliseconds at the most, then abandons it.
    #[sabi(last_prefix_field)]
    pub retire: extern "C" fn(u64),
}

impl RootModule for PluginModuleRef {
    abi_stable::declare_root_module_statics! {PluginModuleRef}

    const BASE_NAME: &'static str = "toolsmith_plugin";
    const NAME: &'static str = "toolsmith_plugin";
    /// The layout check and the stamp's revision decide; versions of the SDK may differ.
    const VERSION_STRINGS: VersionStrings =
        VersionStrings::new(concat!(super::revision!(), ".0.0"));
}
