//! What MPI launchers need to run here.

use std::process::{Command, Stdio};

/// Whether a word is the name of an MPI launcher, with or without a path and a suffix.
pub(super) fn is_mpi_launcher(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    ["mpirun", "mpiexec", "prterun", "oshrun"].iter().any(|known| name.starts_with(known))
}

/// Environment for Open MPI's launcher; empty for other launchers.
///
/// Open MPI refuses to run as root and to start more processes than it sees processors. The first is allowed
/// only for root; the second only if `oversubscribed`, and then processes are not bound to cores, which would
/// put several on one while others idle.
pub(super) fn environment(launcher: &str, oversubscribed: bool) -> Vec<(String, String)> {
    if !is_mpi_launcher(launcher) || !is_open_mpi(launcher) {
        return Vec::new();
    }
    open_mpi_environment(nix::unistd::geteuid().is_root(), oversubscribed)
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

fn is_open_mpi(launcher: &str) -> bool {
    let output = Command::new(launcher).arg("--version").stdin(Stdio::null()).output();
    output.is_ok_and(|o| {
        let text = String::from_utf8_lossy(&o.stdout);
        text.contains("Open MPI") || text.contains("OpenRTE") || text.contains("PRRTE")
    })
}

/// Whether `n` processors are more than this machine gives, where no batch system has given others.
pub(super) fn oversubscribes(n: u32) -> bool {
    const ALLOCATED: [&str; 5] =
        ["SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile"];
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    n as usize > here && !ALLOCATED.iter().any(|name| std::env::var_os(name).is_some())
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
    fn only_what_is_needed_is_set() {
        assert!(open_mpi_environment(false, false).is_empty());
        assert_eq!(open_mpi_environment(true, false).len(), 2);
        assert!(open_mpi_environment(false, true).iter().all(|(name, _)| name.contains("_MCA_")));
    }
}
