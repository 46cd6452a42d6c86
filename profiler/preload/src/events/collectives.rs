//! Collective operations: how many bytes each process gives and gets.

use falloff_format::events::{Item, Operation};

use super::communicators::{self, Communicator, Parts};
use super::frame::Arguments;
use super::messages::post_for;
use super::shapes::{Layout, Life};

/// The place of the communicator; requests and hints come behind it.
pub fn communicator_place(layout: Layout) -> usize {
    match layout {
        Layout::None => 0,
        Layout::Broadcast => 4,
        Layout::AllReduce | Layout::ReduceScatter | Layout::ReduceScatterBlock => 5,
        Layout::Reduce | Layout::AllGather | Layout::AllToAll => 6,
        Layout::Scatter | Layout::Gather | Layout::AllGatherv => 7,
        Layout::Scatterv | Layout::Gatherv | Layout::AllToAllv | Layout::AllToAllw => 8,
    }
}

/// The place of the root, in operations that have one.
fn root_place(layout: Layout) -> Option<usize> {
    match layout {
        Layout::Broadcast
        | Layout::Scatter
        | Layout::Scatterv
        | Layout::Gather
        | Layout::Gatherv
        | Layout::Reduce => Some(communicator_place(layout) - 1),
        _ => None,
    }
}

/// What a process is to the root of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The root.
    Root,
    /// One of those that give to or get from it.
    Member,
    /// Somebody of the root's group in an operation between two groups.
    Bystander,
}

/// What the call begins.
pub fn begins(arguments: Arguments, operation: Operation, layout: Layout, life: Life) -> Option<Item> {
    let abi = arguments.abi;
    let communicator = communicators::of(abi, arguments.handle(communicator_place(layout)))?;
    let (role, root) = match root_place(layout).map(|place| arguments.int(place)) {
        None => (Role::Member, None),
        Some(root) if communicator.others().is_none() => {
            let is_root = u32::try_from(root) == Ok(communicator.rank);
            (if is_root { Role::Root } else { Role::Member }, Some(communicator.peer(root)))
        }
        Some(root) if root == abi.root => (Role::Root, Some(communicator.own_rank())),
        Some(root) if root == abi.nobody => (Role::Bystander, None),
        Some(root) => (Role::Member, Some(communicator.peer(root))),
    };
    let among_neighbours = operation == Operation::Neighbours;
    let counted = Counted { arguments, communicator, role, among_neighbours };
    let (sent, received) = if role == Role::Bystander { (0, 0) } else { counted.bytes(layout, operation) };
    let sequence = if life == Life::Persistent { 0 } else { communicator.next_sequence() };
    let (post, communicator) = (post_for(life), communicator.id);
    Some(Item::Collective { post, operation, communicator, sequence, root, sent, received })
}

/// Counts bytes.
struct Counted<'a> {
    arguments: Arguments,
    communicator: &'a Communicator,
    role: Role,
    among_neighbours: bool,
}

impl Counted<'_> {
    /// How many a process gives to, and how many it gets from.
    fn partners(&self) -> (Parts, Parts) {
        let peers = Parts::all(self.communicator.peers().size());
        if self.among_neighbours {
            (self.communicator.destinations, self.communicator.sources)
        } else {
            (peers, peers)
        }
    }

    /// Bytes of one part: places of buffer, count and type.
    fn part(&self, count: usize, kind: usize) -> u64 {
        self.arguments.abi.bytes(self.arguments.count(count), self.arguments.word(kind))
    }

    /// Bytes of a part for each of some processes.
    fn parts(&self, counts: usize, kind: usize, partners: Parts) -> u64 {
        let count = self.counts(counts, partners).map(|(_, count)| count).sum();
        self.arguments.abi.bytes(count, self.arguments.word(kind))
    }

    /// Places and counts of the parts that are for somebody.
    fn counts(&self, counts: usize, partners: Parts) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.arguments.counts(counts, partners.places).enumerate();
        counts.filter(move |(at, _)| partners.has(*at))
    }

    /// The same with a type for each.
    fn typed_parts(&self, counts: usize, kinds: usize, partners: Parts) -> u64 {
        let (abi, kinds) = (self.arguments.abi, self.arguments.word(kinds));
        self.counts(counts, partners).map(|(at, count)| abi.bytes(count, abi.handle_in(kinds, at))).sum()
    }

    /// What is given from the buffer at a place; `received` if it is the one that is received into.
    fn unless_in_place(&self, buffer: usize, sent: impl Fn() -> u64, received: u64) -> u64 {
        if self.arguments.word(buffer) == self.arguments.abi.in_place { received } else { sent() }
    }

    /// Bytes given and got. What is not significant is not looked at.
    fn bytes(&self, layout: Layout, operation: Operation) -> (u64, u64) {
        let is_root = self.role == Role::Root;
        let (givers, (destinations, sources)) =
            (Parts::all(self.communicator.peers().size()), self.partners());
        let either = |root: u64| if is_root { (root, 0) } else { (0, root) };
        match layout {
            Layout::None => (0, 0),
            Layout::Broadcast => either(self.part(1, 2)),
            Layout::Scatter if is_root => {
                let each = self.part(1, 2);
                (each.saturating_mul(givers.count().into()), self.own_part(each))
            }
            Layout::Scatter => (0, self.part(4, 5)),
            Layout::Scatterv if is_root => (self.parts(1, 3, givers), self.own_count_in(1, 3)),
            Layout::Scatterv => (0, self.part(5, 6)),
            Layout::Gather if is_root => {
                let each = self.part(4, 5);
                (self.own_part(each), each.saturating_mul(givers.count().into()))
            }
            Layout::Gather | Layout::Gatherv if !is_root => (self.part(1, 2), 0),
            Layout::Gather | Layout::Gatherv => (self.own_count_in(4, 6), self.parts(4, 6, givers)),
            Layout::Reduce => {
                let all = self.part(2, 3);
                if is_root { (self.own_part(all), all) } else { (all, 0) }
            }
            Layout::AllReduce => {
                let all = self.part(2, 3);
                let is_first = operation == Operation::ExclusiveScan && self.communicator.rank == 0;
                (all, if is_first { 0 } else { all })
            }
            Layout::ReduceScatter => {
                let members = self.communicator.group().size();
                (self.parts(2, 3, Parts::all(members)), self.own_count(2, 3))
            }
            Layout::ReduceScatterBlock => {
                let each = self.part(2, 3);
                (each.saturating_mul(self.communicator.group().size().into()), each)
            }
            Layout::AllGather => {
                let each = self.part(4, 5);
                let own = self.unless_in_place(0, || self.part(1, 2), each);
                let copies = if self.among_neighbours { destinations.count() } else { 1 };
                (own.saturating_mul(copies.into()), each.saturating_mul(sources.count().into()))
            }
            Layout::AllGatherv => {
                let all = self.parts(4, 6, sources);
                let own = self.unless_in_place(0, || self.part(1, 2), self.own_count_in(4, 6));
                let copies = if self.among_neighbours { destinations.count() } else { 1 };
                (own.saturating_mul(copies.into()), all)
            }
            Layout::AllToAll => {
                let all = self.part(4, 5).saturating_mul(sources.count().into());
                let given = || self.part(1, 2).saturating_mul(destinations.count().into());
                (self.unless_in_place(0, given, all), all)
            }
            Layout::AllToAllv => {
                let all = self.parts(5, 7, sources);
                (self.unless_in_place(0, || self.parts(1, 3, destinations), all), all)
            }
            Layout::AllToAllw => {
                let all = self.typed_parts(5, 7, sources);
                (self.unless_in_place(0, || self.typed_parts(1, 3, destinations), all), all)
            }
        }
    }

    /// What the root gives to or gets from itself: nothing between two groups.
    fn own_part(&self, part: u64) -> u64 {
        if self.communicator.others().is_some() { 0 } else { part }
    }

    /// Bytes of this process's own part among parts of several sizes.
    fn own_count(&self, counts: usize, kind: usize) -> u64 {
        let rank = self.communicator.rank;
        let own = self.arguments.counts(counts, rank.saturating_add(1)).nth(rank as usize);
        self.arguments.abi.bytes(own.unwrap_or(0), self.arguments.word(kind))
    }

    /// The same, of processes that are all in one group: else there is no own part.
    fn own_count_in(&self, counts: usize, kind: usize) -> u64 {
        if self.among_neighbours || self.communicator.others().is_some() {
            0
        } else {
            self.own_count(counts, kind)
        }
    }
}
