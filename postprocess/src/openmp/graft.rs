//! Grafting: worker paths go under the calls by which the program forked them.
//!
//! A worker's path begins in the run-time library and says nothing of the region's caller:
//! `start_thread > gomp_thread_start > region > …`. The thread that forked the region calls the same function:
//! `main > solve > GOMP_parallel > region > …`. What the worker did from `region` on is put under `GOMP_parallel` of that
//! path. The library's functions have no names in most installations, so it is known by its file and the region by where
//! its function begins.

use super::paths::{Move, Paths};
use super::role::Role;
use super::share::share;
use super::survey::{Owner, Program, Survey};
use crate::database::Unit;
use crate::load::{Code, Cost, Process};

/// The process with its OpenMP workers' paths under the regions that they worked for. All sums over locations and
/// metrics stay as they are.
///
/// If a region's function is called in several places, every value of the workers is shared among them in the ratio of
/// the time that the calling threads themselves spent in the function there. If the function calls itself through the
/// library, its outermost calls count. Workers of a region inside another one follow once those of the outer one are in
/// place. Where nobody but workers calls a function it stays where it is, and so does what workers do in the library
/// alone, below a node of its own.
pub(crate) fn graft(process: Process, function_start: impl Fn(u32, u64) -> Option<u64>) -> Process {
    let roles: Vec<Role> = process.modules.iter().map(Role::of).collect();
    if !roles.contains(&Role::Runtime) {
        return process;
    }
    let program = Program { roles: &roles, function_start: &function_start };
    let mut paths = Paths::of(&process);
    // Every round puts all workers of at least one function in place, so there are at most as many as functions.
    while put_in_place(&mut paths, &process, &program) {}
    mark_idle(&mut paths, &program);
    paths.finish(process)
}

/// Puts workers in place whose places are known; whether there were any.
fn put_in_place(paths: &mut Paths, process: &Process, program: &Program<'_>) -> bool {
    let survey = Survey::of(paths, program);
    let ready = survey.ready(&weights(paths, process));
    let mut moves = Vec::new();
    for cost in paths.costs() {
        let sites = survey.worker_function(cost.node).and_then(|function| ready.get(&function));
        let (Some(sites), Owner::Worker(root)) = (sites, survey.owner(cost.node)) else {
            moves.push(Move { cost: *cost, to: None });
            continue;
        };
        let top = paths.nodes()[root as usize].parent;
        let weights: Vec<u64> = sites.iter().map(|site| site.weight).collect();
        let parts = sites.iter().zip(share(cost.value, &weights)).filter(|(_, value)| *value > 0);
        moves.extend(
            parts.map(|(site, value)| Move { cost: Cost { value, ..*cost }, to: Some((top, site.caller)) }),
        );
    }
    paths.carry_out(moves);
    !ready.is_empty()
}

/// Inclusive time of every node, or counts if no time was measured.
fn weights(paths: &Paths, process: &Process) -> Vec<u64> {
    let is_time = |cost: &Cost| process.metrics[cost.metric as usize].unit == Unit::Nanoseconds;
    let timed = paths.costs().iter().any(is_time);
    let mut sums = vec![0u64; paths.nodes().len()];
    for cost in paths.costs().iter().filter(|cost| is_time(cost) == timed) {
        let sum = &mut sums[cost.node as usize];
        *sum = sum.saturating_add(cost.value);
    }
    for (at, node) in paths.nodes().iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            let sum = sums[at];
            let above = &mut sums[parent as usize];
            *above = above.saturating_add(sum);
        }
    }
    sums
}

/// Puts what workers do in the run-time library alone under one node.
fn mark_idle(paths: &mut Paths, program: &Program<'_>) {
    let survey = Survey::of(paths, program);
    let idle: Vec<bool> =
        paths.costs().iter().map(|cost| survey.owner(cost.node) == Owner::Runtime).collect();
    if idle.contains(&true) {
        let node = paths.thread_root(Code::OpenMpIdle);
        let moves = paths.costs().iter().zip(idle);
        let moves =
            moves.map(|(cost, idle)| Move { cost: *cost, to: idle.then_some((None, node)) }).collect();
        paths.carry_out(moves);
    }
}
