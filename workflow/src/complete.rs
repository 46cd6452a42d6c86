//! Whether the measurements of a run are complete: all ranks, of one job, each on a processor of its own.

use std::collections::BTreeSet;
use std::path::Path;

use falloff_postprocess::{Database, OpenOptions, open};

use crate::backends::{Flavour, Launcher, processors_here};

/// What comes of a program whose MPI is not the launcher's.
const SINGLETONS: &str = "its processes do not know of each other";

/// What the measurements of a run say of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completeness {
    /// Distinct ranks measured.
    pub ranks: usize,
    /// Whether this machine had more ranks than processors.
    pub oversubscribed: bool,
    /// Why the run cannot be scored.
    pub objection: Option<String>,
    /// Whether waiting may help: a shared file system shows what other machines wrote some time later.
    pub may_come: bool,
}

impl Completeness {
    /// Looks at the run in `dir`, which should have `wanted` ranks, of so many threads each, if the launcher starts ranks.
    pub fn of(
        dir: &Path,
        options: &OpenOptions,
        launcher: &Launcher,
        flavour: Option<Flavour>,
        wanted: usize,
        threads: usize,
    ) -> Completeness {
        let database = match open(dir, options) {
            Ok(database) => database,
            Err(error) => {
                let objection = Some(error.to_string());
                return Completeness { objection, may_come: true, ..Completeness::default() };
            }
        };
        let ranks: BTreeSet<u32> = database.locations().iter().filter_map(|l| l.rank).collect();
        let here = hostname();
        let ranks_here: BTreeSet<u32> =
            database.locations().iter().filter(|l| l.host == here).filter_map(|l| l.rank).collect();
        let mut found = Completeness {
            ranks: ranks.len(),
            oversubscribed: ranks_here.len() * threads > processors_here(),
            ..Completeness::default()
        };
        if launcher.starts_ranks() && wanted > 1 {
            found.objection = singletons(&database, launcher, flavour);
        }
        if launcher.starts_ranks() && ranks.len() != wanted && found.objection.is_none() {
            found.objection = Some(format!("{} of {wanted} ranks have a profile", ranks.len()));
            found.may_come = ranks.len() < wanted;
        }
        found
    }
}

/// Why the processes of a program do not work together, if they do not: each does not find its launcher and runs as if it were
/// alone, without a word.
fn singletons(database: &Database, launcher: &Launcher, flavour: Option<Flavour>) -> Option<String> {
    let paths = || database.modules().iter().map(|m| m.path.as_str());
    let program = Flavour::of_libraries(paths())?;
    if let Some(launcher) = flavour.filter(|launcher| !launcher.starts(program)) {
        return Some(format!(
            "the launcher is of {launcher}, the program of {program}: {SINGLETONS}; choose the launcher with `--launcher`"
        ));
    }
    let ranked = || database.locations().iter().filter(|l| l.rank.is_some() && l.main && !l.forked);
    // Slurm's PMIx names the rank alone, its PMI the number of ranks too.
    let only_pmix = ranked().all(|l| l.ranks == 0);
    let knows_pmix =
        paths().any(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with("libpmix.")));
    let deaf = launcher.is_slurm() && program == Flavour::Mpich && only_pmix && !knows_pmix;
    // Or MPI itself has said so.
    let alone = ranked().count() > 1 && ranked().all(|l| (l.rank, l.ranks) == (Some(0), 1));
    (deaf || alone).then(|| match launcher.is_slurm() {
        true => format!("{SINGLETONS}; set SLURM_MPI_TYPE, to pmi2 for MPICH and to pmix for Open MPI"),
        false => format!("{SINGLETONS}; choose the launcher of their MPI, {program}, with `--launcher`"),
    })
}

fn hostname() -> String {
    nix::unistd::gethostname().unwrap_or_default().to_string_lossy().into_owned()
}
