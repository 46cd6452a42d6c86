//! What a user wants to know of a run's message graph.

use std::sync::Arc;

use falloff_messages::{
    Balanced, Broken, Changes, LessNoise, Log, MatchError, Network, Noise, Options, Perturbation, Profile,
    Scenario, Selection, effects_by_path, replay,
};
use rustc_hash::FxHashMap;

use super::{Answer, Case, Origin, Parameter, PathDelay};

/// Call paths whose noise is replayed alone, at most: two passes over the log.
const ALONE_MAX: usize = 12;

/// What a user wants to know of a run's message graph: each change is a case of its own, beside the others.
#[derive(Clone, Debug)]
pub struct Question {
    /// The network that the run had, as well as is known.
    pub network: Network,
    /// Where that is from.
    pub origin: Origin,
    /// More noise, latency or time a byte.
    pub perturbation: Option<Perturbation>,
    /// Another network.
    pub other_network: Option<Network>,
    /// A network that costs nothing.
    pub wants_ideal: bool,
    /// Bursts nearer to the floor of their kind: which part of each may go, from 0 to 1.
    pub less_noise: Option<f64>,
    /// Call paths that are faster.
    pub faster: Vec<Faster>,
    /// Sections in which all ranks compute the same, with their names.
    pub balanced: Vec<(u16, String)>,
    /// A parameter and the values that it takes.
    pub sweep: Option<(Parameter, Vec<f64>)>,
}

/// A call path that is faster.
#[derive(Clone, Debug)]
pub struct Faster {
    /// As the user named it.
    pub path: String,
    /// How many times faster.
    pub factor: f64,
    /// By rank and call path of the log: which share of the time before its calls that is, from 0 to 1.
    pub shares: Arc<FxHashMap<(u32, u32), f64>>,
}

impl Question {
    /// Asks nothing but how well a replay on this network reproduces the run.
    pub fn new(network: Network, origin: Origin) -> Question {
        Question {
            network,
            origin,
            perturbation: None,
            other_network: None,
            wants_ideal: false,
            less_noise: None,
            faster: Vec::new(),
            balanced: Vec::new(),
            sweep: None,
        }
    }

    /// Replays the run. `open` opens its log, once for each pass over it.
    ///
    /// # Errors
    /// The log cannot be read, or has more slack than `options` allow.
    pub fn answer<L: Log>(
        &self,
        open: impl Fn() -> Result<L, Broken> + Sync,
        options: &Options,
    ) -> Result<Answer, MatchError> {
        let needs_profile = self.less_noise.is_some() || !self.balanced.is_empty();
        let profile = if needs_profile { Some(Arc::new(Profile::of(&mut open()?)?)) } else { None };
        let cases = self.cases(profile.as_ref());
        let mut scenarios = vec![Scenario::measured_on(self.network)];
        scenarios.extend(cases.iter().map(|(_, scenario)| scenario.clone()));
        // Detours strike by the clock, so that nothing bounds them.
        let is_drawn = |of: &&Perturbation| matches!(of.local, Noise::PerBurst { .. });
        let drawn = self.perturbation.as_ref().filter(is_drawn);
        if let Some(perturbation) = drawn {
            scenarios.push(scenarios[0].disturbed(perturbation.clone()).delays_only());
        }
        let mut replayed = replay(&open, &scenarios, options)?;
        let delays_only = drawn.and_then(|_| replayed.runs.pop());
        let base = replayed.runs.remove(0);
        let residuals = replayed.residuals(&base);
        let of_cases = replayed.runs.into_iter().zip(replayed.delays.into_iter().skip(1));
        let cases = cases
            .into_iter()
            .zip(of_cases)
            .map(|((name, _), (run, delays))| Case::of(name, &base, run, delays));
        let mut cases: Vec<Case> = cases.collect();
        if let (Some(perturbation), Some(case)) = (&self.perturbation, cases.first_mut()) {
            strike_alone(&open, &scenarios[0], perturbation, case, options)?;
        }
        Ok(Answer {
            cases,
            network: self.network,
            origin: self.origin.clone(),
            outcome: replayed.outcome,
            measured: replayed.measured,
            residuals,
            delays_only: delays_only.map(|run| run.end()),
            base,
        })
    }

    fn cases(&self, profile: Option<&Arc<Profile>>) -> Vec<(String, Scenario)> {
        let base = Scenario::measured_on(self.network);
        let mut cases = Vec::new();
        if let Some(perturbation) = &self.perturbation {
            cases.push((Case::DISTURBED.to_owned(), base.disturbed(perturbation.clone())));
        }
        if let Some(network) = self.other_network {
            cases.push(("other network".to_owned(), base.on(network)));
        }
        if self.wants_ideal {
            // By definition nothing but computing takes time there.
            cases.push((Case::IDEAL.to_owned(), Scenario::new(Network::IDEAL)));
        }
        if let (Some(eta), Some(profile)) = (self.less_noise, profile) {
            let less_noise = Some(LessNoise { eta, profile: profile.clone() });
            cases.push((
                format!("less noise by {eta}"),
                base.changed(Changes { less_noise, ..Changes::default() }),
            ));
        }
        for Faster { path, factor, shares } in &self.faster {
            let faster = vec![falloff_messages::Faster { factor: *factor, shares: shares.clone() }];
            cases.push((
                format!("{path} {factor} times faster"),
                base.changed(Changes { faster, ..Changes::default() }),
            ));
        }
        for (section, name) in &self.balanced {
            if let Some(factors) = profile.and_then(|profile| profile.balance(*section)) {
                let balanced = vec![Balanced { section: *section, factors: Arc::new(factors) }];
                let changes = Changes { balanced, ..Changes::default() };
                cases.push((format!("{name} balanced"), base.changed(changes)));
            }
        }
        if let Some((parameter, values)) = &self.sweep {
            cases.extend(values.iter().map(|&v| (format!("{parameter} {v}"), parameter.vary(&base, v))));
        }
        cases
    }
}

/// Finds what the noise of the call paths with most of it does to the end, that of each alone.
fn strike_alone<L: Log>(
    open: impl Fn() -> Result<L, Broken> + Sync,
    base: &Scenario,
    perturbation: &Perturbation,
    case: &mut Case,
    options: &Options,
) -> Result<(), MatchError> {
    let ranks: Vec<u32> = open()?.locations().iter().map(|location| location.rank).collect();
    let is_of_messages = !perturbation.latency.is_zero() || !perturbation.byte.is_zero();
    let mut most: Vec<&mut PathDelay> = case.paths.iter_mut().filter(|path| path.arising > 0).collect();
    if let ([only], false) = (&mut most[..], is_of_messages) {
        // What strikes there alone is all that strikes.
        only.alone = Some(case.effect.whole);
        return Ok(());
    }
    most.sort_by_key(|path| std::cmp::Reverse(path.arising));
    most.truncate(ALONE_MAX);
    if most.is_empty() {
        return Ok(());
    }
    let selection = |path: &&mut PathDelay| {
        let bursts = case.delays.bursts.iter().filter(|burst| burst.after == path.context);
        Selection::paths(bursts.map(|burst| (ranks[burst.location as usize], burst.after)))
    };
    let selections: Vec<Selection> = most.iter().map(selection).collect();
    let effects = effects_by_path(open, base, perturbation, &selections, options)?;
    most.into_iter().zip(effects).for_each(|(path, effect)| path.alone = Some(effect.whole));
    Ok(())
}
