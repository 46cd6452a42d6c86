//! When the members of collective operations leave them, by what each operation is made of.

use super::{
    Scenario,
    simulation::{Joined, Simulation, Times},
    tree::{self, Hop},
};
use crate::{Collective, Operation, need::Need};

impl<const K: usize> Simulation<'_, K> {
    /// When a member leaves an operation for which it does not need all.
    pub(super) fn leaves(
        &self,
        run: usize,
        rank: u32,
        collective: &Collective,
        needed: &[(u32, Joined<K>)],
    ) -> i64 {
        let Scenario { network, perturbation, .. } = self.scenarios[run];
        let (overhead, latency) = (network.overhead as i64, network.latency as i64);
        let find =
            |wanted: u32| needed.iter().find(|&&(member, _)| member == wanted).map(|(_, joined)| joined);
        let Some(own) = find(rank) else { return 0 };
        let place = |rank| self.members.place(collective.comm, rank).unwrap_or(0);
        let members = self.members.count(collective.comm);
        let flight = |bytes, round| {
            latency
                + network.bytes(bytes)
                + perturbation.round(rank, own.post, round)
                + perturbation.bytes(rank, own.post, bytes)
        };
        match (Need::of(collective, rank), collective.operation) {
            (Need::Root(root), _) => {
                let Some(from) = find(root) else { return own.at[run] };
                let relative = (place(rank) + members - place(root)) % members.max(1);
                let spacing = network.gap as i64 + network.bytes(from.sent);
                let way =
                    tree::from_root(members, relative, overhead, spacing, |round| flight(from.sent, round));
                (own.at[run] + overhead).max(from.at[run] + way)
            }
            (Need::Before, _) => {
                let last = needed.iter().map(|(_, joined)| joined.at[run]).max().unwrap_or(0);
                let rounds = tree::rounds(needed.len());
                last + (0..rounds).map(|round| 2 * overhead + flight(own.sent, round)).sum::<i64>()
            }
            (_, Operation::Broadcast | Operation::Scatter) => {
                let spacing = network.gap as i64 + network.bytes(own.sent);
                own.at[run] + tree::from_root(members, 0, overhead, spacing, |_| 0)
            }
            _ => own.at[run] + overhead,
        }
    }

    /// When each member leaves an operation for which it needs all, in the order of `all`; at a root only the root's own is told.
    pub(super) fn leave_all(&mut self, collective: &Collective, all: &[(u32, Joined<K>)]) -> Vec<Times<K>> {
        let [times, scratch] = &mut self.scratch;
        let mut left: Vec<Times<K>> = all.iter().map(|(_, joined)| joined.at).collect();
        for run in 0..K {
            let Scenario { network, perturbation, .. } = self.scenarios[run];
            let (overhead, latency) = (network.overhead as i64, network.latency as i64);
            let flight = |place: usize, round: u32, parts: u64| {
                let (rank, joined) = &all[place];
                let bytes = joined.sent * parts;
                latency
                    + network.bytes(bytes)
                    + perturbation.round(*rank, joined.post, round)
                    + perturbation.bytes(*rank, joined.post, bytes)
            };
            times.clear();
            times.extend(all.iter().map(|(_, joined)| joined.at[run]));
            let hop = Hop { overhead, flight };
            let root = collective.root.and_then(|root| all.iter().position(|(rank, _)| *rank == root));
            match (collective.operation, root) {
                (Operation::Reduce | Operation::Gather, Some(root)) => {
                    let gathers = collective.operation == Operation::Gather;
                    times[root] = tree::binomial(times, root, gathers, &hop);
                }
                (Operation::AllReduce, _) => tree::doubling(times, scratch, &hop),
                (
                    Operation::Barrier
                    | Operation::Make
                    | Operation::Fence
                    | Operation::Initialise
                    | Operation::Finalise,
                    _,
                ) => tree::dissemination(times, scratch, &hop),
                (operation, _) => {
                    // As many rounds as it takes to hear of all, and every byte once; an exchange of all pairs, one by one.
                    let last = times.iter().copied().max().unwrap_or(0);
                    let rounds = match operation {
                        Operation::AllToAll => all.len().saturating_sub(1) as u32,
                        Operation::Neighbours => 1,
                        _ => tree::rounds(all.len()),
                    };
                    for (time, (rank, joined)) in times.iter_mut().zip(all) {
                        let bytes = joined.sent.max(joined.received);
                        let latencies = (0..rounds).map(|round| {
                            2 * overhead + latency + perturbation.round(*rank, joined.post, round)
                        });
                        *time = last
                            + latencies.sum::<i64>()
                            + network.bytes(bytes)
                            + perturbation.bytes(*rank, joined.post, bytes);
                    }
                }
            }
            for (left, time) in left.iter_mut().zip(times.iter()) {
                left[run] = *time;
            }
        }
        left
    }
}
