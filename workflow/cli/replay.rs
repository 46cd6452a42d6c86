//! `falloff replay`: what other noise, networks and computing would have made of a run.

use std::path::Path;
use std::sync::Arc;

use falloff_messages::{Distribution, DistributionError, Network, Noise, Options, Perturbation};
use falloff_postprocess::messages::Calls;
use falloff_workflow::exit;
use falloff_workflow::noise::{RankNoise, Signature};
use falloff_workflow::replay::{self, Faster, Question, USUAL, report};

use crate::args::{ReplayArgs, ScoreFormat};
use crate::calls;
use crate::failure::Failure;
use crate::output::Output;
use crate::values::Times;

/// Replays a run and prints what becomes of it.
pub fn replay(args: &ReplayArgs, output: &Output) -> Result<i32, Failure> {
    let calls = calls::open(&args.dir, &args.debug.options(), "replay")?;
    calls.warnings().iter().for_each(|warning| output.warn(&format!("falloff: {warning}")));
    let question = question(args, &calls)?;
    let options = Options { live_max: args.live_max, ..Options::default() };
    let answer = question.answer(|| Ok(calls.log()), &options).map_err(|error| failed(args, &error))?;
    match args.format {
        ScoreFormat::Text => output.data(&report::text(&answer))?,
        ScoreFormat::Csv => output.data(&report::csv(&answer))?,
        ScoreFormat::Json => {
            let json = report::json(&answer).map_err(Failure::not_written("the replay as JSON"))?;
            output.data(&format!("{json}\n"))?;
        }
    }
    Ok(exit::OK)
}

fn question(args: &ReplayArgs, calls: &Calls) -> Result<Question, Failure> {
    let base = args.network.as_ref().map_or(Ok(USUAL), |words| network(words, &USUAL))?;
    let other_network = args.other_network.as_ref().map(|words| network(words, &base));
    let sections = calls.sections();
    let balanced = |name: &String| {
        let number = sections.iter().skip(1).position(|of| of == name || of.ends_with(&format!(" > {name}")));
        number.map(|number| (number as u16 + 1, name.clone())).ok_or_else(|| {
            let known: Vec<&str> = sections.iter().skip(1).map(String::as_str).collect();
            Failure::usage(
                format!("failed to balance `{name}`: the run has no such section"),
                match known[..] {
                    [] => "mark sections in the program: docs/sections.md".to_owned(),
                    _ => format!("use one of: {}", known.join(", ")),
                },
            )
        })
    };
    Ok(Question {
        network: base,
        perturbation: perturbation(args)?,
        other_network: other_network.transpose()?,
        wants_ideal: args.ideal_network,
        less_noise: args.less_noise,
        faster: args.faster.iter().map(|times| faster(args, calls, times)).collect::<Result<_, _>>()?,
        balanced: args.balance.iter().map(balanced).collect::<Result<_, _>>()?,
        sweep: args.sweep.clone(),
    })
}

/// A network in words, or of a signature.
fn network(words: &str, otherwise: &Network) -> Result<Network, Failure> {
    if !Path::new(words).is_file() {
        return Ok(replay::network(words, otherwise)?);
    }
    let signature = Signature::read(Path::new(words))?;
    replay::measured_network(&signature, otherwise).ok_or_else(|| {
        Failure::usage(
            format!("failed to take the network of `{words}`: it has no messages that a model fits"),
            "measure between ranks: `mpirun -n 2 falloff noise -o FILE`",
        )
    })
}

/// What disturbs the run, if anything was asked for.
fn perturbation(args: &ReplayArgs) -> Result<Option<Perturbation>, Failure> {
    if args.noise.is_none() && args.latency_noise.is_none() && args.byte_noise.is_none() {
        return Ok(None);
    }
    let mut perturbation = Perturbation { seed: args.seed, ..Perturbation::none() };
    if let Some(noise) = &args.noise {
        perturbation.local = local_noise(noise, args.co_scheduled)?;
    }
    if let Some(latency) = &args.latency_noise {
        perturbation.latency = latency.clone();
    }
    if let Some(byte) = &args.byte_noise {
        perturbation.byte = byte.clone();
    }
    Ok(Some(perturbation))
}

/// Noise in words, or that of the rank of a signature that lost most.
fn local_noise(words: &str, is_co_scheduled: bool) -> Result<Noise, Failure> {
    let failed = |reason: String| Failure::usage(format!("failed to read the noise `{words}`"), reason);
    if !Path::new(words).is_file() {
        let length: Distribution =
            words.parse().map_err(|error: DistributionError| failed(error.to_string()))?;
        return Ok(Noise::PerBurst { length, shortest: 1 });
    }
    let signature = Signature::read(Path::new(words))?;
    let lost = |rank: &&RankNoise| rank.detours.lost_percent;
    let most = signature.ranks.iter().max_by(|a, b| lost(a).total_cmp(&lost(b)));
    let most = most.ok_or_else(|| failed("it has no ranks".into()))?;
    let detours = most.detours.trace.overlay().map_err(|error| failed(error.to_string()))?;
    Ok(Noise::Overlay { detours: Arc::new(detours), is_co_scheduled })
}

/// Call paths that go through a function that matches, so many times faster.
fn faster(args: &ReplayArgs, calls: &Calls, times: &Times) -> Result<Faster, Failure> {
    let tree = calls.database.tree();
    let mut is_meant = vec![false; tree.len()];
    for context in 1..tree.len() {
        let parent = tree.contexts()[context].parent as usize;
        let matches =
            tree.kind(context as u32).is_frame() && times.pattern.is_match(&tree.scope(context as u32).name);
        is_meant[context] = is_meant[parent] || matches;
    }
    let shares = replay::shares(&mut calls.log(), &calls.bursts(), |context| is_meant[context as usize])
        .map_err(|error| failed(args, &error))?;
    if shares.is_empty() {
        return Err(Failure::usage(
            format!(
                "failed to replay `{}` faster: nothing is computed there between calls of MPI",
                times.pattern
            ),
            format!("look for functions with `falloff view {}`", args.dir.display()),
        ));
    }
    Ok(Faster { path: times.pattern.to_string(), factor: times.factor, shares: Arc::new(shares) })
}

fn failed(args: &ReplayArgs, error: &dyn std::fmt::Display) -> Failure {
    Failure {
        message: format!("failed to replay `{}`: {error}", args.dir.display()),
        hint: None,
        code: exit::INCOMPLETE,
    }
}
