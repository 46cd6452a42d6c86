//! Sweeps whose causes are known, put together by hand.

use std::collections::BTreeMap;

use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};

use super::*;
use crate::scoring::{Columns, Comparison, Scaling};

/// Seconds between samples.
const PERIOD: f64 = 0.005;

/// Own cost of every participant on a call path `outer;inner` of functions, each with the line of its call as `name@line`.
type Line<'a> = (&'a str, &'a [f64]);

/// Runs of two or more scales, each repeated.
struct Sweep {
    tree: falloff_postprocess::Tree,
    costs: Vec<RunCosts>,
    columns: Columns,
    /// Places of the paths of all runs.
    paths: Vec<(String, u32)>,
}

impl Sweep {
    /// Three repetitions of each scale, which differ by 1 %.
    fn new(scales: &[(u32, &[Line])]) -> Sweep {
        let mut builder = TreeBuilder::new();
        let mut paths: Vec<(String, u32)> = Vec::new();
        for (path, _) in scales.iter().flat_map(|(_, lines)| *lines) {
            let context = path.split(';').fold(0, |above, step| {
                let (name, line) = step.split_once('@').unwrap_or((step, ""));
                let module = if name.starts_with("gomp") { "libgomp.so.1" } else { "app" };
                let scope = Scope {
                    call_line: line.parse().ok(),
                    module: Some(module.into()),
                    ..Scope::new(ScopeKind::Function, name)
                };
                builder.child(above, &scope)
            });
            paths.push(((*path).to_owned(), context));
        }
        let (tree, place) = builder.finish();
        paths.iter_mut().for_each(|(_, context)| *context = place[*context as usize]);
        let mut sweep = Sweep { tree, costs: Vec::new(), columns: Columns::default(), paths };
        for (scale, lines) in scales {
            for (repetition, noise) in [(1, 1.0), (2, 1.01), (3, 0.99)] {
                sweep.run(*scale, repetition, noise, lines);
            }
        }
        sweep
    }

    fn run(&mut self, scale: u32, repetition: u32, noise: f64, lines: &[Line]) {
        let cost = |(path, seconds): &Line| -> Vec<Cost> {
            let context = self.place(path);
            (0..)
                .zip(*seconds)
                .filter(|(_, seconds)| **seconds > 0.0)
                .map(|(who, s)| Cost {
                    context,
                    participant: Some(who),
                    seconds: noise * s,
                    ..Cost::default()
                })
                .collect()
        };
        let mut costs: Vec<Cost> = lines.iter().flat_map(cost).collect();
        costs.sort_by_key(|cost| (cost.context, cost.participant));
        let mut column = vec![0.0; self.tree.len()];
        costs.iter().for_each(|cost| column[cost.context as usize] += cost.seconds);
        let samples = column.iter().map(|seconds| seconds / PERIOD).collect();
        self.columns.push(scale, column, samples, 1.0);
        let count = lines.iter().map(|(_, seconds)| seconds.len()).max().unwrap_or(0) as u32;
        let participants = (0..count).map(|number| Participant { number, host: "node".into() }).collect();
        let ranked = !lines.iter().any(|(path, _)| path.contains("gomp"));
        self.costs.push(RunCosts { scale, repetition, participants, ranked, costs, ..RunCosts::default() });
    }

    fn place(&self, path: &str) -> u32 {
        self.paths.iter().find(|(known, _)| known == path).unwrap_or_else(|| panic!("no path {path}")).1
    }

    /// The analysis of the largest against the smallest scale.
    fn analysis(&mut self, charge: Charge) -> Analysis {
        let accounts = Accounts::new(&self.tree, self.costs.clone(), charge, PERIOD);
        accounts.charge(&mut self.columns);
        let (base, at) = (&self.columns.scales[0], &self.columns.scales[self.columns.scales.len() - 1]);
        let whole = |columns: &[usize]| {
            columns.iter().map(|c| self.columns.total(*c)).sum::<f64>() / columns.len() as f64
        };
        let comparison = Comparison {
            base,
            at,
            scaling: Scaling::Strong,
            period: PERIOD,
            whole_base: whole(&base.cost),
            whole_at: whole(&at.cost),
        };
        let analysis = Analysis::new(&accounts, &comparison, &BTreeMap::new()).expect("no analysis");
        let sum: f64 = analysis.causes.iter().map(|cause| cause.loss.excess).sum();
        let excess = 1.0 - comparison.whole_base / comparison.whole_at;
        assert!((sum - excess).abs() < 1e-9, "the causes sum to {sum}, the excess is {excess}");
        let steps: f64 = analysis.waterfall.iter().map(|step| step.change).sum();
        assert!((steps + excess).abs() < 1e-9, "the waterfall falls by {steps}, the excess is {excess}");
        let of_diagnoses: f64 = analysis.diagnoses.iter().map(|d| d.loss.excess).sum();
        let lost: f64 = analysis.causes.iter().flat_map(|c| &c.places).map(|(_, part)| part).sum();
        assert!(of_diagnoses <= lost + 1e-9, "diagnoses cost {of_diagnoses}, places lose {lost}");
        analysis
    }

    /// The diagnosis that costs most must be this one.
    #[track_caller]
    fn first(&mut self, rule: Rule, path: &str) -> Diagnosis {
        let analysis = self.analysis(Charge::Place);
        let first = analysis.diagnoses.first().expect("nothing was found").clone();
        let name = &self.tree.scope(first.place).name;
        assert_eq!(
            (first.rule, first.place),
            (rule, self.place(path)),
            "at {name}: {:?}",
            analysis.diagnoses
        );
        first
    }
}

#[track_caller]
fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "found {found}, wanted {wanted}");
}

const SOLVE: &str = "main;solve@3";
const COPY: &str = "main;copy@4";
const BARRIER: &str = "main;MPI_Barrier@5";

#[test]
fn causes_sum_to_the_excess() {
    // Shared work that grows, work done again on each, and a barrier where participant 1 comes last.
    let at: &[Line] = &[(SOLVE, &[2.6, 5.6, 2.6, 2.6]), (COPY, &[1.0; 4]), (BARRIER, &[3.2, 0.2, 3.2, 3.2])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0]), (COPY, &[1.0]), (BARRIER, &[0.1])]), (4, at)]);
    let analysis = sweep.analysis(Charge::Place);
    let whole = 27.2;
    let part = |cause: Cause| analysis.causes.iter().find(|c| c.cause == cause).unwrap().loss.excess * whole;
    close(part(Cause::MeetingWait), 9.0);
    close(part(Cause::MeetingRest), 0.8 - 0.1);
    close(part(Cause::Replicated), 3.0);
    close(part(Cause::ComputeGrowth), 13.4 - 10.0);
    assert_eq!(analysis.causes[0].cause, Cause::MeetingWait);
    assert_eq!(analysis.causes[0].places[0].0, sweep.place(BARRIER));

    // Barrier of 10, 6 and 4 s of work: see the oracle of the delay cost.
    let first = sweep.first(Rule::LoadImbalance, SOLVE);
    assert_eq!((first.participants.as_slice(), first.ground), ([1].as_slice(), Ground::Measured));
    assert_eq!(first.evidence.last_in, Some((3, 3)));
    close(first.loss.excess * whole, 9.7);
    assert_eq!(analysis.waiting.len(), 1);
    assert_eq!((analysis.waiting[0].last.as_slice(), analysis.waiting[0].count), ([1].as_slice(), 4));

    // Charged to its cause, the waiting moves and nothing is lost.
    let totals: Vec<f64> = (0..12).step_by(2).map(|column| sweep.columns.total(column)).collect();
    let charged = sweep.analysis(Charge::Cause);
    let cause = charged.causes.iter().find(|c| c.cause == Cause::MeetingWait).unwrap();
    close(cause.loss.excess * whole, 9.0);
    assert_eq!(cause.places[0].0, sweep.place(SOLVE));
    let column = |path: &str| sweep.columns.values[6][sweep.place(path) as usize];
    close(column(SOLVE), 13.4 + 9.0);
    close(column(BARRIER), 0.8);
    (0..12).step_by(2).zip(totals).for_each(|(column, total)| close(sweep.columns.total(column), total));
}

#[test]
fn delay_costs_of_a_barrier() {
    let lines: &[Line] = &[(SOLVE, &[10.0, 6.0, 4.0]), (BARRIER, &[0.0, 4.0, 6.0])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[20.0])]), (3, lines)]);
    let first = sweep.first(Rule::LoadImbalance, SOLVE);
    assert_eq!((first.participants, first.waits_in), (vec![0], Some(sweep.place(BARRIER))));
    close(first.loss.excess * 30.0, 10.0);
}

#[test]
fn who_is_last_needs_no_sample_in_the_meeting() {
    let (own, serial, barrier) =
        ("main;steps;shared", "main;steps;output@4", "main;steps;meet;MPI_Barrier@5");
    let at: &[Line] = &[(own, &[2.5; 4]), (serial, &[2.0, 0.0, 0.0, 0.0]), (barrier, &[0.0, 2.1, 2.2, 2.1])];
    let mut sweep = Sweep::new(&[(1, &[(own, &[10.0]), (serial, &[2.0])]), (4, at)]);
    let first = sweep.first(Rule::SerialSection, serial);
    assert_eq!((first.participants, first.waits_in), (vec![0], Some(sweep.place(barrier))));
    close(first.loss.excess * 18.4, 6.0);
}

#[test]
fn serial_sections_and_work_done_again() {
    let serial = "main;output@4";
    let at: &[Line] =
        &[(SOLVE, &[2.5; 4]), (serial, &[2.0, 0.0, 0.0, 0.0]), (BARRIER, &[0.1, 2.1, 2.1, 2.1])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0]), (serial, &[2.0])]), (4, at)]);
    assert_eq!(sweep.first(Rule::SerialSection, serial).participants, [0]);

    let again: &[Line] = &[(SOLVE, &[2.5; 4]), (COPY, &[1.0; 4])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0]), (COPY, &[1.0])]), (4, again)]);
    close(sweep.first(Rule::ReplicatedWork, COPY).evidence.work_ratio.unwrap(), 4.0);
}

#[test]
fn collectives_that_grow_and_small_ones_and_late_ones() {
    let op = "main;MPI_Allreduce@5;combine";
    let cost = |p: f64| vec![0.4 * p.log2(); p as usize];
    let (two, four) = (cost(2.0), cost(4.0));
    let lines = [
        [(SOLVE, &[10.0][..]), (op, &[][..])],
        [(SOLVE, &[5.0; 2]), (op, &two)],
        [(SOLVE, &[2.5; 4]), (op, &four)],
    ];
    let reduce = "main;MPI_Allreduce@5";
    let mut sweep = Sweep::new(&[(1, &lines[0]), (2, &lines[1]), (4, &lines[2])]);
    sweep.paths.push((reduce.into(), sweep.tree.caller(sweep.place(op)).unwrap()));
    let first = sweep.first(Rule::CollectiveCost, reduce);
    assert_eq!((first.evidence.law, first.ground), (Some(Law::Logarithm), Ground::Measured));

    let idle: Vec<String> =
        [5, 6, 7].iter().map(|line| format!("main;MPI_Allreduce@{line};opal_progress")).collect();
    let at: Vec<Line> =
        idle.iter().map(|path| (path.as_str(), &[0.5; 4][..])).chain([(SOLVE, &[2.5; 4][..])]).collect();
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0])]), (4, &at)]);
    sweep.paths.push((reduce.into(), sweep.tree.caller(sweep.place(&idle[0])).unwrap()));
    assert_eq!(sweep.first(Rule::ManySmallCollectives, reduce).evidence.sites, Some(3));

    let turns: &[Line] =
        &[(SOLVE, &[2.3, 2.7, 2.5, 2.6]), ("main;MPI_Allreduce@5;opal_progress", &[1.4, 1.0, 1.2, 1.1])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0])]), (4, turns)]);
    sweep.paths.push((reduce.into(), sweep.tree.caller(sweep.place(turns[1].0)).unwrap()));
    assert_eq!(sweep.first(Rule::RandomImbalance, reduce).ground, Ground::Inferred);
}

#[test]
fn messages() {
    let receive = "main;MPI_Recv@5";
    let diagnose = |work: &[f64], waits: &[f64], rule: Rule| {
        let at = [(SOLVE, work), (receive, waits)];
        Sweep::new(&[(1, &[(SOLVE, &[10.0])]), (4, &at)]).first(rule, receive)
    };
    let late = diagnose(&[3.0, 1.0, 2.0, 4.0], &[1.5, 3.0, 2.5, 0.7], Rule::LatePartner);
    assert_eq!((late.participants.as_slice(), late.evidence.correlation), ([3].as_slice(), Some(-1.0)));
    let serial = diagnose(&[9.0, 1.0, 1.1, 0.9], &[0.1, 8.0, 7.9, 8.1], Rule::SerialMessages);
    assert_eq!(serial.participants, [0]);
    assert_eq!(diagnose(&[2.5; 4], &[1.0, 1.1, 0.9, 1.0], Rule::MessageCost).ground, Ground::Inferred);
}

#[test]
fn operations_that_speak_for_themselves() {
    for (path, rule) in [
        ("main;write@5", Rule::Io),
        ("main;pthread_mutex_lock@5", Rule::Lock),
        ("main;MPI_Put@5", Rule::OneSided),
        ("main;MPI_Init@5", Rule::Runtime),
        ("main;usleep@5", Rule::Sleep),
    ] {
        let at: &[Line] = &[(SOLVE, &[2.5; 4]), (path, &[1.0; 4])];
        let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0]), (path, &[1.0])]), (4, at)]);
        let first = sweep.first(rule, path);
        assert!(first.participants.is_empty());
        assert_eq!(first.confidence((3, 3)), Confidence::Sure);
        assert_eq!(first.confidence((1, 3)), Confidence::Likely);
    }
}

#[test]
fn threads_wait_for_serial_work_and_for_uneven_loops() {
    // Thread 1 idles while thread 0 is in `output`; thread 0 idles for the larger part of the loop.
    let loop_0 = "main;step@3;gomp_parallel;loop";
    let loop_1 = "start;gomp_thread_start;loop";
    let (output, idle_0, idle_1) =
        ("main;output@4", "main;step@3;gomp_team_end", "start;gomp_thread_start;gomp_futex_wait");
    let at: &[Line] = &[
        (loop_0, &[4.0, 0.0]),
        (loop_1, &[0.0, 5.0]),
        (output, &[2.0, 0.0]),
        (idle_0, &[1.0, 0.0]),
        (idle_1, &[0.0, 2.0]),
    ];
    let mut sweep = Sweep::new(&[(1, &[(loop_0, &[9.0]), (output, &[2.0])]), (2, at)]);
    let analysis = sweep.analysis(Charge::Place);
    let found: Vec<_> = analysis
        .diagnoses
        .iter()
        .map(|d| (d.rule, d.place, (d.loss.excess * 14.0 * 1e6).round() / 1e6))
        .collect();
    let wanted =
        [(Rule::SerialSection, sweep.place(output), 2.0), (Rule::LoadImbalance, sweep.place(loop_0), 1.0)];
    assert_eq!(found, wanted);
    assert_eq!(analysis.diagnoses[1].participants, [1]);
}

#[test]
fn slower_machines_and_larger_work() {
    let sum = "main;sum@5";
    let at: &[Line] = &[(SOLVE, &[3.5; 4]), (sum, &[0.7; 4])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0]), (sum, &[2.0])]), (4, at)]);
    assert_eq!(sweep.first(Rule::MemoryBandwidth, SOLVE).ground, Ground::Guessed);
    let count = |sweep: &mut Sweep, ratio: f64| {
        for run in &mut sweep.costs {
            run.counted = true;
            let more = if run.scale == 4 { ratio } else { 1.0 };
            let total: f64 = run.costs.iter().map(|c| c.seconds).sum();
            for cost in &mut run.costs {
                cost.instructions = 1e9 * more * cost.seconds / total;
                cost.cycles = 1e9 * cost.seconds;
            }
        }
    };
    count(&mut sweep, 1.0);
    let slower = sweep.first(Rule::MemoryBandwidth, SOLVE);
    assert_eq!(slower.ground, Ground::Inferred);
    assert!(slower.evidence.per_cycle.unwrap() < 0.8);
    count(&mut sweep, 1.4);
    assert_eq!(sweep.first(Rule::WorkGrowth, SOLVE).ground, Ground::Measured);
}

#[test]
fn uneven_work_without_waiting_is_told_by_what_is_unused() {
    let serial = "main;output@4";
    let at: &[Line] = &[(SOLVE, &[2.5; 4]), (serial, &[2.0, 0.0, 0.0, 0.0])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0]), (serial, &[2.0])]), (4, at)]);
    let first = sweep.first(Rule::SerialSection, serial);
    close(first.loss.excess, 0.0);
    close(first.evidence.unused.unwrap(), 6.0 / 12.0);

    // It is told all the same where it has grown a little.
    let at: &[Line] = &[(SOLVE, &[2.5; 4]), (serial, &[2.1, 0.0, 0.0, 0.0])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[10.0]), (serial, &[2.0])]), (4, at)]);
    let found: Vec<Rule> = sweep.analysis(Charge::Place).diagnoses.iter().map(|d| d.rule).collect();
    assert_eq!(found, [Rule::WorkGrowth, Rule::SerialSection]);
}

#[test]
fn efficiencies_of_call_paths_keep_the_identity() {
    let at: &[Line] =
        &[(SOLVE, &[8.0, 6.0, 4.0, 2.0]), ("main;solve@3;MPI_Barrier@9", &[2.0, 4.0, 6.0, 8.0])];
    let mut sweep = Sweep::new(&[(1, &[(SOLVE, &[18.0])]), (4, at)]);
    let analysis = sweep.analysis(Charge::Place);
    let solve = analysis.subtrees.iter().find(|s| s.context == sweep.place(SOLVE)).unwrap();
    let e = &solve.efficiencies;
    close(e.load_balance, 0.625);
    close(e.communication, 0.8);
    close(e.parallel, 0.5);
    close(e.computational, 0.9);
    close(e.global, 0.45);
    close(solve.share, 1.0);
    close(e.global / solve.parallel_base, 18.0 / 40.0);
}
