//! `falloff sweep`: runs of a program at several processor counts.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use falloff_postprocess::OpenOptions;
use falloff_workflow::exit;
use falloff_workflow::plan::{Manner, Plan};
use falloff_workflow::results::Results;
use falloff_workflow::scoring::Scaling;
use falloff_workflow::sweep::{OUTPUT_LOG, Outcome, Sweep};

use crate::args::SweepArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::sweep_progress::carry_out;
use crate::values::next_free;

/// Directories of the sweeps of two programs in the one that is asked for.
const OLD: &str = "old";
const NEW: &str = "new";

/// Carries out the sweep, or prints its commands.
pub fn sweep(args: &SweepArgs, output: &Output) -> Result<i32, Failure> {
    let scaling = if args.weak { Scaling::Weak } else { Scaling::Strong };
    let plan = Plan::new(args.program.clone(), args.launcher.clone(), scaling, args.scales.clone());
    let mut plan = plan.measuring(args.measure.request(args.rate)?)?;
    plan.repetitions = args.repeat;
    plan.timeout_seconds = args.timeout.map(|t| t.as_secs_f64());
    plan.manner = Manner {
        arguments: args.arguments.clone(),
        environment: args.environment.clone(),
        expectations: args.expect.iter().map(|own| own.text().to_owned()).collect(),
        threads: sorted(&args.threads),
        sbatch: sbatch_words(args)?,
        check: args.check.clone(),
        check_command: args.check_command.clone(),
        warm_up: args.warm_up,
        retries: args.retries,
    };
    let program = args.program.first().map_or(OsStr::new(""), OsStr::new);
    let dir = args.output.clone().unwrap_or_else(|| next_free("falloff-sweep", program));
    let options = args.debug.options();
    let sweeps = sweeps(plan, args.versus.as_deref(), &dir, &options)?;
    if args.dry_run {
        return dry_run(&sweeps, output);
    }
    let outcomes = carry_out(&sweeps.iter().collect::<Vec<_>>(), output)?;
    if let Some(signal) = outcomes.iter().find_map(|outcome| outcome.interrupted) {
        output.warn("falloff: interrupted; the same command goes on from here");
        leave_by(signal);
    }
    if outcomes.iter().any(|outcome| !outcome.failed.is_empty()) {
        return Err(failed(&outcomes, &dir));
    }
    for sweep in &sweeps {
        Results::open(sweep.dir(), &options)?.check_comparable()?;
    }
    output.note(&match args.versus {
        Some(_) => format!("next: falloff check {} {}", dir.join(OLD).display(), dir.join(NEW).display()),
        None => format!("next: falloff score {}", dir.display()),
    });
    Ok(exit::OK)
}

/// The sweep into `dir`, or those of an old and the new program in it.
fn sweeps(
    plan: Plan,
    versus: Option<&str>,
    dir: &Path,
    options: &OpenOptions,
) -> Result<Vec<Sweep>, Failure> {
    let falloff = own_executable()?;
    let sweep = |plan, dir: &Path| -> Result<Sweep, Failure> {
        Ok(Sweep::new(plan, dir, &falloff)?.opened_with(options.clone()))
    };
    let Some(old) = versus else { return Ok(vec![sweep(plan, dir)?]) };
    if Plan::exists(dir) {
        return Err(Failure::usage(
            format!("failed to use `{}`: it holds the sweep of one program, not of two", dir.display()),
            "choose another directory with `-o`",
        ));
    }
    let mut old_plan = plan.clone();
    old_plan.program[0] = old.to_owned();
    Ok(vec![sweep(old_plan, &dir.join(OLD))?, sweep(plan, &dir.join(NEW))?])
}

/// Numbers in order, each once.
fn sorted(numbers: &[u32]) -> Vec<u32> {
    numbers.iter().copied().collect::<BTreeSet<u32>>().into_iter().collect()
}

/// The words that are passed on to `sbatch`.
fn sbatch_words(args: &SweepArgs) -> Result<Vec<String>, Failure> {
    let usage = |why: &str, hint: &str| Failure::usage(format!("failed to pass on `--sbatch`: {why}"), hint);
    let Some(text) = &args.sbatch else { return Ok(Vec::new()) };
    if args.launcher != "sbatch" {
        return Err(usage("the launcher is not sbatch", "add `--launcher sbatch`"));
    }
    shlex::split(text).ok_or_else(|| {
        usage("it has an open quote", "write for example `--sbatch \"--partition=x --time=10\"`")
    })
}

fn dry_run(sweeps: &[Sweep], output: &Output) -> Result<i32, Failure> {
    let mut text = String::new();
    for sweep in sweeps {
        for key in sweep.plan().runs() {
            text.push_str(&format!("# {key}\n"));
            for line in sweep.job(key, "RUN_ID").lines() {
                text.push_str(&format!("{line}\n"));
            }
        }
    }
    output.data(&text)?;
    Ok(exit::OK)
}

fn failed(outcomes: &[Outcome], dir: &Path) -> Failure {
    let failed: usize = outcomes.iter().map(|outcome| outcome.failed.len()).sum();
    let all = failed + outcomes.iter().map(|outcome| outcome.completed).sum::<usize>();
    Failure {
        message: format!("failed to complete {failed} of {all} runs; they are left out of the score"),
        hint: Some(format!(
            "see the {OUTPUT_LOG} files under {}; the same command repeats what failed",
            dir.display()
        )),
        code: exit::PROGRAM_FAILED,
    }
}

/// The file of this program, which profiles the runs.
pub fn own_executable() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|e| Failure {
        message: format!("failed to find falloff's own executable: {e}"),
        hint: Some("start it by its full path".into()),
        code: exit::INCOMPLETE,
    })
}

/// Ends as the signal would have ended this process.
fn leave_by(signal: i32) -> ! {
    // If even that fails, the code that a shell gives for the signal says the same.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}
