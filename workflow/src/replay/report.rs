//! The answer as text, JSON and CSV.

use std::fmt::Write;

use falloff_messages::Network;
use falloff_postprocess::views::csv::quoted;
use serde::Serialize;

use super::{Answer, Case, Origin, PathDelay};
use crate::report::table::{Table, percent};

const SCHEMA: &str = "falloff.replay";
const VERSION: u32 = 1;

/// Nanoseconds in a millisecond.
const MILLISECOND: f64 = 1e6;

/// Call paths that the text lists, at most.
const PATHS_MAX: usize = 10;

/// The names of the frames of a call path, outermost first.
pub type Names<'a> = &'a dyn Fn(u32) -> Vec<String>;

/// What people read.
pub fn text(answer: &Answer, names: Names) -> String {
    let mut out = String::new();
    let measured = answer.measured.iter().copied().max().unwrap_or(0);
    let base = answer.base.end();
    let _ = writeln!(
        out,
        "measured {} ms, replayed {} ms, which is {} % {}; no rank is further off than {} %",
        milliseconds(measured as i64),
        milliseconds(base as i64),
        percent(answer.error().abs()),
        if answer.error() < 0.0 { "less" } else { "more" },
        percent(answer.largest_residual())
    );
    out.push_str(&network(answer));
    if !answer.cases.is_empty() {
        let mut table = Table::new(&["ms", "more ms", "more %", "amplified", "absorbed %", "case"]);
        for case in &answer.cases {
            let more = case.effect.whole;
            table.row(vec![
                milliseconds(case.run.end() as i64),
                milliseconds(more),
                percent(more as f64 / base.max(1) as f64),
                case.effect.amplification().map_or("-".into(), |a| format!("{a:.2}")),
                case.effect.absorbed().map_or("-".into(), percent),
                case.name.clone(),
            ]);
        }
        let _ = writeln!(out, "\n{}", table.lines().join("\n"));
    }
    if let Some(most) = answer.delays_only {
        let _ = writeln!(out, "\nwhere nothing absorbs delays they come to {} ms", milliseconds(most as i64));
    }
    if let Some(case) = answer.disturbed() {
        out.push_str(&paths(case, names));
    }
    if let Some(efficiencies) = answer.efficiencies() {
        let factor = |factor: Option<f64>| factor.map_or("?".into(), percent);
        let _ = writeln!(
            out,
            "\nparallel efficiency {} % = load balance {} % x serialisation {} % x transfer {} %",
            percent(efficiencies.parallel),
            percent(efficiencies.load_balance),
            factor(efficiencies.serialisation),
            factor(efficiencies.transfer)
        );
    }
    let _ = write!(out, "\n{}", answer.outcome);
    out
}

/// The network that the run is taken to have had.
fn network(answer: &Answer) -> String {
    let Network { overhead, latency, gap, byte_ps, eager } = answer.network;
    let from = match &answer.origin {
        Origin::Log(calibration) => format!("from {} messages and rounds of the log", calibration.flights),
        Origin::Words => "as given".to_owned(),
        Origin::Signature => "as measured by `falloff noise`".to_owned(),
    };
    let mut out = format!(
        "network {from}: o {overhead} ns, L {latency} ns, g {gap} ns, G {byte_ps} ps a byte, eager up to {eager} bytes\n"
    );
    let usual = answer.origin.usual();
    if !usual.is_empty() {
        let _ = writeln!(out, "what the log does not tell is taken to be as usual: {}", usual.join(", "));
    }
    out
}

/// Where a case falls behind the base.
fn paths(case: &Case, names: Names) -> String {
    let mut table = Table::new(&["noise before ms", "taken over ms", "absorbed ms", "alone ms", "call path"]);
    for path in case.paths.iter().take(PATHS_MAX) {
        table.row(vec![
            milliseconds(path.arising),
            milliseconds(path.taken_over as i64),
            milliseconds(path.absorbed as i64),
            path.alone.map_or("-".into(), milliseconds),
            names(path.context).join(" > "),
        ]);
    }
    let mut out =
        format!("\ndelays by call path, over all ranks, {}\n{}\n", case.name, table.lines().join("\n"));
    if case.paths.len() > PATHS_MAX {
        let _ = writeln!(out, "and {} more call paths", case.paths.len() - PATHS_MAX);
    }
    out
}

/// Nanoseconds as milliseconds, to the last digit.
fn milliseconds(nanoseconds: i64) -> String {
    format!("{:.6}", nanoseconds as f64 / MILLISECOND)
}

/// One line for each rank of the base and of each case.
pub fn csv(answer: &Answer) -> String {
    let mut out = "case,rank,measured_ns,finish_ns,effect_ns,computed_ns,noise_ns\n".to_owned();
    let effects = vec![0; answer.base.finish.len()];
    let base = ("base", &answer.base, &effects);
    let cases = answer.cases.iter().map(|case| (case.name.as_str(), &case.run, &case.effect.ranks));
    for (name, run, effects) in std::iter::once(base).chain(cases) {
        for (rank, effect) in effects.iter().enumerate() {
            let (measured, finish) = (answer.measured[rank], run.finish[rank]);
            let (computed, noise) = (run.computed[rank], run.noise[rank]);
            let _ = writeln!(out, "{},{rank},{measured},{finish},{effect},{computed},{noise}", quoted(name));
        }
    }
    out
}

/// One line for each call path of each case.
pub fn csv_by_path(answer: &Answer, names: Names) -> String {
    let mut out = "case,path,arising_ns,taken_over_ns,absorbed_ns,alone_ns\n".to_owned();
    for case in &answer.cases {
        for path in &case.paths {
            let alone = path.alone.map_or(String::new(), |alone| alone.to_string());
            let (name, frames) = (quoted(&case.name), names(path.context).join(";"));
            let PathDelay { arising, taken_over, absorbed, .. } = path;
            let _ = writeln!(out, "{name},{},{arising},{taken_over},{absorbed},{alone}", quoted(&frames));
        }
    }
    out
}

/// What programs read.
///
/// # Errors
/// Serialising fails.
pub fn json(answer: &Answer, names: Names) -> serde_json::Result<String> {
    let outcome = &answer.outcome;
    let document = Document {
        schema: SCHEMA,
        version: VERSION,
        network: NetworkOf {
            overhead_ns: answer.network.overhead,
            latency_ns: answer.network.latency,
            gap_ns: answer.network.gap,
            byte_ps: answer.network.byte_ps,
            eager_bytes: answer.network.eager,
            from: answer.origin.word(),
            usual: answer.origin.usual(),
        },
        matching: Matching {
            is_whole: outcome.is_whole(),
            calls: outcome.calls,
            messages: outcome.messages,
            bytes: outcome.bytes,
            collectives: outcome.collectives,
            void: outcome.void,
            unmatched_sends: outcome.unmatched_sends,
            unmatched_receives: outcome.unmatched_receives,
            unresolved_receives: outcome.unresolved,
            stray_completions: outcome.strays,
            incomplete_collectives: outcome.incomplete_collectives,
            mismatched_collectives: outcome.mismatched_collectives,
            released_sends: outcome.released,
            breaks: outcome.breaks,
            blocked: outcome.blocked.iter().map(ToString::to_string).collect(),
            cycle_ranks: &outcome.cycle,
        },
        measured_ns: &answer.measured,
        base_ns: &answer.base.finish,
        residual_ns: &answer.residuals,
        error_percent: 100.0 * answer.error(),
        delays_only_ns: answer.delays_only,
        serialisation_efficiency: answer.efficiencies().and_then(|of| of.serialisation),
        transfer_efficiency: answer.efficiencies().and_then(|of| of.transfer),
        cases: answer
            .cases
            .iter()
            .map(|case| CaseOf {
                name: &case.name,
                finish_ns: &case.run.finish,
                effect_ns: &case.effect.ranks,
                whole_effect_ns: case.effect.whole,
                largest_noise_ns: case.effect.noise,
                amplification: case.effect.amplification(),
                absorbed: case.effect.absorbed(),
                paths: case.paths.iter().map(|path| PathOf::new(path, names)).collect(),
            })
            .collect(),
    };
    serde_json::to_string_pretty(&document)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    network: NetworkOf,
    matching: Matching<'a>,
    measured_ns: &'a [u64],
    base_ns: &'a [u64],
    residual_ns: &'a [i64],
    error_percent: f64,
    delays_only_ns: Option<u64>,
    serialisation_efficiency: Option<f64>,
    transfer_efficiency: Option<f64>,
    cases: Vec<CaseOf<'a>>,
}

#[derive(Serialize)]
struct NetworkOf {
    overhead_ns: u64,
    latency_ns: u64,
    gap_ns: u64,
    byte_ps: u64,
    eager_bytes: u64,
    from: &'static str,
    usual: Vec<&'static str>,
}

#[derive(Serialize)]
struct Matching<'a> {
    is_whole: bool,
    calls: u64,
    messages: u64,
    bytes: u64,
    collectives: u64,
    void: u64,
    unmatched_sends: u64,
    unmatched_receives: u64,
    unresolved_receives: u64,
    stray_completions: u64,
    incomplete_collectives: u64,
    mismatched_collectives: u64,
    released_sends: u64,
    breaks: u64,
    blocked: Vec<String>,
    cycle_ranks: &'a [u32],
}

#[derive(Serialize)]
struct CaseOf<'a> {
    name: &'a str,
    finish_ns: &'a [u64],
    effect_ns: &'a [i64],
    whole_effect_ns: i64,
    largest_noise_ns: u64,
    amplification: Option<f64>,
    absorbed: Option<f64>,
    paths: Vec<PathOf>,
}

#[derive(Serialize)]
struct PathOf {
    path: Vec<String>,
    arising_ns: i64,
    taken_over_ns: u64,
    absorbed_ns: u64,
    alone_ns: Option<i64>,
}

impl PathOf {
    fn new(path: &PathDelay, names: Names) -> PathOf {
        PathOf {
            path: names(path.context),
            arising_ns: path.arising,
            taken_over_ns: path.taken_over,
            absorbed_ns: path.absorbed,
            alone_ns: path.alone,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use falloff_messages::{
        Call, Collective, CommId, Completion, Distribution, MemoryLog, Noise, Op, Operation, Options,
        Perturbation,
    };

    use super::super::{Parameter, Question};
    use super::*;

    /// Two ranks, one of which computes twice as long as the other before each of ten allreduces.
    pub fn log() -> MemoryLog {
        let mut log = MemoryLog::new(2);
        let function = log.function("MPI_Allreduce");
        for rank in 0..2_u64 {
            let mut at = 0;
            for post in 0..11 {
                let (operation, comm) = (Operation::AllReduce, CommId(0));
                let collective =
                    Collective { post, operation, comm, sequence: post, root: None, sent: 8, received: 8 };
                let completion = Completion { post, from: None, tag: None, bytes: 0, void: false };
                let enter = at + if post > 0 { 1_000_000 * (rank + 1) } else { 0 };
                at = 2_010_000 * post + 10_000;
                let ops = vec![Op::Collective(collective), Op::Complete(completion)];
                log.push(rank as usize, Call { function, section: 1, context: 3, enter, leave: at, ops });
            }
        }
        log
    }

    fn names(context: u32) -> Vec<String> {
        vec!["main".to_owned(), format!("call {context}")]
    }

    fn answer() -> Answer {
        let network = Network { overhead: 500, latency: 4000, gap: 0, byte_ps: 100, eager: 65536 };
        let noise = Noise::PerBurst { length: Distribution::Constant(100_000.0), shortest: 1 };
        let question = Question {
            perturbation: Some(Perturbation { local: noise, ..Perturbation::none() }),
            wants_ideal: true,
            less_noise: Some(0.5),
            balanced: vec![(1, "solve".to_owned())],
            sweep: Some((Parameter::Latency, vec![0.0, 8000.0])),
            ..Question::new(network, Origin::Words)
        };
        question.answer(|| Ok(log()), &Options::default()).unwrap()
    }

    #[test]
    fn people_read_it() {
        insta::assert_snapshot!(text(&answer(), &names));
    }

    #[test]
    fn programs_read_it() {
        insta::assert_snapshot!(json(&answer(), &names).unwrap());
        let csv = csv(&answer());
        assert_eq!(csv.lines().count(), 1 + 2 * 7);
        assert!(csv.lines().all(|line| line.split(',').count() == 7), "{csv}");
        let csv = csv_by_path(&answer(), &names);
        assert!(csv.contains("disturbed,main;call 3,2000000,0,0,1000000\n"), "{csv}");
    }

    #[test]
    fn parameters_have_names() {
        assert_eq!("latency".parse::<Parameter>().unwrap().to_string(), "latency");
        let error = "speed".parse::<Parameter>().unwrap_err().to_string();
        assert!(error.contains("there is no parameter `speed`"), "{error}");
    }
}
