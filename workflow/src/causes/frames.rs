//! The table of frames: which functions are operations of run-time libraries, and what kind of.

use rustc_hash::FxHashMap;

use super::activity::Activity;

/// The table as it stands in the source tree.
const TABLE: &str = include_str!("frames.tsv");

/// Rules by the names that they are for.
#[derive(Debug, Default)]
pub struct Frames {
    exact: FxHashMap<String, Activity>,
    /// Beginning, end, activity, in the table's order.
    patterns: Vec<(String, String, Activity)>,
    modules: Vec<(String, Activity)>,
}

impl Frames {
    /// The rules that falloff knows.
    ///
    /// ```
    /// use falloff_workflow::causes::{Activity, Frames};
    /// let frames = Frames::known();
    /// assert_eq!(frames.of_function("PMPI_Allreduce"), Some(Activity::AllToAll));
    /// assert_eq!(frames.of_function("mpi_wait_"), Some(Activity::PointToPoint));
    /// assert_eq!(frames.of_function("solve"), None);
    /// ```
    pub fn known() -> Frames {
        Frames::parse(TABLE).unwrap_or_default()
    }

    /// Reads a table; the error names the line that makes no sense.
    pub fn parse(table: &str) -> Result<Frames, String> {
        let mut frames = Frames::default();
        for (number, line) in (1..).zip(table.lines()) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || format!("line {number} of the table of frames makes no sense: `{line}`");
            let [what, word, pattern] = line.split('\t').collect::<Vec<_>>()[..] else { return Err(wrong()) };
            let activity = Activity::from_word(word).ok_or_else(wrong)?;
            match (what, pattern.split_once('*')) {
                ("frame", None) => {
                    frames.exact.entry(pattern.to_owned()).or_insert(activity);
                }
                ("frame", Some((start, end))) => {
                    frames.patterns.push((start.to_owned(), end.trim_end_matches('*').to_owned(), activity));
                }
                ("module", pattern_parts) => {
                    let start = pattern_parts.map_or(pattern, |(start, _)| start);
                    frames.modules.push((start.to_owned(), activity));
                }
                _ => return Err(wrong()),
            }
        }
        Ok(frames)
    }

    /// The operation that a function of this name is, if it is one.
    pub fn of_function(&self, name: &str) -> Option<Activity> {
        let name = plain(name);
        let matches = |(start, end, _): &&(String, String, Activity)| {
            name.len() >= start.len() + end.len()
                && name.starts_with(start)
                && name[start.len()..].contains(&**end)
        };
        self.exact
            .get(&name)
            .copied()
            .or_else(|| self.patterns.iter().find(matches).map(|(_, _, activity)| *activity))
    }

    /// What code of a module does that is part of no operation.
    pub fn of_module(&self, file_name: &str) -> Option<Activity> {
        self.modules.iter().find(|(start, _)| file_name.starts_with(start)).map(|(_, activity)| *activity)
    }
}

/// A function's name without what profiling interfaces, compilers and bindings add to it.
fn plain(name: &str) -> String {
    let mut name = name.to_ascii_lowercase();
    if name.starts_with("pmpi_") || name.starts_with("pshmem_") {
        name.remove(0);
    }
    let mut end = name.len();
    if name.starts_with("mpi_") {
        for suffix in ["__", "_", "_f08ts", "_f08", "_fts", "_f", "_c"] {
            if let Some(without) = name[..end].strip_suffix(suffix).filter(|w| w.len() > 4) {
                end = without.len();
            }
        }
    }
    // A version of a symbol, or a clone that the compiler made.
    if let Some(at) = name[..end].find(['@', '.']).filter(|at| *at > 0) {
        end = at;
    }
    name.truncate(end);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_makes_sense() {
        let frames = Frames::parse(TABLE).unwrap();
        assert!(frames.exact.len() > 100 && frames.patterns.len() > 50);
        for wrong in ["frame\tio", "frame\tnothing\tx", "file\tio\tx"] {
            assert!(Frames::parse(&format!("# table\n{wrong}\n")).unwrap_err().contains("line 2"));
        }
    }

    #[test]
    fn all_bindings_are_known() {
        let frames = Frames::known();
        for name in [
            "MPI_Barrier",
            "PMPI_Barrier",
            "mpi_barrier_",
            "mpi_barrier__",
            "MPI_BARRIER",
            "mpi_barrier_f08_",
            "MPI_Barrier_c",
        ] {
            assert_eq!(frames.of_function(name), Some(Activity::Barrier), "{name}");
        }
        for (name, activity) in [
            ("MPI_Sendrecv", Activity::PointToPoint),
            ("MPI_Init_thread", Activity::Runtime),
            ("MPI_File_write_all", Activity::Io),
            ("_gfortran_caf_sync_all", Activity::Barrier),
            ("shmem_double_sum_reduce", Activity::AllToAll),
            ("pshmem_barrier_all", Activity::Barrier),
            ("GOMP_barrier", Activity::ThreadBarrier),
            ("gomp_team_barrier_wait_end", Activity::ThreadBarrier),
            ("__kmpc_critical_with_hint", Activity::Lock),
            ("pthread_mutex_lock@plt", Activity::Lock),
            ("__GI___libc_write", Activity::Io),
            ("clock_nanosleep", Activity::Sleep),
        ] {
            assert_eq!(frames.of_function(name), Some(activity), "{name}");
        }
        for name in ["main", "mpi", "readers", "GOMP_parallel", "write_results", "mpiexec"] {
            assert_eq!(frames.of_function(name), None, "{name}");
        }
        assert_eq!(frames.of_module("libgomp.so.1.0.0"), Some(Activity::Runtime));
        assert_eq!(frames.of_module("app"), None);
    }
}
