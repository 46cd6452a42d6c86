//! The program's own work: done again, grown, or slower.

use falloff_postprocess::ScopeKind;

use super::super::amounts::Amounts;
use super::super::cause::Cause;
use super::super::diagnosis::{Evidence, Ground, Rule};
use super::super::replicated::is_even;
use super::case::Case;
use super::drafts::{Draft, Drafts};

/// Growth of instructions, or fall of instructions per cycle, that counts, as a fraction.
const CHANGE: f64 = 0.05;
/// Share of the program's own work, as a fraction, that must grow along for the machine to be suspected.
const MOST: f64 = 0.8;
/// Part of one task's growth, as a fraction, from which another is said to grow along.
const ALONG: f64 = 0.5;

/// Looks at every task.
pub(super) fn look(case: &Case, drafts: &mut Drafts) {
    for (task, cell) in case.losses(Cause::Replicated) {
        let evidence = Evidence { work_ratio: ratio(case, task), ..Evidence::default() };
        drafts.add(Rule::ReplicatedWork, task, Draft { evidence, ..Draft::measured(cell) });
    }
    let is_code = |task: u32| case.accounts.tree.kind(task) != ScopeKind::Pseudo;
    for (task, cell) in case.losses(Cause::ComputeGrowth).filter(|(task, _)| is_code(*task)) {
        let (rule, draft) = grown(case, task, cell);
        drafts.add(rule, task, draft);
    }
}

fn grown(case: &Case, task: u32, cell: &Amounts) -> (Rule, Draft) {
    let counted = counted(case, task);
    let evidence = Evidence {
        work_ratio: ratio(case, task),
        instructions: counted.map(|(instructions, _)| instructions),
        per_cycle: counted.map(|(_, per_cycle)| per_cycle),
        ..Evidence::default()
    };
    let draft = Draft { evidence, ..Draft::measured(cell) };
    match counted {
        Some((instructions, per_cycle)) if instructions <= 1.0 + CHANGE && per_cycle < 1.0 - CHANGE => {
            (Rule::MemoryBandwidth, Draft { ground: Ground::Inferred, ..draft })
        }
        None if is_evenly_slower(case, task) => {
            (Rule::MemoryBandwidth, Draft { ground: Ground::Guessed, ..draft })
        }
        _ => (Rule::WorkGrowth, draft),
    }
}

fn total(spread: &super::super::spread::Spread, task: u32) -> f64 {
    spread.at(task).iter().sum()
}

/// Work at the compared scale over that at the base.
fn ratio(case: &Case, task: u32) -> Option<f64> {
    let base = total(&case.base.work, task);
    (base > 0.0).then(|| total(&case.at.work, task) / base)
}

fn rho(case: &Case) -> f64 {
    case.comparison.scaling.rho(case.comparison.base.scale, case.comparison.at.scale)
}

/// Instructions over those that were expected, and how their number per cycle changed.
fn counted(case: &Case, task: u32) -> Option<(f64, f64)> {
    let of = |counters: &Option<[super::super::spread::Spread; 2]>| {
        let [instructions, cycles] = counters.as_ref()?;
        let (instructions, cycles) = (total(instructions, task), total(cycles, task));
        (instructions > 0.0 && cycles > 0.0).then_some((instructions, instructions / cycles))
    };
    let (base, at) = (of(&case.base.counters)?, of(&case.at.counters)?);
    Some((at.0 / (rho(case) * base.0), at.1 / base.1))
}

/// Whether a task takes longer on all participants of one host, and most of the program's work grows along, though less than
/// work that is done again would: it is the machine that is slower rather than the task that is larger.
fn is_evenly_slower(case: &Case, task: u32) -> bool {
    let grows = |task: u32| ratio(case, task).map(|ratio| ratio / rho(case));
    let Some(own) = grows(task) else { return false };
    let growth = f64::from(case.comparison.at.scale) / f64::from(case.comparison.base.scale);
    let one_host = case.participants.windows(2).all(|pair| pair[0].host == pair[1].host);
    if !(one_host && own > 1.0 + CHANGE && own < growth && is_even(&case.at.work.at(task))) {
        return false;
    }
    let along = |task: &u32| grows(*task).is_some_and(|other| other - 1.0 >= ALONG * (own - 1.0));
    let all: f64 = case.at.work.places().map(|task| total(&case.at.work, task)).sum();
    let growing: f64 = case.at.work.places().filter(along).map(|task| total(&case.at.work, task)).sum();
    growing >= MOST * all
}
