//! Where the MPI library of a launcher may be.

use std::fs;
use std::path::{Path, PathBuf};

/// Names by which Open MPI and what is built on it are loaded.
const OPEN_MPI: &[&str] = &["libmpi.so.40"];
/// Names by which MPICH, its kin and the standard's own interface are loaded.
const MPICH: &[&str] =
    &["libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12", "libmpi_abi.so.1", "libmpi_abi.so.0"];
/// Folders of libraries beside the folder of a launcher.
const FOLDERS: &[&str] = &["lib", "lib64", "lib/release"];
/// Processes between a rank and its launcher at most: shells, wrappers.
const ANCESTORS: usize = 8;

/// What to load, likeliest first: the library beside the launcher, then the loader's choice. `is_set` says whether a variable
/// is in the environment.
pub(in crate::noise) fn places(is_set: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let names = names(is_set);
    let launchers = ancestors();
    let folders = launchers.iter().flat_map(|prefix| FOLDERS.iter().map(|folder| prefix.join(folder)));
    let beside = folders.flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    beside.filter(|path| path.is_file()).chain(names.iter().map(PathBuf::from)).collect()
}

/// Names of libraries in the order in which the launcher's variables make them likely.
fn names(is_set: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let open_mpi = is_set("OMPI_COMM_WORLD_RANK") || (is_set("PMIX_RANK") && !is_set("PMI_RANK"));
    let (first, then) = if open_mpi { (OPEN_MPI, MPICH) } else { (MPICH, OPEN_MPI) };
    first.iter().chain(then).copied().collect()
}

/// Prefixes of the programs that started this process: what lies above the folders they are in.
fn ancestors() -> Vec<PathBuf> {
    let mut process = std::process::id();
    let mut found = Vec::new();
    for _ in 0..ANCESTORS {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
        let Some(parent) = parent.filter(|parent| *parent > 1) else { break };
        process = parent;
        let program = fs::read_link(format!("/proc/{process}/exe")).ok();
        let prefix = program.as_deref().and_then(Path::parent).and_then(Path::parent);
        found.extend(prefix.map(Path::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_says_which_library_is_likely() {
        let first = |set: &[&str]| names(|name| set.contains(&name))[0];
        assert_eq!(first(&["OMPI_COMM_WORLD_RANK", "PMIX_RANK"]), "libmpi.so.40");
        assert_eq!(first(&["PMIX_RANK"]), "libmpi.so.40");
        assert_eq!(first(&["PMI_RANK"]), "libmpi.so.12");
        assert!(places(|_| false).ends_with(&["libmpi_abi.so.0".into(), "libmpi.so.40".into()]));
    }
}
