//! Which run a process belongs to: ranks of one job meet by it in one directory.

use std::env;
use std::fs;
use std::io::Read;

/// Variable that names the run; set by `falloff sweep`, and by users whose launcher gives no job id.
pub const RUN_ID_VARIABLE: &str = "FALLOFF_RUN_ID";
/// Bytes of a run id that a measurement keeps.
const LENGTH_MAX: usize = 63;

/// Variables whose values together name a job step, by launcher.
const JOBS: &[&[&str]] = &[
    &["PMIX_NAMESPACE"],
    &["OMPI_MCA_ess_base_jobid"],
    &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    &["PALS_APID"],
    &["FLUX_JOB_ID"],
    &["ALPS_APP_ID"],
];

/// A run id that no other run has.
pub fn fresh() -> String {
    let mut bytes = [0u8; 16];
    let filled = fs::File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes));
    if filled.is_err() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        bytes = (now.as_nanos() << 32 | u128::from(std::process::id())).to_le_bytes();
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The run id of this process: the variable, else the launcher's job and step, else a fresh one.
pub(crate) fn of_this_process() -> String {
    let value = |name: &&str| env::var(name).ok().filter(|v| !v.is_empty());
    let mut id = value(&RUN_ID_VARIABLE)
        .or_else(|| {
            JOBS.iter()
                .find_map(|names| names.iter().map(value).collect::<Option<Vec<_>>>().map(|v| v.join(".")))
        })
        .or_else(hydra_job)
        .unwrap_or_else(fresh);
    while id.len() > LENGTH_MAX {
        id.pop();
    }
    id
}

/// MPICH's launcher gives no job id, but its ranks on a host share their parent.
fn hydra_job() -> Option<String> {
    env::var_os("PMI_RANK")?;
    env::var_os("PMI_FD").or_else(|| env::var_os("PMI_PORT"))?;
    let parent = nix::unistd::getppid();
    let stat = fs::read_to_string(format!("/proc/{parent}/stat")).ok()?;
    // The start time is field 22; the name in field 2 may hold blanks and brackets.
    let started = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.to_owned();
    let host = nix::unistd::gethostname().ok()?.into_string().ok()?;
    Some(format!("pmi-{host}-{parent}-{started}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_differ() {
        assert_ne!(fresh(), fresh());
        assert_eq!(fresh().len(), 32);
    }
}
