//! The table of frames: which functions are operations of run-time libraries, and what kind of.

use rustc_hash::FxHashMap;

use super::activity::Activity;

/// The table as it stands in the source tree.
const TABLE: &str = include_str!("frames.tsv");

/// Rules by the names that they are for.
#[derive(Debug, Default)]
pub struct Frames {
    exact: FxHashMap<String, Activity>,
    /// What stands before and after the first `*`, and the activity, in the table's order.
    patterns: Vec<(String, String, Activity)>,
    modules: Vec<(String, Activity)>,
    /// Beginnings of names of functions that only wait.
    idle: Vec<String>,
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
            if (what, word) == ("leaf", "idle") {
                frames.idle.push(pattern.trim_end_matches('*').to_owned());
                continue;
            }
            let activity = Activity::from_word(word).ok_or_else(wrong)?;
            match (what, pattern.split_once('*')) {
                ("frame", None) => {
                    frames.exact.entry(pattern.to_owned()).or_insert(activity);
                }
                ("frame", Some((start, end))) => {
                    frames.patterns.push((start.to_owned(), end.to_owned(), activity));
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
            let rest = name.strip_prefix(start.as_str());
            rest.is_some_and(|rest| match end.strip_suffix('*') {
                Some(middle) => rest.contains(middle),
                None => rest.ends_with(end.as_str()),
            })
        };
        self.exact
            .get(&name)
            .copied()
            .or_else(|| self.patterns.iter().find(matches).map(|(_, _, activity)| *activity))
    }

    /// Whether a function does nothing but wait, in spinning or in sleep, when it is the innermost.
    pub fn is_idle(&self, name: &str) -> bool {
        let name = plain(name);
        self.idle.iter().any(|start| name.starts_with(start.as_str()))
    }

    /// What code of a module does that is part of no operation.
    pub fn of_module(&self, file_name: &str) -> Option<Activity> {
        self.modules.iter().find(|(start, _)| file_name.starts_with(start)).map(|(_, activity)| *activity)
    }
}

/// Prefixes that libraries put in front of the names of their operations, and what the operation is called.
const PREFIXES: [(&str, &str); 7] = [
    ("pmpi_", "mpi_"),
    ("pmpix_", "mpi_"),
    ("mpix_", "mpi_"),
    ("pmpir_", "mpi_"),
    ("mpir_", "mpi_"),
    ("ompix_", "mpi_"),
    ("pshmem_", "shmem_"),
];
/// What Fortran compilers, bindings and the libraries' own layers add to names of operations, from the end inwards.
const SUFFIXES: [&str; 8] = ["__", "_", "_f08ts", "_f08", "_fts", "_f", "_c", "_impl"];

/// A function's name without what profiling interfaces, compilers and bindings add to it.
fn plain(name: &str) -> String {
    let mut name = name.to_ascii_lowercase();
    // A version of a symbol, or a clone that the compiler made.
    if let Some(at) = name.find(['@', '.']).filter(|at| *at > 0) {
        name.truncate(at);
    }
    // The C side of Open MPI's Fortran bindings: ompi_barrier_f.
    if name.starts_with("ompi_") && name.ends_with("_f") {
        name.remove(0);
    }
    if let Some((prefix, operation)) = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)) {
        name.replace_range(..prefix.len(), operation);
    }
    if name.starts_with("mpi_") || name.starts_with("shmem_") {
        for suffix in SUFFIXES {
            let without = name.strip_suffix(suffix).map(str::len).filter(|length| *length > 6);
            without.into_iter().for_each(|length| name.truncate(length));
        }
    }
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
            "mpi_barrier_f08ts_",
            "pmpi_barrier_",
            "pmpir_barrier_f08_",
            "MPIR_Barrier_impl",
            "ompi_barrier_f",
        ] {
            assert_eq!(frames.of_function(name), Some(Activity::Barrier), "{name}");
        }
        for (name, activity) in [
            ("MPI_Sendrecv", Activity::PointToPoint),
            ("MPI_Init_thread", Activity::Runtime),
            ("MPI_File_write_all", Activity::Io),
            ("MPI_Allreduce_c", Activity::AllToAll),
            ("mpi_allgatherv_", Activity::AllToAll),
            ("MPI_Bcast", Activity::OneToAll),
            ("MPI_Put", Activity::OneSided),
            ("MPI_Win_lock_all", Activity::OneSided),
            ("mpi_sendrecv_f08_", Activity::PointToPoint),
            ("MPI_Barrier_init", Activity::Runtime),
            ("_gfortran_caf_sync_all", Activity::Barrier),
            ("_gfortran_caf_co_sum", Activity::AllToAll),
            ("_gfortran_caf_send_by_ref", Activity::OneSided),
            ("_gfortran_caf_event_wait", Activity::PointToPoint),
            ("_gfortran_caf_init", Activity::Runtime),
            ("shmem_double_sum_reduce", Activity::AllToAll),
            ("pshmem_barrier_all", Activity::Barrier),
            ("shmem_barrier_all_", Activity::Barrier),
            ("shmem_int_put", Activity::OneSided),
            ("shmem_ctx_double_iput", Activity::OneSided),
            ("shmem_int_wait_until", Activity::PointToPoint),
            ("shmem_init", Activity::Runtime),
            ("GOMP_barrier", Activity::ThreadBarrier),
            ("gomp_team_barrier_wait_end", Activity::ThreadBarrier),
            ("__kmpc_critical_with_hint", Activity::Lock),
            ("GOMP_loop_dynamic_next", Activity::Runtime),
            ("GOMP_parallel_end", Activity::ThreadBarrier),
            ("__kmpc_dispatch_next_4", Activity::Runtime),
            ("__kmp_join_barrier", Activity::ThreadBarrier),
            ("pthread_mutex_lock@plt", Activity::Lock),
            ("mtx_lock", Activity::Lock),
            ("cnd_wait", Activity::ThreadBarrier),
            ("thrd_join", Activity::ThreadBarrier),
            ("__GI___libc_write", Activity::Io),
            ("clock_nanosleep", Activity::Sleep),
        ] {
            assert_eq!(frames.of_function(name), Some(activity), "{name}");
        }
        for name in
            ["main", "mpi", "readers", "GOMP_parallel", "write_results", "mpiexec", "sender", "openings"]
        {
            assert_eq!(frames.of_function(name), None, "{name}");
        }
        assert_eq!(frames.of_module("libgomp.so.1.0.0"), Some(Activity::ThreadBarrier));
        assert_eq!(frames.of_module("libmpi.so.40"), Some(Activity::Runtime));
        assert_eq!(frames.of_module("app"), None);
        for idle in ["opal_progress", "libmpich.so.12+0x1f00", "mca_btl_vader.so+0x20", "sched_yield"] {
            assert!(frames.is_idle(idle), "{idle}");
        }
        assert!(!frames.is_idle("memcpy") && !frames.is_idle("sum_of_users"));
    }
}
