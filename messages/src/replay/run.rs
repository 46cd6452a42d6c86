//! Runs of a program under other circumstances than those it was measured under.

use super::{
    Changes, Delays, Effect, Network, Perturbation, Selection,
    simulation::{Clock, Simulation},
};
use crate::{Broken, Location, Log, MatchError, Options, Outcome, lead};

/// So many runs are simulated in one pass.
const AT_ONCE: usize = 8;

/// The circumstances of a run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What messages cost.
    pub network: Network,
    /// What is computed faster or more evenly than measured.
    pub changes: Changes,
    /// What disturbs it.
    pub perturbation: Perturbation,
    /// The network that the log was measured on, if what calls took beyond it is to be kept ([`Scenario::measured_on`]).
    pub(super) measured_on: Option<Network>,
    /// Everything costs nothing but what the perturbation adds, and all waits pass delays on ([`Scenario::delays_only`]).
    pub(super) counts_delays_only: bool,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// By rank: when it is through, in nanoseconds from its first call.
    pub finish: Vec<u64>,
    /// By rank: nanoseconds of computing, with noise, summed over threads.
    pub computed: Vec<u64>,
    /// By rank: nanoseconds of the perturbation's noise in that.
    pub noise: Vec<u64>,
}

/// What became of all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Which messages were matched.
    pub outcome: Outcome,
    /// By rank: nanoseconds from its first call to the end of its last, as measured.
    pub measured: Vec<u64>,
    /// The runs, in the order of their scenarios.
    pub runs: Vec<Run>,
    /// Where each of them falls behind the first, and where it catches up.
    pub delays: Vec<Delays>,
}

impl Replayed {
    /// By rank: by how many nanoseconds a run as it was ends later than it was measured to; negative for earlier. It tells how far the
    /// network that was assumed is from the true one.
    pub fn residuals(&self, run: &Run) -> Vec<i64> {
        self.measured
            .iter()
            .zip(&run.finish)
            .map(|(&measured, &finish)| finish as i64 - measured as i64)
            .collect()
    }
}

impl Scenario {
    /// As measured, but for the network.
    pub fn new(network: Network) -> Scenario {
        Scenario {
            network,
            changes: Changes::default(),
            perturbation: Perturbation::none(),
            measured_on: None,
            counts_delays_only: false,
        }
    }

    /// As measured on this network. Where a call took far longer than the network and those it waited for explain (20 µs and ten times
    /// L + 2 o), that is kept, whatever else changes: it waited for a processor, for a disk, or MPI had to begin. It is known where
    /// those it waited for have the same clock.
    pub fn measured_on(network: Network) -> Scenario {
        Scenario { measured_on: Some(network), ..Scenario::new(network) }
    }

    /// The same on another network.
    pub fn on(&self, network: Network) -> Scenario {
        Scenario { network, ..self.clone() }
    }

    /// The same with other computing.
    pub fn changed(&self, changes: Changes) -> Scenario {
        Scenario { changes, ..self.clone() }
    }

    /// The same, disturbed.
    pub fn disturbed(&self, perturbation: Perturbation) -> Scenario {
        Scenario { perturbation, ..self.clone() }
    }

    /// What the perturbation's delays alone come to where every wait passes them on, which no slack absorbs: an upper bound of their
    /// effect, rank by rank. It needs no clocks. It does not hold for detours, which strike by the clock.
    ///
    /// The bound: a time is the greatest sum along a way through the graph of messages, and this is the greatest sum of delays along
    /// one. A way of the disturbed run is a way of the undisturbed one, so that `max(w + d) − max(w) ≤ max(d)`.
    pub fn delays_only(&self) -> Scenario {
        Scenario {
            network: self.network.without_costs(),
            measured_on: None,
            counts_delays_only: true,
            ..self.clone()
        }
    }
}

/// Replays a log under each of the scenarios, the first of which is the base of the others; six others at most in a pass over the log, and
/// two passes at a time. `open` opens the log for a pass.
///
/// # Errors
/// A log cannot be read, or has more slack than `options` allow.
pub fn replay<L: Log>(
    open: impl Fn() -> Result<L, Broken> + Sync,
    scenarios: &[Scenario],
    options: &Options,
) -> Result<Replayed, MatchError> {
    replay_and(true, open, scenarios, options)
}

/// Replays, and tells where runs fall behind the first or leaves that out.
fn replay_and<L: Log>(
    wants_delays: bool,
    open: impl Fn() -> Result<L, Broken> + Sync,
    scenarios: &[Scenario],
    options: &Options,
) -> Result<Replayed, MatchError> {
    let Some((base, others)) = scenarios.split_first() else { return Ok(Replayed::default()) };
    // All passes match alike, whichever scenarios they are for.
    let eager = scenarios.iter().map(|scenario| scenario.network.eager).min().unwrap_or(u64::MAX);
    let pass = |others: &Vec<&Scenario>| one_pass(&mut open()?, base, others, wants_delays, eager, options);
    // The base is part of each pass, and so is the run as measured.
    let passes = others.len().div_ceil(AT_ONCE - 2).max(1);
    let mut groups: Vec<Vec<&Scenario>> =
        others.chunks(others.len().div_ceil(passes).max(1)).map(|group| group.iter().collect()).collect();
    if groups.is_empty() {
        groups.push(Vec::new());
    }
    let mut all: Option<Replayed> = None;
    for group in groups.chunks(2) {
        for replayed in side_by_side(group, &pass) {
            let replayed = replayed?;
            match &mut all {
                Some(all) => {
                    all.runs.extend(replayed.runs.into_iter().skip(1));
                    all.delays.extend(replayed.delays.into_iter().skip(1));
                }
                None => all = Some(replayed),
            }
        }
    }
    Ok(all.unwrap_or_default())
}

/// Does the second beside the first, if there are two.
fn side_by_side<T: Sync, R: Send>(these: &[T], work: &(impl Fn(&T) -> R + Sync)) -> Vec<R> {
    let [first, second] = these else { return these.iter().map(work).collect() };
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| work(second));
        let first = work(first);
        vec![first, beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
    })
}

/// What noise of computing does on each of some call paths alone: what reaches the end of what strikes it there. Noise by draws is the same
/// on a path as if it struck everywhere.
///
/// # Errors
/// As for [`replay`].
pub fn effects_by_path<L: Log>(
    open: impl Fn() -> Result<L, Broken> + Sync,
    base: &Scenario,
    perturbation: &Perturbation,
    paths: &[Selection],
    options: &Options,
) -> Result<Vec<Effect>, MatchError> {
    let struck = |path: &Selection| {
        base.disturbed(Perturbation { strikes: path.clone(), ..perturbation.local_alone() })
    };
    let scenarios: Vec<Scenario> = std::iter::once(base.clone()).chain(paths.iter().map(struck)).collect();
    let runs = replay_and(false, open, &scenarios, options)?.runs;
    Ok(runs.iter().skip(1).map(|run| Effect::of(&runs[0], run)).collect())
}

fn one_pass<L: Log>(
    log: &mut L,
    base: &Scenario,
    others: &[&Scenario],
    wants_delays: bool,
    eager: u64,
    options: &Options,
) -> Result<Replayed, MatchError> {
    let measured = base.measured_on.map(Scenario::new);
    let mut scenarios = vec![base];
    scenarios.extend(others);
    match scenarios.len() + usize::from(measured.is_some()) {
        1 => at_once::<L, 1>(log, &scenarios, measured.as_ref(), wants_delays, eager, options),
        2 => at_once::<L, 2>(log, &scenarios, measured.as_ref(), wants_delays, eager, options),
        3 | 4 => at_once::<L, 4>(log, &scenarios, measured.as_ref(), wants_delays, eager, options),
        _ => at_once::<L, AT_ONCE>(log, &scenarios, measured.as_ref(), wants_delays, eager, options),
    }
}

fn at_once<L: Log, const K: usize>(
    log: &mut L,
    scenarios: &[&Scenario],
    measured: Option<&Scenario>,
    wants_delays: bool,
    eager: u64,
    options: &Options,
) -> Result<Replayed, MatchError> {
    let all: Vec<&Scenario> = scenarios.iter().copied().chain(measured).collect();
    let lanes = std::array::from_fn(|run| *all.get(run).unwrap_or(&scenarios[0]));
    let is_accounted = |run: &usize| wants_delays && !scenarios[*run].counts_delays_only;
    let accounted: Vec<usize> = (1..scenarios.len()).filter(is_accounted).collect();
    let mut simulation =
        Simulation::<K>::new(lanes, measured.map(|_| scenarios.len()), accounted, eager, log);
    let outcome = lead(log, &mut simulation, options)?;
    let locations = log.locations();
    let ranks = locations.last().map_or(0, |location| location.rank as usize + 1);
    let clocks = &simulation.locations;
    let latest = |of: &dyn Fn(&Clock<K>) -> u64| by_rank(ranks, locations, clocks, u64::max, of);
    let sum = |of: &dyn Fn(&Clock<K>) -> u64| by_rank(ranks, locations, clocks, |a, b| a + b, of);
    let runs = (0..scenarios.len()).map(|run| Run {
        finish: latest(&|clock| clock.now[run] as u64),
        computed: sum(&|clock| clock.computed[run] as u64),
        noise: sum(&|clock| clock.noise[run] as u64),
    });
    let delays = (0..scenarios.len()).map(|run| simulation.account.of(run));
    Ok(Replayed {
        outcome,
        measured: latest(&|clock| clock.measured),
        runs: runs.collect(),
        delays: delays.collect(),
    })
}

fn by_rank<const K: usize>(
    ranks: usize,
    locations: &[Location],
    clocks: &[Clock<K>],
    join: impl Fn(u64, u64) -> u64,
    of: &dyn Fn(&Clock<K>) -> u64,
) -> Vec<u64> {
    let mut values = vec![0; ranks];
    for (location, clock) in locations.iter().zip(clocks) {
        let value = &mut values[location.rank as usize];
        *value = join(*value, of(clock));
    }
    values
}
