//! Runs whose ends are known.

use super::*;
use crate::waits::Efficiencies;
use crate::{
    CommId, Distribution, MemoryLog, Operation, Options, Profile,
    script::{Script, came, done},
};
use proptest::prelude::*;
use std::sync::Arc;

/// Overhead 1 and latency 5, and everything is sent at once.
const PLAIN: Network = Network { overhead: 1, latency: 5, gap: 0, byte_ps: 0, eager: u64::MAX };

fn runs(script: &Script, scenarios: &[Scenario]) -> Vec<Run> {
    let replayed = replay(|| Ok(script.log.clone()), scenarios, &Options::default()).unwrap();
    assert!(replayed.outcome.is_whole(), "{}", replayed.outcome);
    for seed in 0..3 {
        let options = Options { shuffled: Some(seed), ..Options::default() };
        assert_eq!(replay(|| Ok(script.log.clone()), scenarios, &options).unwrap().runs, replayed.runs);
    }
    replayed.runs
}

fn noise(length: Distribution, strikes: Selection) -> Perturbation {
    Perturbation { local: Noise::PerBurst { length, shortest: 0 }, strikes, ..Perturbation::none() }
}

fn constant(length: u64) -> Perturbation {
    noise(Distribution::Constant(length as f64), Selection::All)
}

/// The effect on each rank of the full simulation, and of delays alone.
fn effects(script: &Script, network: Network, perturbation: Perturbation) -> (Vec<i64>, Vec<u64>) {
    let base = Scenario::new(network);
    let changed = base.disturbed(perturbation);
    let bound = changed.delays_only();
    let runs = runs(script, &[base, changed, bound]);
    (Effect::of(&runs[0], &runs[1]).ranks, runs[2].finish.clone())
}

/// Everyone gives to the next, in `rounds` rounds.
fn ring(ranks: u32, rounds: usize) -> Script {
    let mut s = Script::new(ranks);
    (0..ranks as usize).for_each(|rank| s.barrier(rank));
    for _ in 0..rounds {
        for rank in 0..ranks {
            s.compute(rank as usize, 50);
            s.sendrecv(rank as usize, (rank + 1) % ranks, (rank + ranks - 1) % ranks, 0, 8);
        }
    }
    s
}

#[test]
fn ping_pong_ends_after_twice_overhead_latency_overhead() {
    let mut s = Script::new(2);
    s.call(0, "MPI_Comm_rank", vec![]);
    s.send(0, 1, 0, 1);
    s.recv(1, 0, 0);
    s.send(1, 0, 0, 1);
    s.recv(0, 1, 0);
    let base = Scenario::new(PLAIN);
    let sender = base.disturbed(Perturbation {
        local: Noise::PerBurst { length: Distribution::Constant(10.0), shortest: 0 },
        strikes: Selection::paths([(0, 1)]),
        ..Perturbation::none()
    });
    let runs = runs(&s, &[base, sender]);
    assert_eq!(runs[0].finish, [14, 8]);
    assert_eq!(runs[1].finish, [24, 18]);
}

#[test]
fn a_busy_receiver_absorbs_what_a_late_sender_costs() {
    let mut s = Script::new(2);
    for rank in 0..2 {
        s.call(rank, "MPI_Comm_rank", vec![]);
    }
    s.send(0, 1, 0, 1);
    s.compute(1, 100);
    s.recv(1, 0, 0);
    let late = |length: f64| noise(Distribution::Constant(length), Selection::ranks([0]));
    let (effect, bound) = effects(&s, PLAIN, late(30.0));
    assert_eq!((effect[1], bound[1]), (0, 30));
    let (effect, bound) = effects(&s, PLAIN, late(130.0));
    assert_eq!((effect[1], bound[1]), (36, 130));
}

#[test]
fn a_ring_of_128_traversed_ten_times_loses_128_000_to_noise_of_100() {
    let s = ring(128, 1280);
    let scenarios: Vec<Scenario> =
        (0..8).map(|n| Scenario::new(PLAIN).disturbed(constant(100 * n))).collect();
    let replayed = replay(|| Ok(s.log.clone()), &scenarios, &Options::default()).unwrap();
    for (n, run) in replayed.runs.iter().enumerate() {
        let effect = Effect::of(&replayed.runs[0], run);
        assert_eq!(effect.ranks, vec![n as i64 * 128_000; 128]);
        assert_eq!(effect.amplification(), (n > 0).then_some(1.0));
    }
    let bounds: Vec<Scenario> = scenarios.iter().map(Scenario::delays_only).collect();
    let replayed = replay(|| Ok(s.log.clone()), &bounds, &Options::default()).unwrap();
    for (n, run) in replayed.runs.iter().enumerate() {
        assert_eq!(run.finish, vec![n as u64 * 128_000; 128]);
    }
}

#[test]
fn a_token_on_a_ring_of_128_is_delayed_by_every_rank() {
    let mut s = Script::new(128);
    for _ in 0..10 {
        for rank in 0..128_u32 {
            let from = (rank + 127) % 128;
            if rank == 0 {
                s.call(0, "MPI_Comm_rank", vec![]);
                s.send(0, 1, 0, 8);
            } else {
                s.recv(rank as usize, from, 0);
                s.compute(rank as usize, 50);
                s.send(rank as usize, (rank + 1) % 128, 0, 8);
            }
        }
        s.recv(0, 127, 0);
        s.compute(0, 50);
    }
    let base = Scenario::new(PLAIN);
    let mut local = constant(100);
    local.local = Noise::PerBurst { length: Distribution::Constant(100.0), shortest: 50 };
    let runs = runs(&s, &[base.clone(), base.disturbed(local)]);
    // Rank 0 computes before each round but the first.
    assert_eq!(Effect::of(&runs[0], &runs[1]).ranks[0], 100 * (127 * 10 + 9));
}

#[test]
fn random_noise_is_amplified_where_all_wait_for_the_slowest() {
    let exponential = noise(Distribution::Exponential(100_000.0), Selection::All);
    let amplified = |s: &Script| {
        let base = Scenario::new(Network { eager: u64::MAX, ..Network::IDEAL });
        let replayed = replay(
            || Ok(s.log.clone()),
            &[base.clone(), base.disturbed(exponential.clone())],
            &Options::default(),
        );
        let runs = replayed.unwrap().runs;
        let steps = s.log.calls(0).len() as f64 - 1.0;
        Effect::of(&runs[0], &runs[1]).whole as f64 / (100_000.0 * steps)
    };
    let mut s = Script::new(128);
    for _ in 0..400 {
        (0..128).for_each(|rank| s.allreduce(rank, 8));
    }
    // The greatest of 128 exponential draws is 1 + 1/2 + … + 1/128 = 5.43 means.
    assert!((amplified(&s) - 5.43).abs() < 0.15, "{}", amplified(&s));
    let ring = amplified(&ring(128, 400));
    assert!((1.8..2.2).contains(&ring), "{ring}");
}

#[test]
fn messages_beyond_the_eager_limit_wait_for_their_receive() {
    let mut s = Script::new(2);
    s.call(1, "MPI_Comm_rank", vec![]);
    s.send(0, 1, 0, 1001);
    s.compute(1, 100);
    s.recv(1, 0, 0);
    let network = Network { byte_ps: 10, eager: 1000, ..PLAIN };
    let runs = runs(&s, &[Scenario::new(network), Scenario::new(Network { eager: 1001, ..network })]);
    // The sender hears at 105 of the receive posted at 100; the bytes take 10 and are there at 120.
    assert_eq!(runs[0].finish, [115, 121]);
    assert_eq!(runs[1].finish, [1, 101]);
}

#[test]
fn messages_follow_one_another_by_gap_and_bytes() {
    let mut s = Script::new(2);
    for _ in 0..3 {
        s.send(0, 1, 0, 101);
    }
    for _ in 0..3 {
        s.recv(1, 0, 0);
    }
    let network = Network { gap: 20, byte_ps: 100, ..PLAIN };
    // They set out at 1, 31 and 61, and are there 15 later.
    assert_eq!(runs(&s, &[Scenario::new(network)])[0].finish, [3, 77]);
}

#[test]
fn latencies_and_times_a_byte_delay_messages() {
    let s = ring(4, 10);
    let latency = Perturbation { latency: Distribution::Constant(7.0), ..Perturbation::none() };
    let byte = Perturbation { byte: Distribution::Constant(0.5), ..Perturbation::none() };
    // The barrier has two rounds before.
    assert_eq!(effects(&s, PLAIN, latency), (vec![84; 4], vec![84; 4]));
    assert_eq!(effects(&s, PLAIN, byte), (vec![40; 4], vec![40; 4]));
}

#[test]
fn detours_lengthen_bursts_by_their_share() {
    let mut s = Script::new(2);
    for rank in 0..2 {
        s.barrier(rank);
        s.compute(rank, 980_000_000);
        s.barrier(rank);
    }
    let detours = Arc::new(vec![Detours::new(1_000_000, &[(400_000, 20_000)]).unwrap()]);
    let overlay = |is_co_scheduled| Perturbation {
        local: Noise::Overlay { detours: detours.clone(), is_co_scheduled },
        ..Perturbation::none()
    };
    let base = Scenario::new(Network::IDEAL);
    let runs = runs(&s, &[base.clone(), base.disturbed(overlay(true)), base.disturbed(overlay(false))]);
    assert_eq!(runs[1].finish, [1_000_000_000; 2]);
    assert_eq!(runs[1].noise, [20_000_000; 2]);
    assert!(runs[2].finish[0].abs_diff(1_000_000_000) <= 20_000);
}

#[test]
fn a_faster_path_a_balanced_section_and_an_ideal_network() {
    let mut s = Script::new(2);
    for rank in 0..2 {
        s.barrier(rank);
        for _ in 0..10 {
            s.compute(rank, 100 + 100 * rank as u64);
            s.allreduce(rank, 8);
        }
    }
    let profile = Arc::new(Profile::of(&mut s.log.clone()).unwrap());
    assert_eq!(profile.measured, [1000, 2000]);
    assert_eq!(profile.paths[&(1, 0)], 2000);
    let base = Scenario::new(PLAIN);
    let shares = Arc::new([((1, 0), 0.5)].into_iter().collect());
    let faster = Scenario {
        changes: Changes { faster: vec![Faster { factor: 2.0, shares }], ..Changes::default() },
        ..base.clone()
    };
    let factors = Arc::new(profile.balance(0).unwrap());
    let balanced = Scenario {
        changes: Changes { balanced: vec![Balanced { section: 0, factors }], ..Changes::default() },
        ..base.clone()
    };
    let runs = runs(&s, &[base, faster, balanced, Scenario::new(Network::IDEAL)]);
    // The barrier takes 7. Rank 1, which is late, needs 2 for each allreduce, and rank 0 hears of the last 5 later; where both come
    // together each takes 7.
    assert_eq!(runs.iter().map(Run::end).collect::<Vec<_>>(), [2032, 1532, 1577, 2000]);
    assert_eq!(runs[2].computed, [1500, 1500]);
    let ideal = Some(runs[3].end());
    let efficiencies = Efficiencies::new(&runs[3].computed, runs[0].end(), ideal).unwrap();
    assert_eq!((efficiencies.serialisation, efficiencies.transfer), (Some(1.0), Some(2000.0 / 2032.0)));
}

#[test]
fn less_noise_brings_bursts_to_the_floor_of_their_kind() {
    let mut s = Script::new(1);
    s.barrier(0);
    for n in 0..100 {
        s.compute(0, if n % 10 == 9 { 1900 } else { 1024 });
        s.barrier(0);
    }
    for eta in [0.0, 0.25, 1.0] {
        let profile = Arc::new(Profile::of(&mut s.log.clone()).unwrap());
        let less = Scenario {
            changes: Changes { less_noise: Some(LessNoise { eta, profile }), ..Changes::default() },
            ..Scenario::new(Network::IDEAL)
        };
        let wanted = [(0.0, 90 * 1024 + 10 * 1900), (0.25, 90 * 1024 + 10 * 1425), (1.0, 100 * 1024)];
        let (_, wanted) = wanted.into_iter().find(|&(of, _)| of == eta).unwrap();
        assert_eq!(runs(&s, &[less])[0].finish, [wanted]);
    }
}

#[test]
fn between_two_groups_only_the_other_group_holds_the_root() {
    let mut s = Script::new(4);
    let between = s.between(&[0, 1], &[2, 3]);
    for (rank, time) in [90, 10, 20, 30].into_iter().enumerate() {
        s.barrier(rank);
        s.compute(rank, time);
    }
    for (rank, root) in [(0, None), (1, Some(1)), (2, Some(1)), (3, Some(1))] {
        s.collective(rank, Operation::Reduce, between, root, 8);
    }
    let run = &runs(&s, &[Scenario::new(Network::IDEAL)])[0];
    assert_eq!(run.finish, [90, 30, 20, 30]);
}

#[test]
fn threads_of_a_rank_have_a_clock_each() {
    let mut s = Script::new(2);
    let second = s.thread();
    s.barrier(0);
    s.barrier(1);
    s.compute(second, 40);
    s.call(second, "MPI_Comm_rank", vec![]);
    s.compute(second, 60);
    s.send(second, 0, 0, 8);
    s.compute(1, 10);
    s.call(1, "MPI_Comm_rank", vec![]);
    s.recv(0, 1, 0);
    let run = &runs(&s, &[Scenario::new(PLAIN)])[0];
    assert_eq!(run.finish, [107, 101]);
    assert_eq!(run.computed, [0, 70]);
}

#[test]
fn measured_times_are_told_beside() {
    let mut log = MemoryLog::new(1);
    let function = log.function("MPI_Barrier");
    for (enter, leave) in [(1000, 1010), (1050, 1080)] {
        log.push(0, crate::Call { function, enter, leave, ..crate::Call::default() });
    }
    let replayed = replay(|| Ok(log.clone()), &[Scenario::new(PLAIN)], &Options::default()).unwrap();
    assert_eq!(replayed.residuals(&replayed.runs[0]), [-40]);
    assert_eq!((replayed.measured, replayed.runs[0].finish.clone()), (vec![80], vec![40]));
}

#[test]
fn any_number_of_scenarios_gives_what_each_gives_alone() {
    let s = ring(4, 20);
    let scenarios: Vec<Scenario> = (0..20)
        .map(|n| Scenario::new(Network { eager: 7 * (n % 3), ..PLAIN }).disturbed(constant(10 * n)))
        .collect();
    let all = replay(|| Ok(s.log.clone()), &scenarios, &Options::default()).unwrap();
    assert_eq!(all.runs.len(), 20);
    for (scenario, run) in scenarios.iter().zip(&all.runs) {
        let alone =
            replay(|| Ok(s.log.clone()), std::slice::from_ref(scenario), &Options::default()).unwrap();
        assert_eq!(&alone.runs[0], run);
        assert_eq!(alone.outcome.messages, all.outcome.messages);
    }
    assert!(replay(|| Ok(s.log.clone()), &[], &Options::default()).unwrap().runs.is_empty());
}

#[test]
fn noise_on_a_path_with_slack_is_absorbed() {
    let mut s = Script::new(2);
    for rank in 0..2 {
        s.barrier(rank);
        for _ in 0..10 {
            s.compute(rank, if rank == 0 { 100 } else { 900 });
            s.call(rank, if rank == 0 { "MPI_Comm_rank" } else { "MPI_Comm_size" }, vec![]);
            s.barrier(rank);
        }
    }
    let context = |name| u32::from(s.log.clone().function(name));
    let paths =
        [(0, context("MPI_Comm_rank")), (1, context("MPI_Comm_size"))].map(|path| Selection::paths([path]));
    let base = Scenario::new(PLAIN);
    let open = || Ok(s.log.clone());
    let effects = effects_by_path(open, &base, &constant(50), &paths, &Options::default()).unwrap();
    assert_eq!(effects.iter().map(|effect| effect.noise).collect::<Vec<_>>(), [500, 500]);
    assert_eq!(effects.iter().map(Effect::absorbed).collect::<Vec<_>>(), [Some(1.0), Some(0.0)]);
}

/// A step of a program that some order of steps runs through: both sides of a message, or a collective operation of all.
#[derive(Clone, Debug)]
enum Step {
    Compute(usize, u64),
    Message { from: usize, to: usize, tag: i32, bytes: u64, how: u8 },
    Collective(Operation, u32, u64),
    Wait(usize),
}

fn any_step(ranks: usize) -> impl Strategy<Value = Step> {
    let operation = (0..16_usize).prop_map(|n| OPERATIONS[n]);
    prop_oneof![
        3 => (0..ranks, 0..2000_u64).prop_map(|(rank, time)| Step::Compute(rank, time)),
        4 => (0..ranks, 0..ranks, 0..2, 0..3000_u64, any::<u8>())
            .prop_map(|(from, to, tag, bytes, how)| Step::Message { from, to, tag, bytes, how }),
        1 => (operation, 0..ranks as u32, 0..3000_u64).prop_map(|(o, root, bytes)| Step::Collective(o, root, bytes)),
        1 => (0..ranks).prop_map(Step::Wait),
    ]
}

const OPERATIONS: [Operation; 16] = [
    Operation::Barrier,
    Operation::Broadcast,
    Operation::Scatter,
    Operation::Reduce,
    Operation::Gather,
    Operation::AllReduce,
    Operation::AllGather,
    Operation::AllToAll,
    Operation::ReduceScatter,
    Operation::Scan,
    Operation::ExclusiveScan,
    Operation::Neighbours,
    Operation::Make,
    Operation::Fence,
    Operation::Initialise,
    Operation::Finalise,
];

fn program(ranks: usize, steps: Vec<Step>) -> Script {
    let mut s = Script::new(ranks as u32);
    s.length = 3;
    let mut open = vec![Vec::new(); ranks];
    for step in steps {
        match step {
            Step::Compute(rank, time) => s.compute(rank, time),
            Step::Message { from, to, tag, bytes, how } => {
                if how & 1 == 0 || from == to {
                    let post = s.isend(from, to as u32, tag, bytes);
                    open[from].push(done(post));
                } else if how & 2 == 0 {
                    s.send(from, to as u32, tag, bytes);
                } else {
                    s.ssend(from, to as u32, tag, bytes);
                }
                if how & 4 == 0 {
                    let source = (how & 8 == 0).then_some(from as u32);
                    let post = s.irecv(to, source, tag);
                    open[to].push(came(post, from as u32, tag));
                } else {
                    s.recv(to, from as u32, tag);
                }
            }
            Step::Collective(operation, root, bytes) => {
                let is_rooted = matches!(
                    operation,
                    Operation::Broadcast | Operation::Scatter | Operation::Reduce | Operation::Gather
                );
                for rank in 0..ranks {
                    s.collective(rank, operation, CommId(0), is_rooted.then_some(root), bytes);
                }
            }
            Step::Wait(rank) => {
                let completions = std::mem::take(&mut open[rank]);
                s.wait(rank, &completions);
            }
        }
    }
    for (rank, open) in open.iter().enumerate() {
        s.wait(rank, open);
    }
    s
}

fn any_program() -> impl Strategy<Value = Script> {
    (2..6_usize).prop_flat_map(|ranks| {
        proptest::collection::vec(any_step(ranks), 1..40).prop_map(move |steps| program(ranks, steps))
    })
}

fn any_network() -> impl Strategy<Value = Network> {
    (0..50_u64, 0..500_u64, 0..80_u64, 0..1000_u64, 0..3000_u64).prop_map(
        |(overhead, latency, gap, byte_ps, eager)| Network { overhead, latency, gap, byte_ps, eager },
    )
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        (0..500_u32).prop_map(|value| Distribution::Constant(f64::from(value))),
        (0.0..500.0).prop_map(Distribution::Exponential),
        (0.0..100.0, 0.0..500.0).prop_map(|(low, more)| Distribution::Uniform(low, low + more)),
        (0.0..100.0, 0.0..500.0).prop_map(|(mean, deviation)| Distribution::Normal(mean, deviation)),
    ]
}

fn any_perturbation() -> impl Strategy<Value = Perturbation> {
    let selection = prop_oneof![
        Just(Selection::All),
        proptest::collection::vec(0..5_u32, 0..4).prop_map(Selection::ranks),
    ];
    (any::<u64>(), any_distribution(), selection, any_distribution(), 0.0..2.0).prop_map(
        |(seed, length, strikes, latency, byte)| Perturbation {
            seed,
            local: Noise::PerBurst { length, shortest: 0 },
            strikes,
            latency,
            byte: Distribution::Exponential(byte),
        },
    )
}

/// All deltas `factor` times as large.
fn times(perturbation: &Perturbation, factor: f64) -> Perturbation {
    let Noise::PerBurst { length, shortest } = &perturbation.local else { unreachable!() };
    Perturbation {
        local: Noise::PerBurst { length: length.scaled(factor), shortest: *shortest },
        latency: perturbation.latency.scaled(factor),
        byte: perturbation.byte.scaled(factor),
        ..perturbation.clone()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn an_effect_is_not_below_zero_nor_above_what_delays_alone_come_to(
        script in any_program(), network in any_network(), perturbation in any_perturbation()
    ) {
        let base = Scenario::new(network);
        let changed = base.disturbed(perturbation.clone());
        let more = base.disturbed(times(&perturbation, 1.5));
        let scenarios = [base, changed.clone(), changed.delays_only(), more];
        let replayed = replay(|| Ok(script.log.clone()), &scenarios, &Options::default()).unwrap();
        prop_assert!(replayed.outcome.is_whole(), "{}", replayed.outcome);
        prop_assert_eq!(replayed.outcome.released, 0);
        let runs = replayed.runs;
        for rank in 0..runs[0].finish.len() {
            let at = |run: usize| runs[run].finish[rank];
            prop_assert!(at(0) <= at(1), "earlier: {} {}", at(0), at(1));
            prop_assert!(at(1) - at(0) <= at(2), "above the bound: {} {}", at(1) - at(0), at(2));
            prop_assert!(at(1) <= at(3), "not monotone: {} {}", at(1), at(3));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn nothing_has_no_effect_and_delays_alone_scale(
        script in any_program(), network in any_network(), local in 0..100_u32, latency in 0..100_u32, factor in 1..9_u32
    ) {
        let base = Scenario::new(network);
        let constant = Perturbation {
            local: Noise::PerBurst { length: Distribution::Constant(f64::from(local)), shortest: 0 },
            latency: Distribution::Constant(f64::from(latency)),
            byte: Distribution::Constant(1.0),
            strikes: Selection::ranks([0, 2]),
            ..Perturbation::none()
        };
        let scaled = times(&constant, f64::from(factor));
        let alone = [constant, scaled].map(|perturbation| base.disturbed(perturbation).delays_only());
        let nothing = base.disturbed(Perturbation { seed: 7, ..Perturbation::none() });
        let [once, often] = alone;
        let runs = runs(&script, &[base.clone(), nothing.clone(), once, often]);
        prop_assert_eq!(&runs[0], &runs[1]);
        let wanted: Vec<u64> = runs[2].finish.iter().map(|time| time * u64::from(factor)).collect();
        prop_assert_eq!(&runs[3].finish, &wanted);
        let none = self::runs(&script, &[nothing.delays_only()]);
        prop_assert!(none[0].finish.iter().all(|&time| time == 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn logs_that_end_early_or_lack_operations_are_replayed_as_far_as_they_go(
        script in any_program(),
        network in any_network(),
        cuts in proptest::collection::vec((0..5_usize, any::<prop::sample::Index>()), 0..3),
        losses in proptest::collection::vec((0..5_usize, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
    ) {
        let ranks = crate::Log::locations(&script.log).len();
        let mut log = MemoryLog::new(ranks as u32);
        for rank in 0..ranks {
            let mut calls = script.log.calls(rank).to_vec();
            for (_, call, op) in losses.iter().filter(|(of, ..)| of % ranks == rank) {
                let at = call.index(calls.len());
                let ops = &mut calls[at].ops;
                if !ops.is_empty() {
                    ops.remove(op.index(ops.len()));
                }
            }
            let count = calls.len();
            calls.into_iter().for_each(|call| log.push(rank, call));
            for (_, call) in cuts.iter().filter(|(of, _)| of % ranks == rank) {
                log.cut(rank, call.index(count));
            }
        }
        let scenarios = [Scenario::new(network)];
        let replayed = replay(|| Ok(log.clone()), &scenarios, &Options::default()).unwrap();
        let outcome = &replayed.outcome;
        prop_assert_eq!(outcome.is_whole(), outcome.blocked.is_empty() && !outcome.to_string().trim_end().contains('\n'));
        for seed in 0..3 {
            let options = Options { shuffled: Some(seed), ..Options::default() };
            let mut other = replay(|| Ok(log.clone()), &scenarios, &options).unwrap();
            other.outcome.live_peak = outcome.live_peak;
            prop_assert_eq!(&other, &replayed);
        }
    }
}
