//! The choice among shaders of a product, kept for each adapter and driver.
//!
//! The choice is kept beside the compiled shaders as one line of text. A file that cannot be read
//! or does not say what it should is measured anew.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::engine::compute::tuning::Tuning;

impl Tuning {
    fn line(self) -> String {
        let Self { few_rows, many_rows } = self;
        format!("few_rows={few_rows} many_rows={many_rows}\n")
    }

    fn read(line: &str) -> Option<Self> {
        let mut parts = line.trim_end().split(' ');
        let mut rows = |name: &str| parts.next()?.strip_prefix(name)?.parse().ok();
        let [few_rows, many_rows] = [rows("few_rows=")?, rows("many_rows=")?];
        (few_rows <= many_rows).then_some(Self { few_rows, many_rows })
    }
}

/// The choice of one device.
pub(super) struct Tuned {
    path: Option<PathBuf>,
    tuning: OnceLock<Tuning>,
}

impl Tuned {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, tuning: OnceLock::new() }
    }

    /// The choice kept on disk, else what `measure` finds, which is kept. `measure` may not ask for
    /// it.
    pub(super) fn get(&self, measure: impl FnOnce() -> Option<Tuning>) -> Tuning {
        *self.tuning.get_or_init(|| {
            let kept = self.path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
            kept.as_deref().and_then(Tuning::read).unwrap_or_else(|| {
                let Some(found) = measure() else { return Tuning::default() };
                self.store(found);
                found
            })
        })
    }

    /// Writes the choice; where that fails, the next process measures again.
    fn store(&self, tuning: Tuning) {
        let Some(path) = &self.path else { return };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).ok();
        }
        std::fs::write(path, tuning.line()).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_measured_once_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gpu/x.tuning");
        let found = Tuning { few_rows: 8, many_rows: 64 };
        let tuned = Tuned::new(Some(path.clone()));
        assert_eq!(tuned.get(|| Some(found)), found);
        assert_eq!(tuned.get(|| panic!("it is known")), found);
        assert_eq!(Tuned::new(Some(path.clone())).get(|| panic!("it is kept")), found);
        for damaged in ["", "few_rows=9", "few_rows=70 many_rows=64", "few_rows=-1 many_rows=x"] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(Tuned::new(Some(path.clone())).get(|| None), Tuning::default(), "{damaged}");
        }
    }
}
