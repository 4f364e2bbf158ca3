//! Where a project lies on disk.
//!
//! Owns the search for the nearest project. Does not read its configuration.

use std::path::{Path, PathBuf};

use super::FILE_NAME;

/// The name of the folder that holds a project's plugins.
const PLUGINS_FOLDER: &str = "plugins";

/// A folder with a configuration, plugins, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder.
    pub root: PathBuf,
    /// Its `toolsmith.toml`, if it has one.
    pub config: Option<PathBuf>,
    /// Its folder of plugins, which need not exist yet.
    pub plugins: PathBuf,
}

/// Finds the nearest project, beginning with `start` itself and going up.
pub fn find_project(start: &Path) -> Option<Project> {
    let start = std::path::absolute(start).ok()?;
    start.ancestors().find_map(|folder| {
        let config = Some(folder.join(FILE_NAME)).filter(|file| file.is_file());
        let plugins = folder.join(PLUGINS_FOLDER);
        (config.is_some() || plugins.is_dir()).then(|| Project {
            root: folder.to_path_buf(),
            config,
            plugins,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    #[test]
    fn nearest_folder_with_a_configuration_or_plugins_is_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("outer/plugins/a/src")).unwrap();
        fs::create_dir_all(root.join("outer/inner/deep")).unwrap();
        fs::write(root.join("outer/inner").join(FILE_NAME), "").unwrap();

        assert_eq!(
            find_project(&root.join("outer/plugins/a/src")),
            Some(Project {
                root: root.join("outer"),
                config: None,
                plugins: root.join("outer/plugins"),
            })
        );
        assert_eq!(
            find_project(&root.join("outer/inner/deep")),
            Some(Project {
                root: root.join("outer/inner"),
                config: Some(root.join("outer/inner").join(FILE_NAME)),
                plugins: root.join("outer/inner/plugins"),
            })
        );
    }

    #[test]
    fn a_file_named_plugins_makes_no_project() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plugins"), "").unwrap();
        assert_ne!(
            find_project(folder.path()).map(|project| project.root),
            Some(folder.path().to_path_buf())
        );
    }
}
