//! What a launcher says of a process in its environment: its rank, and which variables a measurement keeps.

/// Variables that say a process's rank and how many there are, most specific launcher first. Some launchers name
/// only the rank, and Open MPI's settings of a user stand in the environment of other launchers too, so only
/// its rank counts. Fortran or C makes no difference: the launcher sets them before the program starts.
const LAUNCHERS: &[(&[u8], &[u8])] = &[
    (b"OMPI_COMM_WORLD_RANK", b"OMPI_COMM_WORLD_SIZE"),
    (b"MV2_COMM_WORLD_RANK", b"MV2_COMM_WORLD_SIZE"),
    (b"PMI_RANK", b"PMI_SIZE"),
    (b"PMIX_RANK", b""),
    (b"PALS_RANKID", b""),
    (b"ALPS_APP_PE", b""),
    (b"FLUX_TASK_RANK", b"FLUX_JOB_SIZE"),
    (b"SLURM_PROCID", b"SLURM_NTASKS"),
];

/// Variables that say how many ranks there are on a process's host.
const LOCAL_SIZES: &[&[u8]] = &[
    b"OMPI_COMM_WORLD_LOCAL_SIZE",
    b"MV2_COMM_WORLD_LOCAL_SIZE",
    b"MPI_LOCALNRANKS",
    b"SLURM_STEP_TASKS_PER_NODE",
];

/// Launcher variables that are kept in the measurement. Never the whole environment.
const KEPT: &[&[u8]] = &[
    b"OMPI_COMM_WORLD_RANK=",
    b"OMPI_COMM_WORLD_SIZE=",
    b"OMPI_COMM_WORLD_LOCAL_RANK=",
    b"MV2_COMM_WORLD_RANK=",
    b"MV2_COMM_WORLD_SIZE=",
    b"PMI_RANK=",
    b"PMI_SIZE=",
    b"PMIX_RANK=",
    b"PMIX_NAMESPACE=",
    b"PALS_RANKID=",
    b"FLUX_TASK_RANK=",
    b"FLUX_JOB_ID=",
    b"SLURM_JOB_ID=",
    b"SLURM_STEP_ID=",
    b"SLURM_PROCID=",
    b"SLURM_NTASKS=",
    b"SLURM_LOCALID=",
    b"PBS_JOBID=",
    b"LSB_JOBID=",
    b"OMP_NUM_THREADS=",
];

/// Rank and number of ranks (0 if not known) that the variables say; `number` reads one as a decimal number.
///
/// ```
/// let variables = |name: &[u8]| (name == b"PMI_RANK").then_some(3);
/// assert_eq!(falloff_format::job::rank(variables), Some((3, 0)));
/// ```
pub fn rank(number: impl Fn(&[u8]) -> Option<i32>) -> Option<(i32, i32)> {
    let (rank, size) = LAUNCHERS.iter().find_map(|(rank, size)| Some((number(rank)?, size)))?;
    Some((rank, number(size).unwrap_or(0)))
}

/// Ranks on the process's host, as far as its launcher says; `number` as for [`rank`].
///
/// ```
/// let variables = |name: &[u8]| (name == b"MPI_LOCALNRANKS").then_some(4);
/// assert_eq!(falloff_format::job::local_ranks(variables), Some(4));
/// ```
pub fn local_ranks(number: impl Fn(&[u8]) -> Option<i32>) -> Option<i32> {
    LOCAL_SIZES.iter().find_map(|name| number(name))
}

/// Whether a measurement keeps this `NAME=value` of the environment.
pub fn is_kept(entry: &[u8]) -> bool {
    KEPT.iter().any(|name| entry.starts_with(name))
}
