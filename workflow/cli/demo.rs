//! `falloff demo`: a sweep of the built-in program, and its known losses beside the measured ones.

use std::ffi::OsStr;

use falloff_profiler::event::Measure;
use falloff_profiler::{EventSpec, Request};
use falloff_workflow::demo::planted::STEPS;
use falloff_workflow::demo::verdict::Verdict;
use falloff_workflow::demo::worker::{rank_and_size, work};
use falloff_workflow::plan::Plan;
use falloff_workflow::results::{Choice, Results};
use falloff_workflow::scoring::Scaling;
use falloff_workflow::sweep::Sweep;
use falloff_workflow::{exit, report};

use crate::args::{DebugArgs, DemoArgs, WorkerArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::score::text_options;
use crate::sweep::own_executable;
use crate::sweep_progress::carry_out;
use crate::values::next_free;

/// Process counts of the demonstration.
const SCALES: [u32; 3] = [1, 2, 4];

/// Sweeps, scores and judges.
pub fn demo(args: &DemoArgs, output: &Output) -> Result<i32, Failure> {
    let falloff = own_executable()?;
    let dir = args.output.clone().unwrap_or_else(|| next_free("falloff", OsStr::new("demo")));
    let program = vec![falloff.display().to_string(), "demo-worker".into(), "{run}/shared".into()];
    // The closed forms are about work; how long the processes wait for each other depends on the machine.
    let cpu = EventSpec { measure: Measure::Cpu, sampling: None };
    let request = Request { events: vec![cpu], ..Request::default() };
    let plan = Plan::new(program, "plain".into(), Scaling::Strong, SCALES.to_vec()).measuring(request)?;
    let options = DebugArgs::default().options();
    let sweep = Sweep::new(plan, &dir, &falloff)?.opened_with(options.clone());
    let outcomes = carry_out(&[&sweep], output)?;
    if outcomes.iter().any(|outcome| outcome.interrupted.is_some() || !outcome.failed.is_empty()) {
        return Err(Failure {
            message: "failed to complete all runs of the demonstration".into(),
            hint: Some(format!("see the output.log files under {}", dir.join("runs").display())),
            code: exit::PROGRAM_FAILED,
        });
    }
    let results = Results::open(&dir, &options)?;
    let score = results.score(&Choice::default())?;
    output.data(&report::text(&results.state, &score, &text_options(output)))?;
    let passed = judge(&results, output)?;
    output.data(&format!(
        "\nexplore it: falloff score {0} --view flat; falloff view {0}/runs/n0004-r1\n",
        dir.display()
    ))?;
    Ok(if passed { exit::OK } else { exit::MISSED })
}

/// Prints the verdict at each process count and says whether all passed.
fn judge(results: &Results, output: &Output) -> Result<bool, Failure> {
    let mut passed = true;
    for scale in SCALES {
        let choice = Choice { base: Some(1), at: Some(scale), callers: true, ..Choice::default() };
        let verdict = Verdict::new(&results.score(&choice)?);
        output.data(&report::verdict::verdict(&verdict, output.paint))?;
        passed &= verdict.passes();
    }
    Ok(passed)
}

/// One process of the demonstration.
pub fn worker(args: &WorkerArgs, output: &Output) -> Result<i32, Failure> {
    if args.alone {
        work(&args.shared, 0, 1, 1)?;
        return Ok(exit::OK);
    }
    let (rank, size) = rank_and_size(|name| std::env::var(name).ok())?;
    if let Some(line) = work(&args.shared, rank, size, STEPS)? {
        output.data(&format!("{line}\n"))?;
    }
    Ok(exit::OK)
}
