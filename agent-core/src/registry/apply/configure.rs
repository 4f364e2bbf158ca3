//! What a person decided about plugins and tools, brought in; and what should be noticed of all
//! plugins together.

use std::sync::Arc;

use super::super::Inner;
use super::super::configuration::{Applied, Configuration, ConfigurationFile};
use super::super::notices::Topic;
use super::Reload;
use crate::config::FILE_NAME;

impl Reload {
    /// Brings in what was decided about tools since the last time.
    pub(super) fn configure(&mut self, registry: &Inner) {
        let read = self.file.as_mut().and_then(ConfigurationFile::read_if_new);
        let is_read = read.is_some();
        match read {
            Some(Ok(configuration)) => {
                registry.notices.say(Topic::Configuration, Vec::new());
                registry.configuration.store(Arc::new(configuration));
            }
            Some(Err(error)) => {
                let text = format!("{error}; what was configured before goes on");
                registry.notices.say(Topic::Configuration, vec![text]);
            }
            None => {}
        }
        let wanted = registry.configuration.load_full();
        let is_new = !Arc::ptr_eq(&wanted, &self.configured);
        if is_new {
            self.remake(registry, wanted);
        }
        if is_new || is_read {
            registry.applied.store(Arc::new(Applied {
                file: self.file.as_ref().and_then(ConfigurationFile::content),
                configuration: Arc::clone(&self.configured),
            }));
        }
    }

    /// Makes the tools anew about which something else is decided now.
    fn remake(&mut self, registry: &Inner, wanted: Arc<Configuration>) {
        let before = std::mem::replace(&mut self.configured, wanted);
        let settings = registry.tool_settings();
        let plugins = self.plugins.values_mut();
        let currents = plugins.filter_map(|plugin| plugin.current.as_mut());
        let entries = currents.flat_map(|current| &mut current.entries);
        for entry in entries.chain(&mut self.statics) {
            if !self
                .configured
                .agrees_on(&before, &entry.tool().spec().name)
            {
                *entry = Arc::new(entry.again(&settings));
            }
        }
        self.publish(registry);
    }

    /// Says what a person should know of all plugins together.
    pub(super) fn notice(&self, registry: &Inner) {
        let plugins = self.plugins.iter();
        let images = plugins.filter_map(|(name, plugin)| plugin.told_of_images(registry, name));
        registry.notices.say(Topic::Images, images.collect());
        let plugins = self.plugins.keys();
        let idle = plugins.filter_map(|name| {
            let words = registry.policy_of(name).without_effect()?;
            Some(format!("`[plugins.{name}]` in {FILE_NAME}: {words}"))
        });
        registry.notices.say(Topic::Policies, idle.collect());
        // While a plugin does not serve, nobody knows which tools it would have.
        let all_serve = self.plugins.values().all(|plugin| plugin.current.is_some());
        let unknown = match &self.file {
            Some(file) if all_serve => file
                .named
                .unknown(&self.plugins.keys(), &registry.table.load()),
            _ => Vec::new(),
        };
        registry.notices.say(Topic::Names, unknown);
    }
}
