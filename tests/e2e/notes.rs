//! What the notes of a case demand beyond shares, as far as a machine can check it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::cases::Evidence;
use crate::support::folded::Sample;
use crate::support::source::Source;
use crate::support::{bash, falloff, outcome, total};

/// Checks the notes of one case; most cases have none to check here.
pub fn check(id: &str, evidence: &Evidence) -> Result<(), String> {
    match id {
        "01-fork-no-exec" => child_counts_nothing_twice(evidence),
        "04-exec-same-pid" => both_images_weigh_the_same(evidence),
        "05-exit-in-thread" => takes_no_longer_than(evidence, 1.5),
        "13-closes-fds" => data_files_hold_only_their_own(evidence),
        "14-zero-samples" => report_without_samples(evidence),
        "30-deep-recursion" => {
            profile_stays_small(evidence)?;
            takes_little_more(evidence, 1.5)
        }
        "34-swapcontext-fibers" => few_unknown_frames(evidence),
        "36-no-cfi-asm" => no_wrong_caller(evidence),
        "39-vdso-plt" => nearly_all_reach_main(evidence),
        "77-many-ranks-one-dir" => all_ranks_once(evidence, 300),
        "81-rank0-slow" => all_ranks_once(evidence, 4),
        "86-mpi-abort" => both_ranks_worked(evidence),
        _ => crate::symbol_notes::check(id, evidence),
    }
}

pub fn demand(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

pub fn has(sample: &Sample, function: &str) -> bool {
    sample.passes(&[function.to_owned()])
}

fn child_counts_nothing_twice(evidence: &Evidence) -> Result<(), String> {
    let of = |process: &str, function: &str| {
        evidence.folded.program().any(|sample| sample.process == process && has(sample, function))
    };
    let mixed = evidence.folded.processes().into_iter().find(|p| of(p, "child_work") && of(p, "before_fork"));
    demand(mixed.is_none(), || format!("{mixed:?} holds samples from before the fork"))
}

fn both_images_weigh_the_same(evidence: &Evidence) -> Result<(), String> {
    let first = total(evidence.folded.program().filter(|sample| has(sample, "first_image")));
    let share = first as f64 / total(evidence.folded.program()).max(1) as f64;
    demand((share - 0.5).abs() < 0.05, || format!("the first image has {:.1} % of all", share * 100.0))
}

fn data_files_hold_only_their_own(evidence: &Evidence) -> Result<(), String> {
    for i in 0..8 {
        let name = format!("data{i}.out");
        let bytes = fs::read(evidence.shop.path(&name)).map_err(|e| format!("{name}: {e}"))?;
        demand(bytes == b"mine\n", || format!("{name} holds {bytes:?}"))?;
    }
    Ok(())
}

fn report_without_samples(evidence: &Evidence) -> Result<(), String> {
    let view = outcome(&mut falloff(["view".as_ref(), evidence.run_dir.as_os_str()]));
    demand(view.code() == 0, || format!("no view\n{view}"))?;
    // Moments of waiting, for what it reads or for a processor, may have been seen.
    let words = ["no samples", " 1 thread, 0 samples, "];
    demand(words.iter().any(|w| view.stdout.contains(w)), || {
        format!("the view must say `no samples`\n{view}")
    })?;
    demand(!view.stdout.contains("NaN"), || format!("not a number\n{view}"))
}

/// CPU time of the program with and without falloff, here and now, whatever else the machine does; a fifth of a second for
/// starting is free.
fn takes_little_more(evidence: &Evidence, times: f64) -> Result<(), String> {
    let source = Source::chosen();
    let cpu = |command: &str| -> f64 {
        let text = format!("TIMEFORMAT='%U %S'; ulimit -s unlimited; time {command}");
        let end = outcome(&mut bash(evidence.shop.dir(), &text)).expect_code(0);
        let line = end.stderr.lines().last().unwrap_or_default();
        line.split(' ').map(|seconds| seconds.parse::<f64>().expect("bash tells seconds")).sum()
    };
    let plain = cpu("./prog");
    let measured = cpu(&format!("\"$FALLOFF\" run {} -o again -- ./prog", source.options(source.rate())));
    demand(measured < plain * times + 0.2, || {
        format!("{measured:.2} s of CPU time, and {plain:.2} s without falloff")
    })
}

/// Wall time against that of the program alone, measured here and now; half a second for starting is free.
fn takes_no_longer_than(evidence: &Evidence, times: f64) -> Result<(), String> {
    let plain = outcome(&mut bash(evidence.shop.dir(), "ulimit -s unlimited; exec ./prog")).seconds;
    let measured = evidence.outcome.seconds;
    demand(measured < plain * times + 0.5, || format!("{measured:.2} s, and {plain:.2} s without falloff"))
}

fn profile_stays_small(evidence: &Evidence) -> Result<(), String> {
    let entries = fs::read_dir(&evidence.run_dir).map_err(|e| e.to_string())?;
    let blocks: u64 = entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|m| m.blocks()).sum();
    demand(blocks * 512 < 10_000_000, || format!("the profile takes {} bytes", blocks * 512))
}

fn few_unknown_frames(evidence: &Evidence) -> Result<(), String> {
    // The C library's own frames have no names where it is stripped; those of the program have.
    let unknown = |frame: &String| {
        frame.contains("+0x") && !frame.starts_with("libc.so.6+") || frame == "[anon]" || frame == "[unknown]"
    };
    let all = total(evidence.folded.program());
    let bad = total(evidence.folded.program().filter(|sample| sample.frames.iter().any(unknown)));
    demand(bad * 200 < all, || format!("{bad} of {all} us have unknown frames"))
}

fn no_wrong_caller(evidence: &Evidence) -> Result<(), String> {
    let right = ["raw_caller", "caller_user", "main", "[partial]"];
    let wrong = evidence.folded.program().find(|sample| {
        let at = sample.frames.iter().position(|frame| frame == "hot_below");
        at.is_some_and(|at| at > 0 && !right.contains(&sample.frames[at - 1].as_str()))
    });
    demand(wrong.is_none(), || format!("a wrong caller: {wrong:?}"))
}

fn nearly_all_reach_main(evidence: &Evidence) -> Result<(), String> {
    let all = total(evidence.folded.program()) as f64;
    let whole = evidence.folded.program().filter(|s| has(s, "main") && !has(s, "[partial]"));
    let loops = whole.clone().filter(|s| has(s, "clock_loop") || has(s, "plt_loop"));
    let (whole, loops) = (total(whole) as f64 / all, total(loops) as f64 / all);
    demand(whole > 0.99 && loops >= 0.99, || format!("{whole:.4} reach main, {loops:.4} through the loops"))
}

fn all_ranks_once(evidence: &Evidence, ranks: usize) -> Result<(), String> {
    let health = crate::support::health(&evidence.run_dir);
    demand(health.ranks_present == ranks as u64, || format!("{} of {ranks} ranks", health.ranks_present))
}

fn both_ranks_worked(evidence: &Evidence) -> Result<(), String> {
    let worked = evidence.folded.processes().into_iter().filter(|process| {
        let mut own = evidence.folded.program().filter(|sample| sample.process == *process);
        own.any(|sample| has(sample, "before_abort"))
    });
    let worked = worked.count();
    demand(worked == 2, || format!("{worked} of 2 ranks hold samples from before the abort"))
}
