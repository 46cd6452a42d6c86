//! Collective operations: who has entered them, and for whom they are complete.

use super::{
    by_post::ByPost,
    operations::Origin,
    outcome::{Mismatch, Outcome, Place},
};
use crate::{
    Collective, CommId, Operation, Visitor,
    members::Members,
    need::{Need, has_root, is_bystander},
};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A member's operation that is not complete: what it entered, and from where.
pub(super) struct Membership {
    pub collective: Collective,
    pub need: Need,
    /// How many had entered before.
    joined: usize,
}

/// The n-th operation of a communicator.
struct Instance<J> {
    operation: Operation,
    root: Option<u32>,
    /// What was entered: one thing, if all do the same.
    sides: Sides,
    /// Ranks that entered, with what the visitor made of it; in the order of the communicator once all have.
    joined: Vec<(u32, J)>,
    /// By place, for operations that need those before: who has entered.
    present: Vec<bool>,
    /// How many of the first places have entered.
    prefix: usize,
    /// How many had entered before the root.
    root_joined: Option<usize>,
    /// Members for which it is complete.
    completed: usize,
    /// Locations that wait for it.
    waiters: Vec<usize>,
}

/// The first member, in the order of the communicator, of those that entered the same operation.
#[derive(Clone, Copy)]
struct Side {
    operation: Operation,
    root: Option<u32>,
    place: usize,
    rank: u32,
    origin: Origin,
    /// It takes no part, and does not say who the root is.
    is_bystander: bool,
}

/// All different operations that were entered as one.
struct Sides {
    one: Side,
    others: Vec<Side>,
}

impl Sides {
    fn add(&mut self, side: Side) {
        let is_same = |known: &&mut Side| {
            let says_no_other = known.root == side.root || known.is_bystander || side.is_bystander;
            known.operation == side.operation && says_no_other
        };
        let key = |side: &Side| (side.is_bystander, side.place);
        match std::iter::once(&mut self.one).chain(&mut self.others).find(is_same) {
            Some(known) if key(&side) < key(known) => *known = side,
            Some(_) => {}
            None => self.others.push(side),
        }
    }

    /// Tells of them if they are several.
    fn tell(&self, key: (CommId, u64), place: impl Fn(u32, Origin) -> Place, outcome: &mut Outcome) {
        if self.others.is_empty() {
            return;
        }
        let mut sides: Vec<&Side> = std::iter::once(&self.one).chain(&self.others).collect();
        sides.sort_unstable_by_key(|side| side.place);
        let sides =
            sides.iter().map(|side| (place(side.rank, side.origin), side.operation, side.root)).collect();
        outcome.mismatch(Mismatch { comm: key.0, sequence: key.1, is_member: true, sides });
    }
}

pub(super) struct Collectives<V: Visitor> {
    members: Members,
    instances: FxHashMap<(CommId, u64), Instance<V::Joined>>,
    /// By rank: what it has not completed.
    open: Vec<ByPost<Membership>>,
    /// How many operations each rank has entered that do not hold it, and that not all have entered.
    ahead: Vec<usize>,
    /// Lists to be used again.
    spare: Vec<Vec<(u32, V::Joined)>>,
    /// What one member needs, where that is not all.
    needed: Vec<(u32, V::Joined)>,
    /// Members that entered operations that are not complete.
    pub live: usize,
    /// Locations that waited for what has happened since.
    pub woken: Vec<usize>,
}

impl<V: Visitor> Collectives<V> {
    pub fn new(members: Members, ranks: usize) -> Collectives<V> {
        Collectives {
            members,
            instances: FxHashMap::default(),
            open: (0..ranks).map(|_| ByPost::new()).collect(),
            ahead: vec![0; ranks],
            spare: Vec::new(),
            needed: Vec::new(),
            live: 0,
            woken: Vec::new(),
        }
    }

    /// What a rank has entered and not completed.
    pub fn open(&self, rank: u32, post: u64) -> Option<&Membership> {
        self.open[rank as usize].get(post)
    }

    /// How many operations a rank has entered that do not hold it, and that not all have entered.
    pub fn ahead(&self, rank: u32) -> usize {
        self.ahead[rank as usize]
    }

    /// A rank enters. `place` tells where that is, for a rank that does not do what the others do.
    pub fn join(
        &mut self,
        rank: u32,
        collective: &Collective,
        joined: V::Joined,
        origin: Origin,
        place: impl Fn(u32, Origin) -> Place,
        outcome: &mut Outcome,
    ) {
        let need = Need::of(collective, rank);
        let Collective { operation, comm, sequence, root, .. } = *collective;
        let Some(at) = self.members.place(comm, rank) else {
            let sides = vec![(place(rank, origin), operation, root)];
            return outcome.mismatch(Mismatch { comm, sequence, is_member: false, sides });
        };
        let side = Side { operation, root, place: at, rank, origin, is_bystander: is_bystander(collective) };
        let spare = &mut self.spare;
        let instance = self.instances.entry((comm, sequence)).or_insert_with(|| Instance {
            operation,
            root,
            sides: Sides { one: side, others: Vec::new() },
            joined: spare.pop().unwrap_or_default(),
            present: Vec::new(),
            prefix: 0,
            root_joined: None,
            completed: 0,
            waiters: Vec::new(),
        });
        instance.sides.add(side);
        let membership = Membership { collective: *collective, need, joined: instance.joined.len() };
        self.open[rank as usize].insert(collective.post, membership);
        instance.root = instance.root.or(root);
        if instance.root == Some(rank) {
            instance.root_joined = Some(instance.joined.len());
        }
        instance.joined.push((rank, joined));
        self.live += 1;
        let lets_run_ahead = Need::lets_run_ahead(instance.operation);
        self.ahead[rank as usize] += usize::from(lets_run_ahead);
        let mut has_grown = false;
        if need == Need::Before {
            instance.present.resize(self.members.count(collective.comm), false);
            instance.present[at] = true;
            while instance.present.get(instance.prefix) == Some(&true) {
                instance.prefix += 1;
                has_grown = true;
            }
        }
        let is_full = instance.joined.len() == self.members.count(collective.comm);
        if is_full {
            let members = &self.members;
            instance.joined.sort_unstable_by_key(|&(rank, _)| members.place(collective.comm, rank));
            instance.sides.tell((comm, sequence), place, outcome);
            outcome.collectives += 1;
            if lets_run_ahead {
                for &(rank, _) in &instance.joined {
                    self.ahead[rank as usize] -= 1;
                }
            }
        }
        let is_between = self.members.opposite(comm, rank).is_some();
        if is_full || has_grown || is_between || instance.root == Some(rank) {
            self.woken.append(&mut instance.waiters);
        }
    }

    /// Whether what a member needs is there.
    fn is_complete(&self, rank: u32, membership: &Membership) -> bool {
        let Membership { collective, need, .. } = membership;
        let Some(instance) = self.instances.get(&(collective.comm, collective.sequence)) else {
            return false;
        };
        match need {
            Need::Nobody => true,
            Need::All => match others(&self.members, rank, collective) {
                Some(others) => {
                    let place = |member: u32| self.members.place(collective.comm, member);
                    let is_other = |member: u32| place(member).is_some_and(|at| others.contains(&at));
                    instance.joined.iter().filter(|(member, _)| is_other(*member)).count() == others.len()
                }
                None => instance.joined.len() >= self.members.count(collective.comm),
            },
            Need::Root(_) => instance.root_joined.is_some(),
            Need::Before => {
                self.members.place(collective.comm, rank).is_some_and(|place| place < instance.prefix)
            }
        }
    }

    /// What a member that completes needed; nothing if that is not there, and the location waits for it.
    pub fn complete(&mut self, location: usize, rank: u32, post: u64) -> Option<&[(u32, V::Joined)]> {
        let membership = self.open[rank as usize].get(post)?;
        let key = (membership.collective.comm, membership.collective.sequence);
        let is_complete = self.is_complete(rank, membership);
        let instance = self.instances.get_mut(&key)?;
        if !is_complete {
            instance.waiters.push(location);
            return None;
        }
        let others = others(&self.members, rank, &membership.collective);
        if membership.need == Need::All && others.is_none() {
            return Some(&instance.joined);
        }
        let members = &self.members;
        let place = |rank: u32| members.place(key.0, rank);
        let is_sorted = instance.joined.len() == members.count(key.0);
        let find = |rank: u32, joined: usize| {
            let at = if is_sorted { place(rank)? } else { joined };
            instance.joined.get(at).cloned()
        };
        self.needed.clear();
        match membership.need {
            Need::Root(root) => {
                self.needed.extend(instance.root_joined.and_then(|joined| find(root, joined)));
                self.needed.extend(find(rank, membership.joined));
            }
            Need::Before => {
                let own = place(rank);
                self.needed
                    .extend(instance.joined.iter().filter(|&&(member, _)| place(member) <= own).cloned());
            }
            Need::All => {
                let takes_part = |member: u32| {
                    member == rank
                        || place(member).zip(others.as_ref()).is_some_and(|(at, all)| all.contains(&at))
                };
                self.needed
                    .extend(instance.joined.iter().filter(|&&(member, _)| takes_part(member)).cloned());
            }
            Need::Nobody => self.needed.extend(find(rank, membership.joined)),
        }
        self.needed.sort_unstable_by_key(|&(rank, _)| place(rank));
        Some(&self.needed)
    }

    /// Its rank has completed an operation, or given it up.
    pub fn close(&mut self, rank: u32, post: u64) {
        let Some(membership) = self.open[rank as usize].remove(post) else { return };
        let key = (membership.collective.comm, membership.collective.sequence);
        let Some(instance) = self.instances.get_mut(&key) else { return };
        instance.completed += 1;
        if instance.completed >= self.members.count(key.0)
            && let Some(Instance { mut joined, .. }) = self.instances.remove(&key)
        {
            self.live -= joined.len();
            joined.clear();
            self.spare.push(joined);
        }
    }

    /// Ranks for which a member would wait that enters an operation.
    pub fn awaited(&self, rank: u32, collective: &Collective) -> Vec<u32> {
        let need = Need::of(collective, rank);
        self.missing(rank, &Membership { collective: *collective, need, joined: 0 })
    }

    /// Ranks for which a member waits.
    pub fn missing(&self, rank: u32, membership: &Membership) -> Vec<u32> {
        let Membership { collective, need, .. } = membership;
        let instance = self.instances.get(&(collective.comm, collective.sequence));
        let joined = instance.map(|instance| &instance.joined[..]).unwrap_or_default();
        let places = match need {
            Need::Nobody | Need::Root(_) => 0..0,
            Need::All => {
                others(&self.members, rank, collective).unwrap_or(0..self.members.count(collective.comm))
            }
            Need::Before => 0..self.members.place(collective.comm, rank).unwrap_or(0),
        };
        let mut missing: Vec<u32> = places.map(|place| self.members.rank(collective.comm, place)).collect();
        if let Need::Root(root) = need {
            missing.push(*root);
        }
        let mut present: Vec<u32> = joined.iter().map(|&(member, _)| member).collect();
        present.sort_unstable();
        missing.retain(|member| present.binary_search(member).is_err());
        missing
    }

    /// Tells of operations that some have entered and others have not.
    pub fn tell_incomplete(&self, place: impl Fn(u32, Origin) -> Place, outcome: &mut Outcome) {
        for (&key, instance) in &self.instances {
            if instance.joined.len() < self.members.count(key.0) {
                outcome.incomplete_collectives += 1;
                instance.sides.tell(key, &place, outcome);
            }
        }
    }
}

/// Between two groups, the places of those whom the root of an operation gives to or gets from.
fn others(members: &Members, rank: u32, collective: &Collective) -> Option<Range<usize>> {
    if has_root(collective.operation) { members.opposite(collective.comm, rank) } else { None }
}
