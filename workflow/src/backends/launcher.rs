//! Ways to start a program on a number of processors.

use std::str::FromStr;

use crate::{Error, Result};

/// What starts the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun -n N`.
    Mpirun,
    /// `srun -n N`.
    Srun,
    /// `srun -n N` in a batch job for each run.
    Sbatch,
    /// One process with OMP_NUM_THREADS set.
    Threads,
    /// N processes on this machine, told their rank by PMI_RANK and RANK.
    Plain,
    /// The user's own words before the program, with `{n}` in them.
    Template(Vec<String>),
}

/// Where the program goes in a template; at its end if it is not there.
pub(super) const COMMAND: &str = "{command}";
/// Replaced by the processor count.
pub(super) const COUNT: &str = "{n}";
/// Replaced by the threads of each process.
pub(super) const THREADS: &str = "{threads}";
/// Replaced by the product of both.
pub(super) const PROCESSORS: &str = "{p}";

impl FromStr for Launcher {
    type Err = Error;

    fn from_str(text: &str) -> Result<Launcher> {
        let refuse = |reason: String| Error::Usage {
            action: "use the launcher",
            reason,
            hint: "use mpirun, srun, sbatch, threads, plain, or a template such as \"mpirun.mpich -n {n}\""
                .into(),
        };
        match text {
            "mpirun" => return Ok(Launcher::Mpirun),
            "srun" => return Ok(Launcher::Srun),
            "sbatch" => return Ok(Launcher::Sbatch),
            "threads" => return Ok(Launcher::Threads),
            "plain" => return Ok(Launcher::Plain),
            _ => {}
        }
        let words = shlex::split(text).ok_or_else(|| refuse(format!("`{text}` has an open quote")))?;
        if !words.iter().any(|w| w.contains(COUNT)) {
            return Err(refuse(format!("`{text}` is no known launcher and has no {COUNT} in it")));
        }
        Ok(Launcher::Template(words))
    }
}

impl Launcher {
    /// Words before the program, `{n}` not yet replaced; none where falloff starts the processes itself.
    pub(super) fn words(&self) -> Vec<String> {
        let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect();
        match self {
            Launcher::Mpirun => words(&["mpirun", "-n", COUNT]),
            Launcher::Srun | Launcher::Sbatch => words(&["srun", "-n", COUNT]),
            Launcher::Threads | Launcher::Plain => Vec::new(),
            Launcher::Template(words) => words.clone(),
        }
    }

    /// The program that starts the others; `None` where falloff does that itself.
    pub fn program(&self) -> Option<String> {
        match self {
            Launcher::Sbatch => Some("sbatch".into()),
            _ => self.words().into_iter().next(),
        }
    }

    /// Whether Slurm starts the ranks, perhaps on other machines.
    pub fn is_slurm(&self) -> bool {
        match self {
            Launcher::Srun | Launcher::Sbatch => true,
            Launcher::Template(words) => {
                words.first().is_some_and(|first| first.rsplit('/').next() == Some("srun"))
            }
            Launcher::Mpirun | Launcher::Threads | Launcher::Plain => false,
        }
    }

    /// Whether a run must have as many ranks as processors.
    ///
    /// A template may start anything; one whose first word is an MPI or Slurm launcher starts ranks.
    pub fn starts_ranks(&self) -> bool {
        match self {
            Launcher::Mpirun | Launcher::Srun | Launcher::Sbatch | Launcher::Plain => true,
            Launcher::Threads => false,
            Launcher::Template(words) => {
                self.is_slurm() || words.first().is_some_and(|first| super::mpi::is_mpi_launcher(first))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_templates() {
        assert_eq!("plain".parse::<Launcher>().unwrap(), Launcher::Plain);
        let template: Launcher = "mpirun.mpich -n {n}".parse().unwrap();
        assert_eq!(template.words(), ["mpirun.mpich", "-n", "{n}"]);
        assert!(template.starts_ranks() && !template.is_slurm());
        let srun: Launcher = "/opt/slurm/bin/srun --mpi=pmix -n {n}".parse().unwrap();
        assert!(srun.starts_ranks() && srun.is_slurm());
        assert_eq!("sbatch".parse::<Launcher>().unwrap().program().as_deref(), Some("sbatch"));
        assert!(!"numactl -C '0-{n}'".parse::<Launcher>().unwrap().starts_ranks());
    }

    #[test]
    fn what_cannot_work_is_refused() {
        assert!("mpirum".parse::<Launcher>().unwrap_err().to_string().contains("no known launcher"));
        assert!("mpirun '-n {n}".parse::<Launcher>().unwrap_err().to_string().contains("open quote"));
    }
}
