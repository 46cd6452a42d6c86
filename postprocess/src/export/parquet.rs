//! The database itself, for pandas, polars, DuckDB and whatever else reads Parquet.

use std::io;
use std::path::Path;

use super::profile::Profile;

/// Writes the tables and the manifest of the database as they are: every metric and every location, whatever the profile
/// keeps of them.
///
/// # Errors
/// Those of writing; also if the directory holds something else than a database.
pub fn parquet(profile: &Profile, dir: &Path) -> io::Result<()> {
    profile.database().write(dir).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::export::{By, samples};
    use crate::synthetic;

    #[test]
    fn the_directory_is_a_database() {
        for database in [synthetic::database(), samples::awkward(), samples::empty()] {
            let dir = tempfile::tempdir().unwrap();
            parquet(&Profile::new(&database, &["cpu"], By::Rank), dir.path()).unwrap();
            assert_eq!(Database::open(dir.path()).unwrap(), database);
        }
    }
}
