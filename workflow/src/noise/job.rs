//! A measurement by this process alone, or by all ranks of a job.

use std::path::PathBuf;
use std::time::Duration;

use falloff_profiler::rank_of_many;

use super::counters::Counters;
use super::detours::Detours;
use super::host::Host;
use super::messages::Messages;
use super::mpi::{Library, Session, places};
use super::ping_pong::{self, Order};
use super::quanta::{FixedTime, FixedWork};
use super::signature::{RankNoise, Signature};
use crate::{Error, Result};

/// Detours that a signature lists one by one, over all ranks, and of a rank at least.
const TRACED: (usize, usize) = (65_536, 512);
/// Ranks with which rank 0 exchanges messages at most.
const PARTNERS: usize = 8;
/// Largest report of a rank.
const REPORT_MAX: u64 = 1 << 28;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Time for noise; messages take about half as long again.
    pub time: Duration,
    /// The library of MPI, where it is not to be looked for.
    pub library: Option<PathBuf>,
}

/// Measures the noise here, and under a launcher that of all ranks and messages between them. Gives the signature to rank 0 only.
///
/// # Errors
/// Under a launcher, its MPI is not found or does not know as many ranks as the launcher.
pub fn measure(options: &Options) -> Result<Option<Signature>> {
    let told = rank_of_many().and_then(|(_, ranks)| u32::try_from(ranks).ok()).unwrap_or(1);
    if told < 2 && options.library.is_none() {
        return Ok(Some(Signature::new(vec![noise(0, 1, options.time)], None)));
    }
    let places = options
        .library
        .clone()
        .map_or_else(|| places(|name| std::env::var_os(name).is_some()), |library| vec![library]);
    let session = Session::begin(Library::first_of(&places)?)?;
    if session.size < told {
        return Err(Error::Mpi(format!(
            "the launcher says that there are {told} ranks, {} that there is {}",
            session.library(),
            session.size
        )));
    }
    session.meet()?;
    let own = noise(session.rank, session.size, options.time);
    let signature = match session.rank {
        0 => Some(collect(&session, own, options.time / 2)?),
        _ => {
            ping_pong::serve(&session, &serde_json::to_vec(&own).map_err(garbled)?)?;
            None
        }
    };
    session.end()?;
    Ok(signature)
}

/// Half of the time looks for detours, which tell most; a quarter each does fixed work and work in fixed time.
fn noise(rank: u32, ranks: u32, time: Duration) -> RankNoise {
    let host = Host::here();
    let traced = (TRACED.0 / ranks as usize).max(TRACED.1);
    let before = Counters::now();
    RankNoise {
        rank,
        host,
        detours: Detours::measure(time / 2, traced),
        fixed_work: FixedWork::measure(time / 4),
        fixed_time: FixedTime::measure(time / 4),
        counters: Counters::now().since(before),
    }
}

/// What rank 0 does while the others do what it orders.
fn collect(session: &Session, own: RankNoise, time: Duration) -> Result<Signature> {
    let mut ranks = vec![own];
    for rank in 1..session.size {
        ranks.push(report(session, rank)?);
    }
    let partners = partners(&ranks);
    let share = time / partners.len().max(1) as u32;
    let mut pairs = Vec::with_capacity(partners.len());
    for with in partners {
        let same_host = ranks[with as usize].host.name == ranks[0].host.name;
        pairs.push(ping_pong::measure(session, with, same_host, share)?);
    }
    for rank in 1..session.size {
        Order::End.give(session, rank)?;
    }
    let messages = (session.size > 1).then(|| Messages { library: session.library(), pairs });
    Ok(Signature::new(ranks, messages))
}

/// Fetches what another rank found.
fn report(session: &Session, rank: u32) -> Result<RankNoise> {
    Order::Report.give(session, rank)?;
    let mut length = [0; 8];
    session.receive(rank, &mut length)?;
    let length = u64::from_le_bytes(length);
    if length > REPORT_MAX {
        return Err(Error::Mpi(format!("rank {rank} has a report of {length} bytes")));
    }
    let mut text = vec![0; length as usize];
    session.receive(rank, &mut text)?;
    serde_json::from_slice(&text).map_err(garbled)
}

fn garbled(error: serde_json::Error) -> Error {
    Error::Mpi(format!("the report of a rank is garbled: {error}"))
}

/// Ranks 1, 2, 4 and so on, the first of another host, and the last: near ones and far ones.
fn partners(ranks: &[RankNoise]) -> Vec<u32> {
    let last = ranks.len() as u32 - 1;
    let away = ranks.iter().find(|rank| rank.host.name != ranks[0].host.name).map(|rank| rank.rank);
    let mut found: Vec<u32> = [last].into_iter().chain(away).filter(|rank| *rank > 0).collect();
    found.extend((0..PARTNERS as u32).map(|power| 1 << power).filter(|rank| *rank < last));
    found.truncate(PARTNERS);
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::signature::tests::planted;

    #[test]
    fn partners_are_near_and_far() {
        let mut ranks = planted(1, 0.0).ranks;
        assert!(partners(&ranks).is_empty());
        ranks = planted(2, 0.0).ranks;
        assert_eq!(partners(&ranks), [1]);
        ranks = planted(100, 0.0).ranks;
        ranks[48..].iter_mut().for_each(|rank| rank.host.name = "node2".into());
        assert_eq!(partners(&ranks), [1, 2, 4, 8, 16, 32, 48, 99]);
    }

    #[test]
    fn one_process_has_noise_and_no_messages() {
        let options = Options { time: Duration::from_millis(200), library: None };
        let found = measure(&options).unwrap().unwrap();
        assert_eq!((found.ranks.len(), found.messages.is_none()), (1, true));
        assert!(found.notes[0].contains("mpirun -n 2"), "{:?}", found.notes);
        assert!((0.15..5.0).contains(&found.ranks[0].seconds()), "{}", found.ranks[0].seconds());
    }
}
