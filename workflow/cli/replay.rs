//! `falloff replay`: what other noise, networks and computing would have made of a run.

use std::path::Path;
use std::sync::Arc;

use falloff_messages::{
    Calibration, Distribution, DistributionError, Log, Network, Noise, Options, Perturbation,
};
use falloff_postprocess::Database;
use falloff_postprocess::messages::Calls;
use falloff_workflow::exit;
use falloff_workflow::noise::Signature;
use falloff_workflow::replay::{self, Answer, Faster, Origin, Question, USUAL, report};

use crate::algebra::must_be_free;
use crate::args::{ReplayArgs, ReplayRows, ScoreFormat};
use crate::calls;
use crate::failure::Failure;
use crate::output::Output;
use crate::values::Times;

/// Replays a run and prints what becomes of it.
pub fn replay(args: &ReplayArgs, output: &Output) -> Result<i32, Failure> {
    if let Some(dir) = &args.output {
        must_be_free(dir)?;
    }
    let calls = calls::open(&args.dir, &args.debug.options(), "replay")?;
    calls.warnings().iter().for_each(|warning| output.warn(&format!("falloff: {warning}")));
    let options = Options { live_max: args.live_max, ..Options::default() };
    let question = question(args, &calls, &options)?;
    let answer = question.answer(|| Ok(calls.log()), &options).map_err(|error| failed(args, &error))?;
    if let Some(dir) = &args.output {
        database(args, &calls, &answer).write(dir)?;
    }
    let names = |context| calls.names(context);
    match (args.format, args.by) {
        (ScoreFormat::Text, _) => output.data(&report::text(&answer, &names))?,
        (ScoreFormat::Csv, ReplayRows::Rank) => output.data(&report::csv(&answer))?,
        (ScoreFormat::Csv, ReplayRows::Path) => output.data(&report::csv_by_path(&answer, &names))?,
        (ScoreFormat::Json, _) => {
            let json = report::json(&answer, &names).map_err(Failure::not_written("the replay as JSON"))?;
            output.data(&format!("{json}\n"))?;
        }
    }
    Ok(exit::OK)
}

/// Where each case falls behind the run as it was, by call path and rank.
fn database(args: &ReplayArgs, calls: &Calls, answer: &Answer) -> Database {
    let columns = replay::columns(answer, &calls.bursts());
    let found = columns.into_iter().map(|column| (column.name, column.values)).collect();
    let cases = answer.cases.iter().map(|case| case.name.clone()).collect();
    calls.found(&args.dir.display().to_string(), "replay", cases, found)
}

fn question(args: &ReplayArgs, calls: &Calls, options: &Options) -> Result<Question, Failure> {
    let (base, origin) = match &args.network {
        Some(words) => network(words, &USUAL)?,
        None => {
            let calibration =
                Calibration::of(&mut calls.log(), options).map_err(|error| failed(args, &error))?;
            (calibration.network(&USUAL), Origin::Log(calibration))
        }
    };
    let other_network =
        args.other_network.as_ref().map(|words| network(words, &base).map(|(network, _)| network));
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
        origin,
        perturbation: perturbation(args, calls)?,
        other_network: other_network.transpose()?,
        wants_ideal: args.ideal_network,
        less_noise: args.less_noise,
        faster: args.faster.iter().map(|times| faster(args, calls, times)).collect::<Result<_, _>>()?,
        balanced: args.balance.iter().map(balanced).collect::<Result<_, _>>()?,
        sweep: args.sweep.clone(),
    })
}

/// A network in words, or of a signature.
fn network(words: &str, otherwise: &Network) -> Result<(Network, Origin), Failure> {
    if !Path::new(words).is_file() {
        return Ok((replay::network(words, otherwise)?, Origin::Words));
    }
    let signature = Signature::read(Path::new(words))?;
    let network = replay::measured_network(&signature, otherwise).ok_or_else(|| {
        Failure::usage(
            format!("failed to take the network of `{words}`: it has no messages that a model fits"),
            "measure between ranks: `mpirun -n 2 falloff noise -o FILE`",
        )
    })?;
    Ok((network, Origin::Signature))
}

/// What disturbs the run, if anything was asked for.
fn perturbation(args: &ReplayArgs, calls: &Calls) -> Result<Option<Perturbation>, Failure> {
    if args.noise.is_none() && args.latency_noise.is_none() && args.byte_noise.is_none() {
        return Ok(None);
    }
    let mut perturbation = Perturbation { seed: args.seed, ..Perturbation::none() };
    if let Some(noise) = &args.noise {
        perturbation.local = local_noise(noise, args, calls)?;
    }
    if let Some(latency) = &args.latency_noise {
        perturbation.latency = latency_noise(latency)?;
    }
    if let Some(byte) = &args.byte_noise {
        perturbation.byte = byte.clone();
    }
    Ok(Some(perturbation))
}

/// Noise in words, or that of a file.
fn local_noise(words: &str, args: &ReplayArgs, calls: &Calls) -> Result<Noise, Failure> {
    let beyond = args.noise_beyond.as_deref();
    if Path::new(words).is_file() {
        let ranks = calls.log().locations().last().map_or(0, |location| location.rank as usize + 1);
        return Ok(replay::noise_of_file(Path::new(words), beyond, ranks, args.co_scheduled)?);
    }
    if beyond.is_some() {
        return Err(Failure::usage(
            format!("failed to read the noise `{words}`: there is no such file"),
            "`--noise-beyond` goes with a `--noise` that `falloff noise -o FILE` wrote",
        ));
    }
    Ok(Noise::PerBurst { length: distribution(words)?, shortest: 1 })
}

/// More latency in words, or that of a file.
fn latency_noise(words: &str) -> Result<Distribution, Failure> {
    if Path::new(words).is_file() {
        return Ok(replay::latency_noise_of_file(Path::new(words))?);
    }
    distribution(words)
}

fn distribution(words: &str) -> Result<Distribution, Failure> {
    words.parse().map_err(|error: DistributionError| {
        Failure::usage(
            format!("failed to read the noise `{words}`: there is no such file"),
            error.to_string(),
        )
    })
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
