//! From a processor count to the commands that run it.

use std::path::Path;

use falloff_profiler::Request;

use super::batch::Submission;
use super::launcher::{COMMAND, COUNT, Launcher, PROCESSORS, THREADS};
use super::mpi::{self, Flavour};
use super::shell;
use crate::template::Argument;

/// Replaced by the run's directory in the program's arguments.
const RUN: &str = "{run}";

/// One run to start.
#[derive(Clone, Copy, Debug)]
pub struct RunSpec<'a> {
    /// Number of processes, or of threads with the launcher `threads`.
    pub n: u32,
    /// Threads of each process, if the sweep says.
    pub threads: Option<u32>,
    /// Directory of the run, absolute.
    pub dir: &'a Path,
    /// By it the ranks of one job know each other.
    pub run_id: &'a str,
    /// What is measured.
    pub request: &'a Request,
    /// The falloff executable, absolute.
    pub falloff: &'a Path,
    /// What the launcher is, if it is an MPI launcher.
    pub flavour: Option<Flavour>,
    /// Program and arguments with their placeholders.
    pub program: &'a [String],
    /// Variables of the program, `NAME=VALUE` with placeholders.
    pub environment: &'a [String],
    /// Further words of `sbatch`.
    pub sbatch: &'a [String],
    /// The file that has the output of all processes, absolute.
    pub log: &'a Path,
    /// Further placeholders and their values.
    pub arguments: &'a [Argument],
}

impl RunSpec<'_> {
    /// The text with values in place of placeholders.
    fn filled(&self, text: &str) -> String {
        let text = self.counted(text).replace(RUN, &self.dir.display().to_string());
        self.arguments.iter().fold(text, |text, argument| argument.replace(&text, self.processors()))
    }

    /// The text with numbers in place of the placeholders for counts.
    fn counted(&self, text: &str) -> String {
        let text = text.replace(COUNT, &self.n.to_string());
        match self.threads {
            None => text,
            Some(threads) => text
                .replace(THREADS, &threads.to_string())
                .replace(PROCESSORS, &self.processors().to_string()),
        }
    }

    fn processors(&self) -> u32 {
        self.n.saturating_mul(self.threads.unwrap_or(1))
    }

    fn variables(&self) -> Vec<(String, String)> {
        let filled = self.environment.iter().filter_map(|text| text.split_once('='));
        filled.map(|(name, value)| (name.to_owned(), self.filled(value))).collect()
    }
}

/// Processes that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What to start, all at once.
    pub processes: Vec<JobProcess>,
    /// How the process is submitted to a batch system, if it is not started here.
    pub submission: Option<Submission>,
    /// Whether there are more processors in it than this machine has.
    pub oversubscribed: bool,
}

/// One process that a job starts itself.
#[derive(Clone, Debug, PartialEq)]
pub struct JobProcess {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Variables added to the environment.
    pub environment: Vec<(String, String)>,
}

/// The job that runs `spec` under a launcher.
pub fn render(launcher: &Launcher, spec: &RunSpec) -> Job {
    let n = spec.n.to_string();
    let mut words = launcher.words();
    if matches!(launcher, Launcher::Srun | Launcher::Sbatch) && spec.threads.is_some() {
        words.push(format!("--cpus-per-task={THREADS}"));
    }
    let submission = (*launcher == Launcher::Sbatch).then(|| {
        Submission::new(spec.dir, spec.log, spec.run_id, (spec.n, spec.threads.unwrap_or(1)), spec.sbatch)
    });
    let oversubscribed = submission.is_none() && mpi::oversubscribes(spec.processors());
    let command = command(spec);
    let mut processes = match launcher {
        Launcher::Plain => (0..spec.n)
            .map(|rank| JobProcess { words: command.clone(), environment: rank_environment(rank, &n) })
            .collect(),
        Launcher::Threads => {
            vec![JobProcess { words: command, environment: vec![("OMP_NUM_THREADS".into(), n)] }]
        }
        Launcher::Mpirun | Launcher::Srun | Launcher::Sbatch | Launcher::Template(_) => {
            let environment = mpi::environment(spec.flavour, oversubscribed, spec.threads.unwrap_or(1));
            vec![JobProcess { words: around(&words, command, spec), environment }]
        }
    };
    let threads = spec.threads.map(|threads| ("OMP_NUM_THREADS".to_owned(), threads.to_string()));
    let variables: Vec<_> = threads.into_iter().chain(spec.variables()).collect();
    processes.iter_mut().for_each(|process| process.environment.extend(variables.iter().cloned()));
    Job { processes, submission, oversubscribed }
}

/// The program under `falloff run`.
fn command(spec: &RunSpec) -> Vec<String> {
    let dir = spec.dir.display().to_string();
    let mut words = vec![spec.falloff.display().to_string(), "run".into(), "-o".into(), dir.clone()];
    words.extend(spec.request.options());
    words.extend(["--run-id", spec.run_id, "--"].map(str::to_owned));
    words.extend(spec.program.iter().map(|word| spec.filled(word)));
    words
}

/// A template's words with the command in its place.
fn around(template: &[String], command: Vec<String>, spec: &RunSpec) -> Vec<String> {
    let mut words = Vec::new();
    let mut placed = false;
    for word in template {
        if word == COMMAND {
            words.extend(command.iter().cloned());
            placed = true;
        } else {
            words.push(spec.counted(word));
        }
    }
    if !placed {
        words.extend(command);
    }
    words
}

/// How a process of a plain job learns its rank: as from a PMI and as from torchrun.
fn rank_environment(rank: u32, n: &str) -> Vec<(String, String)> {
    let rank = rank.to_string();
    [("PMI_RANK", rank.as_str()), ("PMI_SIZE", n), ("RANK", rank.as_str()), ("WORLD_SIZE", n)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

impl Job {
    /// The commands as one would type them, one a line; of a batch job the submission and then its script.
    pub fn lines(&self) -> Vec<String> {
        match &self.submission {
            None => self.processes.iter().map(|p| shell::line(&p.environment, &p.words)).collect(),
            Some(submission) => {
                let script = self.processes.iter().map(|process| submission.script(process));
                std::iter::once(submission.line())
                    .chain(script.map(|text| text.trim_end().to_owned()))
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(launcher: &str) -> Job {
        job_with(launcher, None)
    }

    fn job_with(launcher: &str, threads: Option<u32>) -> Job {
        let request = Request {
            events: vec!["time@500".parse().unwrap()],
            only: vec!["app".into()],
            ..Request::default()
        };
        let program =
            ["./app".to_owned(), "-x".into(), "{n}".into(), "{size}".into(), "{run}/out file".into()];
        let spec = RunSpec {
            n: 2,
            threads,
            dir: Path::new("/s/runs/n0002-r1"),
            run_id: "abc",
            request: &request,
            falloff: Path::new("/bin/falloff"),
            flavour: None,
            program: &program,
            environment: &["SIZE={size}".to_owned()],
            sbatch: &["--time=5".to_owned()],
            log: Path::new("/s/runs/n0002-r1/output.log"),
            arguments: &[Argument::parse("size=50*n").unwrap()],
        };
        let mut job = render(&launcher.parse().unwrap(), &spec);
        job.oversubscribed = false;
        job
    }

    const COMMAND_LINE: &str = "/bin/falloff run -o /s/runs/n0002-r1 -e time@500 --only app --run-id abc -- \
                                ./app -x 2 100 '/s/runs/n0002-r1/out file'";

    #[test]
    fn plain_processes_know_their_rank() {
        let lines = job("plain").lines();
        assert_eq!(lines[1], format!("PMI_RANK=1 PMI_SIZE=2 RANK=1 WORLD_SIZE=2 SIZE=100 {COMMAND_LINE}"));
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn threads_are_told_by_openmp_variable() {
        assert_eq!(job("threads").lines(), [format!("OMP_NUM_THREADS=2 SIZE=100 {COMMAND_LINE}")]);
    }

    #[test]
    fn launchers_go_in_front() {
        assert_eq!(job("srun").lines(), [format!("SIZE=100 srun -n 2 {COMMAND_LINE}")]);
    }

    #[test]
    fn a_grid_has_threads() {
        let lines = job_with("srun", Some(3)).lines();
        let command = COMMAND_LINE.replace(" 100 ", " 300 ");
        assert_eq!(lines, [format!("OMP_NUM_THREADS=3 SIZE=300 srun -n 2 '--cpus-per-task=3' {command}")]);
        let lines = job_with("mpirun.mpich -n {n} -x {threads} {p}", Some(3)).lines();
        assert_eq!(lines, [format!("OMP_NUM_THREADS=3 SIZE=300 mpirun.mpich -n 2 -x 3 6 {command}")]);
    }

    #[test]
    fn a_batch_job_is_a_script_with_srun() {
        let lines = job("sbatch").lines();
        assert_eq!(
            lines[0],
            "sbatch --parsable '--job-name=falloff-abc' '--output=/s/runs/n0002-r1/output.log' '--ntasks=2' '--time=5' \
             /s/runs/n0002-r1/.job.sh"
        );
        let script: Vec<&str> = lines[1].lines().collect();
        assert_eq!(script[..2], ["#!/bin/sh", "export SIZE=100"]);
        assert_eq!(script[3], format!("srun -n 2 {COMMAND_LINE}"));
        assert_eq!(script.last(), Some(&"exit $status"));
    }

    #[test]
    fn a_template_may_place_the_command() {
        assert_eq!(
            job("taskset -c 0-{n} {command} --more").lines(),
            [format!("SIZE=100 taskset -c 0-2 {COMMAND_LINE} --more")]
        );
    }
}
