//! What MPI launchers need to run here.

use std::fmt;
use std::process::{Command, Stdio};

use falloff_profiler::find_program;

/// The launcher of OpenCoarrays, which starts another.
const CAFRUN: &str = "cafrun";

/// Whether a word is the name of an MPI launcher, with or without a path and a suffix.
pub(super) fn is_mpi_launcher(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    ["mpirun", "mpiexec", "prterun", "oshrun", CAFRUN].iter().any(|known| name.starts_with(known))
}

/// A family of MPI libraries whose launchers and programs understand each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Open MPI.
    OpenMpi,
    /// MPICH and what is derived from it, with the launcher Hydra.
    Mpich,
    /// Intel MPI, whose programs are like those of MPICH.
    Intel,
}

impl Flavour {
    /// That of a launcher, by what it says of itself; `None` for other programs.
    pub fn of_launcher(launcher: &str) -> Option<Flavour> {
        if !is_mpi_launcher(launcher) {
            return None;
        }
        let own_name = launcher.rsplit('/').next().unwrap_or(launcher);
        let question = if own_name.starts_with(CAFRUN) { "--wraps" } else { "--version" };
        let output = Command::new(launcher).arg(question).stdin(Stdio::null()).output().ok()?;
        Flavour::of_text(&String::from_utf8_lossy(&output.stdout))
    }

    /// That of a launcher that says this of itself.
    fn of_text(text: &str) -> Option<Flavour> {
        let says = |names: &[&str]| names.iter().any(|name| text.contains(name));
        match () {
            () if says(&["Open MPI", "OpenRTE", "PRRTE"]) => Some(Flavour::OpenMpi),
            () if says(&["Intel(R) MPI"]) => Some(Flavour::Intel),
            () if says(&["HYDRA", "MPICH"]) => Some(Flavour::Mpich),
            () => None,
        }
    }

    /// Whether this flavour's launcher starts programs of the other as ranks of one job.
    pub fn starts(self, program: Flavour) -> bool {
        let is_open_mpi = |flavour| flavour == Flavour::OpenMpi;
        is_open_mpi(self) == is_open_mpi(program)
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
            Flavour::Intel => "Intel MPI",
        })
    }
}

/// Environment for a launcher.
///
/// Open MPI refuses to run as root and to start more processes than it sees processors. The first is allowed
/// only for root; the second only if `oversubscribed`, and then processes are not bound to cores, which would
/// put several on one while others idle. Intel MPI needs only the latter. Processes with `threads` of their own are not bound
/// to a core each either.
pub(super) fn environment(
    flavour: Option<Flavour>,
    oversubscribed: bool,
    threads: u32,
) -> Vec<(String, String)> {
    match flavour {
        Some(Flavour::OpenMpi) => {
            open_mpi_environment(nix::unistd::geteuid().is_root(), oversubscribed, threads > 1)
        }
        Some(Flavour::Intel) if oversubscribed || threads > 1 => vec![("I_MPI_PIN".into(), "0".into())],
        _ => Vec::new(),
    }
}

fn open_mpi_environment(root: bool, oversubscribed: bool, threaded: bool) -> Vec<(String, String)> {
    // Open MPI 4 reads OMPI_MCA_*, Open MPI 5 PRTE_MCA_*.
    let as_root = [("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")];
    let too_many = [
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ];
    let unbound =
        [("OMPI_MCA_hwloc_base_binding_policy", "none"), ("PRTE_MCA_hwloc_default_binding_policy", "none")];
    as_root
        .iter()
        .filter(|_| root)
        .chain(too_many.iter().filter(|_| oversubscribed))
        .chain(unbound.iter().filter(|_| oversubscribed || threaded))
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Whether `n` processors are more than this machine gives, where no batch system has given others.
pub(super) fn oversubscribes(n: u32) -> bool {
    n as usize > processors_here() && !has_other_machines()
}

/// How many processors this machine gives.
pub(crate) fn processors_here() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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

    /// A launcher that says this of itself.
    fn launcher(dir: &std::path::Path, name: &str, text: &str) -> Option<Flavour> {
        use std::os::unix::fs::PermissionsExt;
        let path = dir.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Flavour::of_launcher(&path.to_string_lossy())
    }

    #[test]
    fn launchers_tell_the_flavour() {
        let dir = tempfile::tempdir().unwrap();
        let intel = "test \"$1\" = --version && echo 'Intel(R) MPI Library for Linux* OS, Version 2021.12 Build 20240410'";
        assert_eq!(launcher(dir.path(), "mpirun", intel), Some(Flavour::Intel));
        assert_eq!(launcher(dir.path(), "mpiexec.hydra", intel), Some(Flavour::Intel));
        let caf = "test \"$1\" = --wraps && echo 'mpiexec (OpenRTE) 4.1.4'";
        assert_eq!(launcher(dir.path(), "cafrun", caf), Some(Flavour::OpenMpi));
        assert_eq!(launcher(dir.path(), "mpiexec", "echo '    HYDRA build details:'"), Some(Flavour::Mpich));
        assert_eq!(launcher(dir.path(), "mpirun", "exit 1"), None);
        assert!(Flavour::Intel.starts(Flavour::Mpich) && !Flavour::Intel.starts(Flavour::OpenMpi));
        assert!(Flavour::OpenMpi.starts(Flavour::OpenMpi) && !Flavour::OpenMpi.starts(Flavour::Mpich));
    }

    #[test]
    fn only_what_is_needed_is_set() {
        assert!(open_mpi_environment(false, false, false).is_empty());
        assert_eq!(open_mpi_environment(true, false, false).len(), 2);
        assert_eq!(environment(Some(Flavour::Intel), true, 1), [("I_MPI_PIN".to_owned(), "0".to_owned())]);
        assert!(environment(Some(Flavour::Intel), false, 1).is_empty());
        assert!(open_mpi_environment(false, true, false).iter().all(|(name, _)| name.contains("_MCA_")));
    }
}
