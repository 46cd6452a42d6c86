//! What must come of programs whose waits are known.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::program::Program;
use super::{Analysis, Clocks, Metric, Options, SamePaths, Waits};
use crate::{Call, Collective, CommId, Completion, Log, MemoryLog, Mode, Op, Operation, Receive, Send, lead};

/// How a program's log is gone through.
#[derive(Clone, Default)]
struct Walk {
    shuffled: Option<u64>,
    options: Options,
    remembers: bool,
}

fn analysed(log: &MemoryLog, walk: &Walk) -> Analysis {
    let mut log = log.clone();
    let mut waits = Waits::new(log.locations(), &log.functions(), SamePaths, walk.options.clone());
    waits.remembers = walk.remembers;
    let options = crate::Options { shuffled: walk.shuffled, ..crate::Options::default() };
    let outcome = lead(&mut log, &mut waits, &options).unwrap();
    assert!(outcome.is_whole());
    waits.finish()
}

fn found(program: &Program) -> Analysis {
    analysed(&program.log, &Walk::default())
}

/// Waits by rank and metric, wrong order as late senders.
fn waits(analysis: &Analysis) -> BTreeMap<(u32, Metric), u64> {
    let mut waits = BTreeMap::new();
    for (location, _, metric, ns) in analysis.times.iter().filter(|(_, _, metric, _)| metric.is_wait()) {
        let metric = if metric.is_within(Metric::LateSender) { Metric::LateSender } else { metric };
        *waits.entry((location, metric)).or_default() += ns;
    }
    waits
}

fn total(analysis: &Analysis, metric: Metric) -> u64 {
    analysis.times.total(metric)
}

#[test]
fn a_barrier_after_10_6_and_4() {
    let mut program = Program::new(3);
    [10, 6, 4].iter().zip(0..).for_each(|(ns, rank)| program.compute(rank, *ns));
    program.collective(Operation::Barrier, &[0, 1, 2]);
    let analysis = found(&program);
    assert_eq!(
        waits(&analysis),
        BTreeMap::from([((1, Metric::BarrierWait), 4), ((2, Metric::BarrierWait), 6)])
    );
    assert_eq!(analysis.times.by_location(Metric::ShortTerm), BTreeMap::from([(0, 10)]));
    assert_eq!(total(&analysis, Metric::DelayCost), 10);
    assert_eq!(analysis.times.by_location(Metric::CriticalComputation), BTreeMap::from([(0, 10)]));
    assert_eq!((total(&analysis, Metric::CriticalPath), analysis.length_ns), (12, 12));
    let efficiencies = analysis.efficiencies().unwrap();
    assert!((efficiencies.load_balance - 20.0 / 30.0).abs() < 1e-12);
    assert!((efficiencies.communication - 10.0 / 12.0).abs() < 1e-12);
}

#[test]
fn a_chain_of_late_messages() {
    let mut program = Program::new(3);
    program.compute(0, 4);
    program.message(0, 1, 0, Mode::Standard);
    program.message(1, 2, 0, Mode::Standard);
    let analysis = found(&program);
    // The second receives at 4, is in the call for 2 more, and sends at 6.
    let late = Metric::LateSender;
    assert_eq!(waits(&analysis), BTreeMap::from([((1, late), 4), ((2, late), 6)]));
    assert_eq!(analysis.times.by_location(Metric::ShortTerm), BTreeMap::from([(0, 4)]));
    assert_eq!(analysis.times.by_location(Metric::LongTerm), BTreeMap::from([(0, 4)]));
    assert_eq!(analysis.times.by_location(Metric::ShortTermCommunication), BTreeMap::from([(1, 2)]));
    assert_eq!(analysis.times.by_location(Metric::PropagatingWait), BTreeMap::from([(1, 4)]));
    assert_eq!(analysis.times.by_location(Metric::TerminalWait), BTreeMap::from([(2, 6)]));
    assert_eq!(analysis.times.by_location(Metric::IndirectWait), BTreeMap::from([(2, 4)]));
}

#[test]
fn a_message_that_was_there_first_is_received_last() {
    for (first, metric) in [(0, Metric::WrongOrderSameSource), (2, Metric::WrongOrderOtherSource)] {
        let mut program = Program::new(3);
        program.early_message(first, 1, 7);
        program.compute(0, 5);
        program.message(0, 1, 8, Mode::Standard);
        program.receive(1);
        let analysis = found(&program);
        assert_eq!(total(&analysis, metric), total(&analysis, Metric::LateSender));
        assert!(total(&analysis, metric) >= 5);
    }
    let mut program = Program::new(2);
    program.compute(0, 5);
    program.message(0, 1, 7, Mode::Standard);
    program.message(0, 1, 8, Mode::Standard);
    let analysis = found(&program);
    assert_eq!(
        total(&analysis, Metric::WrongOrderSameSource) + total(&analysis, Metric::WrongOrderOtherSource),
        0
    );
}

#[test]
fn clocks_that_disagree_are_counted_and_clip_the_wait() {
    let mut program = Program::new(2);
    program.compute(0, 10);
    program.message(0, 1, 0, Mode::Standard);
    let mut walk = Walk::default();
    walk.options.clocks = Clocks { offsets: vec![5, 0] };
    let analysis = analysed(&program.log, &walk);
    assert_eq!((analysis.checks.made, analysis.checks.violated), (1, 1));
    assert_eq!(waits(&analysis), BTreeMap::from([((1, Metric::LateSender), 12)]));
    assert_eq!(total(&analysis, Metric::DelayCost), 12);
}

#[test]
fn after_a_meeting_of_some_what_they_did_before_does_not_count() {
    let mut program = Program::new(4);
    [10, 7, 0].iter().zip(0..).for_each(|(ns, rank)| program.compute(rank, *ns));
    program.collective(Operation::Barrier, &[0, 1, 2]);
    program.compute(1, 5);
    program.collective(Operation::Barrier, &[0, 1, 2]);
    let analysis = found(&program);
    let of_second = |path| -> u64 {
        let here = |(location, at, metric, _): &(u32, u32, Metric, u64)| {
            (*location, *at, *metric) == (1, path, Metric::ShortTerm)
        };
        analysis.times.iter().filter(here).map(|(.., ns)| ns).sum()
    };
    assert_eq!((of_second(2), of_second(3)), (0, 10));
}

/// A log of two ranks, of which the first sends twice and the second completes both receives in one call of this name.
fn two_at_once(name: &'static str) -> MemoryLog {
    let mut log = MemoryLog::new(2);
    let comm = CommId(0);
    let done =
        |post, from| Op::Complete(Completion { post, from, tag: from.map(|_| 0), bytes: 8, void: false });
    let push = |log: &mut MemoryLog, rank, name, enter, leave, ops| {
        let function = log.function(name);
        log.push(rank, Call { function, section: 0, context: 0, enter, leave, ops });
    };
    for (post, enter) in [(0, 5), (1, 7)] {
        let send = Send { post, mode: Mode::Standard, to: 1, tag: 0, comm, bytes: 8 };
        push(&mut log, 0, "MPI_Send", enter, enter + 1, vec![Op::Send(send), done(post, None)]);
        let receive = Receive { post, from: Some(0), tag: Some(0), comm };
        push(&mut log, 1, "MPI_Irecv", post, post + 1, vec![Op::Receive(receive)]);
    }
    push(&mut log, 1, name, 3, 9, vec![done(0, Some(0)), done(1, Some(0))]);
    log
}

#[test]
fn of_several_messages_the_last_counts_and_only_once() {
    let analysis = analysed(&two_at_once("MPI_Waitall"), &Walk::default());
    assert_eq!(waits(&analysis), BTreeMap::from([((1, Metric::LateSender), 4)]));
    assert_eq!(total(&analysis, Metric::Transfer), 1 + 1 + 1 + 1 + 2);
}

#[test]
fn who_tests_does_not_wait() {
    assert_eq!(analysed(&two_at_once("MPI_Testall"), &Walk::default()).waiting_ns(), 0);
}

#[test]
fn who_may_pass_waits_only_if_nobody_passed_before_the_last_came() {
    for (leave, ns) in [([9, 9], 6), ([4, 9], 0)] {
        let mut log = MemoryLog::new(2);
        let function = log.function("MPI_Win_fence");
        for (rank, enter) in [(0, 2), (1, 8)] {
            let operation = Operation::Fence;
            let comm = CommId(0);
            let fence =
                Collective { post: 0, operation, comm, sequence: 0, root: None, sent: 0, received: 0 };
            let done = Completion { post: 0, from: None, tag: None, bytes: 0, void: false };
            let ops = vec![Op::Collective(fence), Op::Complete(done)];
            log.push(rank, Call { function, section: 0, context: 0, enter, leave: leave[rank], ops });
        }
        let analysis = analysed(&log, &Walk::default());
        assert_eq!((total(&analysis, Metric::FenceWait), analysis.checks.violated), (ns, 0));
        assert_eq!(total(&analysis, Metric::OneSided), leave[0] - 2 + 1);
    }
}

#[test]
fn a_lock_that_another_holds() {
    let mut program = Program::new(3);
    program.locked(0, 2, [5, 20]);
    program.locked(1, 2, [30, 10]);
    let analysis = found(&program);
    assert_eq!(waits(&analysis), BTreeMap::from([((1, Metric::LockContention), 25)]));
    assert_eq!(total(&analysis, Metric::OneSided), 35 + 2);
    assert_eq!(total(&analysis, Metric::DelayCost), 0);
}

/// What one step of a random program does.
#[derive(Clone, Debug)]
enum Step {
    Compute(u32, u64),
    Message(u32, u32, bool),
    Exchange(u32, u32, [u64; 2]),
    Collective(Operation, Vec<u32>),
    WithoutBlocking(Vec<u32>, Vec<u64>),
}

const RANKS: u32 = 5;

fn members() -> impl Strategy<Value = Vec<u32>> {
    let all: Vec<u32> = (0..RANKS).collect();
    let some = prop::sample::subsequence(all.clone(), 1..=RANKS as usize).prop_shuffle();
    prop_oneof![Just(all).prop_shuffle(), some]
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop::sample::select(vec![Barrier, Broadcast, Reduce, AllReduce, AllToAll, Scan])
}

fn two() -> impl Strategy<Value = (u32, u32)> {
    (0..RANKS, 1..RANKS).prop_map(|(from, on)| (from, (from + on) % RANKS))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..RANKS, 0u64..50).prop_map(|(rank, ns)| Step::Compute(rank, ns)),
        2 => (two(), any::<bool>()).prop_map(|((from, to), is_synchronous)| Step::Message(from, to, is_synchronous)),
        1 => (two(), [0u64..50, 0u64..50]).prop_map(|((a, b), ns)| Step::Exchange(a, b, ns)),
        2 => (operation(), members()).prop_map(|(operation, members)| Step::Collective(operation, members)),
        1 => (members(), prop::collection::vec(0u64..50, 5)).prop_map(|(members, ns)| Step::WithoutBlocking(members, ns)),
    ]
}

fn program() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..40)
}

fn run(steps: &[Step]) -> Program {
    run_with_clocks(steps, vec![0; RANKS as usize])
}

fn run_with_clocks(steps: &[Step], clocks: Vec<u64>) -> Program {
    let mut program = Program::with_clocks(clocks);
    for step in steps {
        match step {
            Step::Compute(rank, ns) => program.compute(*rank, *ns),
            Step::Message(from, to, is_synchronous) => {
                let mode = if *is_synchronous { Mode::Synchronous } else { Mode::Standard };
                program.message(*from, *to, 0, mode);
            }
            Step::Exchange(a, b, ns) => program.exchange([*a, *b], *ns),
            Step::Collective(operation, members) => program.collective(*operation, members),
            Step::WithoutBlocking(members, ns) => program.without_blocking(members, ns),
        }
    }
    program
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_wait_is_found_and_nothing_else(steps in program()) {
        let program = run(&steps);
        let analysis = found(&program);
        prop_assert_eq!(waits(&analysis), program.truth);
        prop_assert_eq!(analysis.checks.violated, 0);
    }

    #[test]
    fn each_nanosecond_stands_once(steps in program()) {
        let program = run(&steps);
        let analysis = found(&program);
        let times = analysis.times.by_location(Metric::Time);
        for rank in 0..RANKS {
            let end = program.log.calls(rank as usize).last().map_or(0, |call| call.leave);
            prop_assert_eq!(times.get(&rank).copied().unwrap_or(0), end);
        }
        for rank in 0..RANKS as usize {
            for call in program.log.calls(rank) {
                let of_call = |wanted: fn(Metric) -> bool| -> u64 {
                    let here = |(location, path, metric, _): &(u32, u32, Metric, u64)| {
                        (*location as usize, *path) == (rank, call.context) && wanted(*metric)
                    };
                    analysis.times.iter().filter(here).map(|(.., ns)| ns).sum()
                };
                prop_assert_eq!(of_call(|metric| metric.is_within(Metric::Mpi)), call.leave - call.enter);
                prop_assert!(of_call(Metric::is_wait) <= call.leave - call.enter);
            }
        }
    }

    #[test]
    fn all_waiting_has_a_cause_an_origin_and_an_effect(steps in program()) {
        let analysis = found(&run(&steps));
        let waiting = analysis.waiting_ns();
        for tree in [Metric::DelayCost, Metric::Origin, Metric::Effect] {
            prop_assert_eq!(total(&analysis, tree), waiting);
        }
        prop_assert_eq!(analysis.blames.iter().map(|(_, ns)| ns).sum::<u64>(), waiting);
        let indirect = total(&analysis, Metric::LongTerm) + total(&analysis, Metric::LongTermCommunication);
        prop_assert_eq!(indirect, total(&analysis, Metric::IndirectWait));
        let by_path = analysis.waiting_by_path();
        prop_assert_eq!(by_path.values().flat_map(|metrics| metrics.values()).sum::<u64>(), waiting);
    }

    #[test]
    fn the_critical_path_is_as_long_as_the_run(steps in program()) {
        let analysis = found(&run(&steps));
        prop_assert_eq!(total(&analysis, Metric::CriticalPath), analysis.length_ns);
        let imbalance: u64 = analysis.critical_imbalance().values().sum();
        prop_assert!(imbalance <= total(&analysis, Metric::CriticalComputation));
    }

    #[test]
    fn the_order_of_the_walk_and_what_is_forgotten_change_nothing(steps in program(), seed: u64) {
        let program = run(&steps);
        let all = found(&program);
        let shuffled = Walk { shuffled: Some(seed), ..Walk::default() };
        prop_assert_eq!(&analysed(&program.log, &shuffled), &all);
        let remembering = Walk { remembers: true, ..Walk::default() };
        prop_assert_eq!(&analysed(&program.log, &remembering), &all);
    }

    #[test]
    fn clocks_may_begin_anywhere(steps in program(), shift in 0i64..1000, clocks in prop::collection::vec(0u64..1000, 5)) {
        let program = run(&steps);
        let all = found(&program);
        let mut walk = Walk::default();
        walk.options.clocks = Clocks { offsets: vec![shift; RANKS as usize] };
        prop_assert_eq!(&analysed(&program.log, &walk), &all);
        walk.options.clocks = Clocks { offsets: clocks.iter().map(|clock| 1000 - *clock as i64).collect() };
        let apart = run_with_clocks(&steps, clocks).log;
        prop_assert_eq!(&analysed(&apart, &walk), &all);
    }

    #[test]
    fn who_are_balanced_do_not_wait(rounds in prop::collection::vec((0u64..50, operation()), 0..20)) {
        let mut program = Program::new(RANKS);
        for (ns, operation) in rounds {
            (0..RANKS).for_each(|rank| program.compute(rank, ns));
            program.collective(operation, &[0, 1, 2, 3, 4]);
        }
        let analysis = found(&program);
        prop_assert_eq!(analysis.waiting_ns(), 0);
        prop_assert_eq!(total(&analysis, Metric::DelayCost), 0);
        prop_assert!(analysis.critical_imbalance().is_empty());
    }

    /// What can be said from sums alone: in an operation in which each needs all, all wait at least for what each is longer in it
    /// than the one that is in it for the shortest time.
    #[test]
    fn sums_give_a_lower_bound(computes in prop::collection::vec(prop::collection::vec(0u64..50, 5), 1..20), persistent: bool) {
        let mut program = Program::new(RANKS);
        for computes in &computes {
            let late = if persistent { 100 } else { 0 };
            program.compute(0, late);
            computes.iter().zip(0..).for_each(|(ns, rank)| program.compute(rank, *ns));
            program.collective(Operation::Barrier, &[0, 1, 2, 3, 4]);
        }
        let analysis = found(&program);
        let within: Vec<u64> = analysis.times.by_location(Metric::Collective).into_values().collect();
        let bound: u64 = within.iter().map(|ns| ns - within.iter().min().unwrap()).sum();
        prop_assert!(bound <= analysis.waiting_ns());
        if persistent {
            prop_assert_eq!(bound, analysis.waiting_ns());
        }
    }
}
