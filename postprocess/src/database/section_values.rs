//! The values of contexts in sections, read when they are asked for.

use std::path::{Path, PathBuf};

use super::files::table_path;
use super::model::{Database, Head};
use super::table::Table;
use super::v2::{self, sections};
use crate::error::Error;
use crate::sections::{SectionValue, Sections, summed};

/// Values of contexts in sections: in memory, or in a table of a database directory.
#[derive(Clone, Debug, Default)]
pub(super) struct SectionValues {
    rows: Vec<SectionValue>,
    stored: Option<Stored>,
    /// Where the contexts are now, if they have been moved.
    places: Option<Vec<u32>>,
}

#[derive(Clone, Debug)]
struct Stored {
    path: PathBuf,
    /// Sections, contexts and metrics that the table may refer to.
    bounds: [usize; 3],
}

impl SectionValues {
    pub fn in_memory(rows: Vec<SectionValue>) -> SectionValues {
        SectionValues { rows, ..SectionValues::default() }
    }

    /// Those of a database directory with this head.
    pub fn stored(dir: &Path, head: &Head) -> SectionValues {
        let bounds = [head.sections.sections.len(), head.tree.len(), head.metrics.len()];
        let stored = Stored { path: table_path(dir, sections::SECTION_VALUES), bounds };
        SectionValues {
            stored: Some(stored).filter(|_| !head.sections.is_empty()),
            ..SectionValues::default()
        }
    }

    /// With every context at another place.
    pub fn moved(mut self, places: &[u32]) -> SectionValues {
        let place = |context: u32| places.get(context as usize).copied().unwrap_or_default();
        self.places = Some(match self.places {
            Some(before) => before.into_iter().map(place).collect(),
            None => places.to_vec(),
        });
        self
    }

    fn get(&self) -> Result<Vec<SectionValue>, Error> {
        let mut rows = self.rows.clone();
        if let Some(Stored { path, bounds }) = &self.stored {
            let table = Table::read(path, v2::columns(sections::SECTION_VALUES));
            rows = table
                .and_then(|table| sections::read_values(table, *bounds))
                .map_err(|reason| Error::DatabaseDamaged { path: path.clone(), reason })?;
        }
        Ok(match &self.places {
            None => rows,
            Some(places) => {
                for row in &mut rows {
                    row.context = places.get(row.context as usize).copied().unwrap_or_default();
                }
                summed(rows)
            }
        })
    }
}

impl Database {
    /// The sections that the program has marked, and their times. A database that was made of others by an operation other
    /// than joining has none.
    pub fn sections(&self) -> &Sections {
        &self.head.sections
    }

    /// What of the contexts' exclusive values was sampled in which section, without helpers, sorted by section, context and
    /// metric. They are read here if the database is in a directory.
    ///
    /// # Errors
    /// [`Error::DatabaseDamaged`].
    pub fn section_values(&self) -> Result<Vec<SectionValue>, Error> {
        self.section_values.get()
    }
}
