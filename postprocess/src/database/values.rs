//! Exclusive values, read when they are asked for.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::files::table_path;
use super::metric::Value;
use super::model::Head;
use super::table::Reader;
use super::v2;
use crate::error::Error;

/// Exclusive values, sorted by context, location and metric: in memory, or in a table of a database directory.
#[derive(Clone, Debug)]
pub(super) struct Values(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    stored: Option<Stored>,
    loaded: OnceLock<Result<Loaded, String>>,
}

/// A table of values.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    /// Directory of the database.
    pub dir: PathBuf,
    /// Contexts, locations and metrics that it may refer to.
    pub bounds: [usize; 3],
    /// What of it is shown, if not all.
    pub shown: Option<Arc<Shown>>,
}

/// What is shown of values.
#[derive(Debug, PartialEq)]
pub(super) struct Shown {
    /// Whether values at each location are.
    pub locations: Vec<bool>,
    /// Places of the contexts.
    pub contexts: Vec<u32>,
}

#[derive(Debug, PartialEq)]
struct Loaded {
    values: Vec<Value>,
    /// Values that are not shown; their contexts are those of the whole tree.
    left_out: Vec<Value>,
}

impl Values {
    pub fn in_memory(values: Vec<Value>) -> Values {
        let loaded = OnceLock::from(Ok(Loaded { values, left_out: Vec::new() }));
        Values(Arc::new(Inner { stored: None, loaded }))
    }

    pub fn stored(stored: Stored) -> Values {
        Values(Arc::new(Inner { stored: Some(stored), loaded: OnceLock::new() }))
    }

    /// The values.
    ///
    /// # Errors
    /// [`Error::DatabaseDamaged`].
    pub fn get(&self) -> Result<&[Value], Error> {
        self.loaded().map(|loaded| &*loaded.values)
    }

    /// Those that are not shown.
    pub fn left_out(&self) -> &[Value] {
        self.loaded().map(|loaded| &*loaded.left_out).unwrap_or_default()
    }

    fn loaded(&self) -> Result<&Loaded, Error> {
        let Inner { stored, loaded } = &*self.0;
        let read = || match stored {
            None => Ok(Loaded { values: Vec::new(), left_out: Vec::new() }),
            Some(stored) => {
                let mut values = Vec::new();
                stored.each(&mut |chunk| {
                    values.extend(chunk);
                    Ok(())
                })?;
                Ok(divide(values, stored.shown.as_deref()))
            }
        };
        let path = stored.as_ref().map_or_else(PathBuf::new, Stored::path);
        loaded
            .get_or_init(read)
            .as_ref()
            .map_err(|reason| Error::DatabaseDamaged { path, reason: reason.clone() })
    }

    /// All of them piece by piece, in order, without keeping what is not in memory.
    ///
    /// # Errors
    /// [`Error::DatabaseDamaged`], and what `each` says.
    pub fn each(&self, each: &mut dyn FnMut(Vec<Value>) -> Result<(), Error>) -> Result<(), Error> {
        match (&self.0.stored, self.0.loaded.get()) {
            (Some(stored), None) => {
                let mut failed = None;
                let read = stored.each(&mut |chunk| {
                    let shown = divide(chunk, stored.shown.as_deref()).values;
                    each(shown).map_err(|error| {
                        failed = Some(error);
                        String::new()
                    })
                });
                let damaged = |reason| Error::DatabaseDamaged { path: stored.path(), reason };
                failed.map_or(read.map_err(damaged), Err)
            }
            _ => each(self.get()?.to_vec()),
        }
    }

    /// The directory of the database, if they come from one.
    pub fn directory(&self) -> Option<&Path> {
        self.0.stored.as_ref().map(|stored| &*stored.dir)
    }

    /// Their table, if they come from one.
    pub fn path(&self) -> Option<PathBuf> {
        self.0.stored.as_ref().map(Stored::path)
    }

    /// Others, in memory, beside the same ones that are not shown.
    pub fn replaced(&self, values: Vec<Value>) -> Values {
        let loaded = OnceLock::from(Ok(Loaded { values, left_out: self.left_out().to_vec() }));
        Values(Arc::new(Inner { stored: None, loaded }))
    }

    /// Only what is shown.
    pub fn restricted(&self, shown: Shown) -> Values {
        match (&self.0.stored, self.0.loaded.get()) {
            (Some(stored), None) => Values::stored(Stored { shown: Some(Arc::new(shown)), ..stored.clone() }),
            (_, loaded) => {
                let values =
                    loaded.and_then(|l| l.as_ref().ok()).map(|l| l.values.clone()).unwrap_or_default();
                let loaded = OnceLock::from(Ok(divide(values, Some(&shown))));
                Values(Arc::new(Inner { stored: None, loaded }))
            }
        }
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Values) -> bool {
        match (self.loaded(), other.loaded()) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        }
    }
}

impl Stored {
    /// The values of a database in a directory.
    pub fn of(dir: &Path, head: &Head) -> Stored {
        let bounds = [head.tree.len(), head.locations.len(), head.metrics.len()];
        Stored { dir: dir.to_owned(), bounds, shown: None }
    }

    fn path(&self) -> PathBuf {
        table_path(&self.dir, v2::VALUES)
    }

    /// Its values row group by row group, checked.
    fn each(&self, each: &mut dyn FnMut(Vec<Value>) -> Result<(), String>) -> Result<(), String> {
        let reader = Reader::open(&self.path(), v2::columns(v2::VALUES))?;
        let mut last = None;
        for group in 0..reader.groups() {
            let values = v2::values(reader.read(group..group + 1)?);
            let values =
                v2::checked(values, last, self.bounds).map_err(|e| format!("{e} of row group {group}"))?;
            last = values.last().copied().or(last);
            each(values)?;
        }
        Ok(())
    }
}

/// Values as they are shown, and the others as they are.
fn divide(values: Vec<Value>, shown: Option<&Shown>) -> Loaded {
    let Some(Shown { locations, contexts }) = shown else { return Loaded { values, left_out: Vec::new() } };
    let (mut values, left_out): (Vec<Value>, Vec<Value>) =
        values.into_iter().partition(|v| locations[v.location as usize]);
    values.iter_mut().for_each(|v| v.context = contexts[v.context as usize]);
    Loaded { values, left_out }
}
