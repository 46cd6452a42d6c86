//! What MPI launchers need to run here.

use std::fmt;
use std::process::{Command, Stdio};

use falloff_profiler::find_program;

/// Whether a word is the name of an MPI launcher, with or without a path and a suffix.
pub(super) fn is_mpi_launcher(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    ["mpirun", "mpiexec", "prterun", "oshrun"].iter().any(|known| name.starts_with(known))
}

/// A family of MPI libraries whose launchers and programs understand each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Open MPI.
    OpenMpi,
    /// MPICH and what is derived from it, with the launcher Hydra.
    Mpich,
}

impl Flavour {
    /// That of a launcher, by what it says of itself; `None` for other programs.
    pub fn of_launcher(launcher: &str) -> Option<Flavour> {
        if !is_mpi_launcher(launcher) {
            return None;
        }
        let output = Command::new(launcher).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let says = |names: &[&str]| names.iter().any(|name| text.contains(name));
        match () {
            () if says(&["Open MPI", "OpenRTE", "PRRTE"]) => Some(Flavour::OpenMpi),
            () if says(&["HYDRA", "MPICH", "Intel(R) MPI"]) => Some(Flavour::Mpich),
            () => None,
        }
    }

    /// That of a program, by the paths of the libraries it has loaded; `None` if they say nothing, or both.
    pub fn of_libraries<'a>(paths: impl Iterator<Item = &'a str>) -> Option<Flavour> {
        let (mut open_mpi, mut mpich) = (false, false);
        for path in paths {
            let name = path.rsplit('/').next().unwrap_or(path);
            let is = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
            open_mpi |= is(&["libopen-pal.", "libmpi.so.40", "libmpi.so.20"]);
            mpich |= is(&["libmpich.", "libmpi.so.12", "libmpifort.so.12"]);
        }
        match (open_mpi, mpich) {
            (true, false) => Some(Flavour::OpenMpi),
            (false, true) => Some(Flavour::Mpich),
            _ => None,
        }
    }
}

/// MPI and Slurm launchers that are in PATH, with their flavour where they say it.
pub fn installed_launchers() -> Vec<(&'static str, Option<Flavour>)> {
    const LAUNCHERS: [&str; 7] =
        ["mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra", "prterun", "srun"];
    LAUNCHERS
        .into_iter()
        .filter(|name| find_program(name.as_ref()).is_some())
        .map(|name| (name, Flavour::of_launcher(name)))
        .collect()
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavour::OpenMpi => "Open MPI",
            Flavour::Mpich => "MPICH",
        })
    }
}

/// Environment for a launcher.
///
/// Open MPI refuses to run as root and to start more processes than it sees processors. The first is allowed
/// only for root; the second only if `oversubscribed`, and then processes are not bound to cores, which would
/// put several on one while others idle.
pub(super) fn environment(flavour: Option<Flavour>, oversubscribed: bool) -> Vec<(String, String)> {
    match flavour {
        Some(Flavour::OpenMpi) => open_mpi_environment(nix::unistd::geteuid().is_root(), oversubscribed),
        _ => Vec::new(),
    }
}

fn open_mpi_environment(root: bool, oversubscribed: bool) -> Vec<(String, String)> {
    // Open MPI 4 reads OMPI_MCA_*, Open MPI 5 PRTE_MCA_*.
    let as_root = [("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")];
    let too_many = [
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
    ];
    as_root
        .iter()
        .filter(|_| root)
        .chain(too_many.iter().filter(|_| oversubscribed))
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Whether `n` processors are more than this machine gives, where no batch system has given others.
pub(super) fn oversubscribes(n: u32) -> bool {
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    n as usize > here && !has_other_machines()
}

/// Whether a batch system has given processors that may be on other machines.
pub(crate) fn has_other_machines() -> bool {
    const ALLOCATED: [&str; 5] =
        ["SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile"];
    ALLOCATED.iter().any(|name| std::env::var_os(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_name() {
        assert!(is_mpi_launcher("/opt/mpi/bin/mpiexec.hydra"));
        assert!(is_mpi_launcher("mpirun"));
        assert!(!is_mpi_launcher("srun"));
    }

    #[test]
    fn libraries_tell_the_flavour() {
        let flavour = |paths: &[&str]| Flavour::of_libraries(paths.iter().copied());
        assert_eq!(flavour(&["/lib/libc.so.6", "/lib/libmpich.so.12"]), Some(Flavour::Mpich));
        assert_eq!(flavour(&["/lib/libmpi.so.40"]), Some(Flavour::OpenMpi));
        assert_eq!(flavour(&["/lib/libopen-pal.so.40", "/lib/libmpich.so.12"]), None);
        assert_eq!(flavour(&[]), None);
        assert_eq!(Flavour::of_launcher("sh"), None);
    }

    #[test]
    fn only_what_is_needed_is_set() {
        assert!(open_mpi_environment(false, false).is_empty());
        assert_eq!(open_mpi_environment(true, false).len(), 2);
        assert!(open_mpi_environment(false, true).iter().all(|(name, _)| name.contains("_MCA_")));
    }
}
