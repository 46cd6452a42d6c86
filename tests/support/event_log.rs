//! Event logs, read by the format's own decoder, and what must hold of any.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use falloff_format::Measurement;
use falloff_format::events::{
    CommunicatorRecord, Item, Message, Mode, Operation, Ranks, Synchronisation, TopologyRecord, TransferKind,
    numbers,
};
use falloff_format::header::STATE_ENDED;
use falloff_format::read::Record;

use super::measured::{measurement_bytes, measurement_files};

/// How often, and how many bytes.
pub type Tallies = BTreeMap<String, (u64, u64)>;

/// What stands for a communicator or window in all processes.
type Identity = (u32, u64, u64, u32);

/// Rank that entered a collective operation, which one that was, and its root.
type Entered = (u32, Operation, Option<u32>);

/// The log of a process.
pub struct EventLog {
    pub rank: i32,
    /// The process has ended in order.
    pub is_ended: bool,
    /// Why the log has ended before.
    pub stopped: Option<String>,
    /// Names by number.
    pub functions: BTreeMap<u16, String>,
    /// Ranks by the group's number.
    pub groups: BTreeMap<u32, Vec<u32>>,
    pub communicators: BTreeMap<u32, CommunicatorRecord>,
    /// With the numbers that follow.
    pub topologies: Vec<(TopologyRecord, Vec<u64>)>,
    /// Items of each thread that has any.
    pub threads: Vec<Vec<Item>>,
    /// Bytes of all chunks of events.
    pub bytes: u64,
    members: BTreeMap<u32, u64>,
    nodes: BTreeSet<u32>,
    begun_by_fork: bool,
}

impl EventLog {
    /// Of a measurement file, sealed or not.
    #[track_caller]
    pub fn read(path: &Path) -> EventLog {
        let bytes = measurement_bytes(path);
        let measurement = Measurement::parse(&bytes).unwrap();
        let header = measurement.header();
        let mut log = EventLog {
            rank: header.rank,
            is_ended: header.state == STATE_ENDED,
            stopped: None,
            functions: BTreeMap::new(),
            groups: BTreeMap::new(),
            communicators: BTreeMap::new(),
            topologies: Vec::new(),
            threads: Vec::new(),
            bytes: 0,
            members: BTreeMap::new(),
            nodes: measurement.nodes().map(|node| node.unwrap().id.0).collect(),
            begun_by_fork: header.flags != 0,
        };
        for record in measurement.records() {
            log.note(record.unwrap());
        }
        let mut owners = BTreeSet::new();
        for chunk in measurement.chunks().map(Result::unwrap).filter(|chunk| chunk.header.kind == 4) {
            owners.insert(chunk.header.owner);
            log.bytes += chunk.header.length;
        }
        let items = |owner: u32| measurement.events(owner).map(Result::unwrap).collect();
        log.threads = owners.into_iter().map(items).collect();
        log
    }

    /// Of all processes of MPI of a run, by rank.
    #[track_caller]
    pub fn of_run(run: &Path) -> Vec<EventLog> {
        let logs = measurement_files(run).into_iter().map(|path| EventLog::read(&path));
        let mut logs: Vec<_> = logs.filter(|log| !log.begun_by_fork).collect();
        logs.sort_by_key(|log| log.rank);
        logs
    }

    fn note(&mut self, record: Record<'_>) {
        match record {
            Record::Meta(b"events_stopped", why) => {
                self.stopped = Some(String::from_utf8_lossy(why).into_owned())
            }
            Record::Function(function, name) => {
                self.functions.insert(function.number as u16, String::from_utf8_lossy(name).into_owned());
            }
            Record::Group(group, ranks) => {
                let ranks: Vec<u32> = Ranks::new(ranks).collect();
                assert_eq!(ranks.len(), group.size as usize, "{group:?} {ranks:?}");
                self.members.insert(group.id, group.members);
                self.groups.insert(group.id, ranks);
            }
            Record::EventCommunicator(communicator) => {
                self.communicators.insert(communicator.id, communicator);
            }
            Record::Topology(topology, row) => self.topologies.push((topology, numbers(row).collect())),
            _ => {}
        }
    }

    /// All items.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.threads.iter().flatten()
    }

    /// How often each function was called.
    pub fn calls(&self) -> BTreeMap<&str, u64> {
        let mut calls = BTreeMap::new();
        for item in self.items() {
            if let Item::Enter { function, .. } = item {
                *calls.entry(self.functions[function].as_str()).or_default() += 1;
            }
        }
        calls
    }

    /// The call that each thread was in when it ended, if it was in one.
    pub fn last_calls(&self) -> Vec<&str> {
        let open = self.threads.iter().filter_map(|items| {
            let begun = items.iter().rev().find(|i| matches!(i, Item::Enter { .. } | Item::Leave { .. }))?;
            if let Item::Enter { function, .. } = begun {
                Some(self.functions[function].as_str())
            } else {
                None
            }
        });
        open.collect()
    }

    /// What the process has done, as the programs of `tests/programs/events` count it.
    pub fn tallies(&self) -> Tallies {
        let mut tallies = Tallies::new();
        let mut add = |what: &str, bytes: u64| {
            let tally = tallies.entry(what.to_owned()).or_default();
            *tally = (tally.0 + 1, tally.1 + bytes);
        };
        let mut receives = BTreeSet::new();
        for item in self.items() {
            match *item {
                Item::Receive { post, .. } => _ = receives.insert(post),
                Item::Complete { post, message: None, void: false } if receives.contains(&post) => {
                    add("unsaid", 0)
                }
                Item::Send { mode, bytes, .. } => add(mode_name(mode), bytes),
                Item::Complete { void: true, .. } => add("void", 0),
                Item::Complete { message: Some(Message { bytes, .. }), .. } => add("receive", bytes),
                Item::Collective { operation, sent, received, .. } => {
                    let Some(name) = operation_name(operation) else { continue };
                    add(name, sent);
                    if !matches!(operation, Operation::Make | Operation::Fence) {
                        add("got", received);
                    }
                }
                Item::Transfer { kind, bytes, .. } => add(transfer_name(kind), bytes),
                Item::Synchronise { how, .. } => add(synchronisation_name(how), 0),
                _ => {}
            }
        }
        tallies
    }

    /// What must hold of the log of any process that has ended in order.
    #[track_caller]
    pub fn check(&self) {
        let (mut begun, mut complete) = (BTreeSet::new(), BTreeSet::new());
        for items in &self.threads {
            let (mut is_within, mut last_ns) = (false, 0);
            for item in items {
                match *item {
                    Item::Enter { context, at_ns, .. } => {
                        assert!(!is_within && at_ns >= last_ns, "{item:?}");
                        assert!(self.nodes.contains(&context.0), "{item:?} is on no path");
                        (is_within, last_ns) = (true, at_ns);
                    }
                    Item::Leave { at_ns } => {
                        assert!(is_within && at_ns >= last_ns, "{item:?}");
                        (is_within, last_ns) = (false, at_ns);
                    }
                    Item::Send { post, .. } | Item::Receive { post, .. } | Item::Collective { post, .. } => {
                        assert!(is_within && begun.insert(post), "{item:?} twice");
                    }
                    Item::Complete { post, .. } => {
                        assert!(is_within && complete.insert(post), "{item:?} twice")
                    }
                    Item::Transfer { .. } | Item::Synchronise { .. } => assert!(is_within, "{item:?}"),
                }
            }
            assert!(!is_within, "a call does not end");
        }
        assert_eq!(begun, (0..begun.len() as u64).collect(), "operations are numbered");
        assert!(complete.is_subset(&begun), "what has not begun is complete");
        assert!(self.is_ended && self.stopped.is_none(), "{:?}", self.stopped);
        let calls = self.calls();
        let begun = ["MPI_Init", "MPI_Init_thread"].map(|name| calls.get(name).copied().unwrap_or(0));
        assert_eq!(
            (begun[0] + begun[1], calls.get("MPI_Finalize")),
            (1, Some(&1)),
            "MPI begins and ends once"
        );
    }

    /// What stands for a communicator or window in all processes, and its members of both sides.
    fn identity(&self, id: u32) -> (Identity, BTreeSet<u32>) {
        let of = &self.communicators[&id];
        let mut hashes = [self.members[&of.group], self.members.get(&of.others).copied().unwrap_or(0)];
        hashes.sort_unstable();
        let groups = [of.group, of.others];
        let members = groups.iter().filter_map(|group| self.groups.get(group)).flatten().copied().collect();
        ((of.scope, hashes[0], hashes[1], of.ordinal), members)
    }
}

/// What must hold of all processes together: messages are received as they were sent, in the order of their operations, and
/// what all of a communicator do, all do in one order. Gives how many times all of one did something.
#[track_caller]
pub fn check_together(logs: &[EventLog]) -> usize {
    type Channel = (Identity, u32, u32, i32);
    let mut sent: BTreeMap<Channel, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut received: BTreeMap<Channel, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut together: BTreeMap<(Identity, u64), Vec<Entered>> = BTreeMap::new();
    let (mut members, mut unsaid) = (BTreeMap::new(), BTreeMap::<Channel, usize>::new());
    for log in logs {
        let own = log.rank.cast_unsigned();
        let mut within = BTreeMap::new();
        for item in log.items() {
            match *item {
                Item::Send { post, to, tag, communicator, bytes, .. } => {
                    let channel = (log.identity(communicator).0, own, to, tag);
                    sent.entry(channel).or_default().insert(post, bytes);
                }
                Item::Receive { post, from, tag, communicator } => {
                    within.insert(post, (log.identity(communicator).0, from, tag));
                }
                Item::Collective { operation, communicator, sequence, root, .. } => {
                    let (identity, all) = log.identity(communicator);
                    together.entry((identity, sequence)).or_default().push((own, operation, root));
                    members.insert(identity, all);
                }
                _ => {}
            }
        }
        for item in log.items() {
            let Item::Complete { post, message, void: false } = *item else { continue };
            match (within.get(&post), message) {
                (Some((identity, ..)), Some(Message { from, tag, bytes })) => {
                    received.entry((*identity, from, own, tag)).or_default().insert(post, bytes);
                }
                (Some((identity, Some(from), Some(tag))), None) => {
                    *unsaid.entry((*identity, *from, own, *tag)).or_default() += 1;
                }
                _ => {}
            }
        }
    }
    // What came is not known, but how often something did.
    for (channel, times) in unsaid {
        assert_eq!(sent.remove(&channel).map_or(0, |of| of.len()), times, "{channel:?}");
    }
    let in_order = |all: BTreeMap<Channel, BTreeMap<u64, u64>>| -> Vec<_> {
        all.into_iter().map(|(channel, of)| (channel, of.into_values().collect::<Vec<_>>())).collect()
    };
    assert_eq!(in_order(sent), in_order(received), "messages are received as they were sent");
    let times = together.len();
    for ((identity, sequence), calls) in together {
        let ranks: BTreeSet<u32> = calls.iter().map(|call| call.0).collect();
        assert_eq!(ranks, members[&identity], "{identity:?} {sequence}: {calls:?}");
        assert!(calls.iter().all(|call| call.1 == calls[0].1), "{identity:?} {sequence}: {calls:?}");
        let roots: BTreeSet<u32> = calls.iter().filter_map(|call| call.2).collect();
        assert!(roots.len() <= 1, "{identity:?} {sequence}: {calls:?}");
    }
    times
}

/// Lines `RANK WHAT TIMES BYTES` as programs print them, by rank.
pub fn told(output: &str) -> BTreeMap<i32, Tallies> {
    let mut ranks: BTreeMap<i32, Tallies> = BTreeMap::new();
    for line in output.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let [rank, what @ .., times, bytes] = &words[..] else { continue };
        if let (Ok(rank), Ok(times), Ok(bytes)) = (rank.parse(), times.parse(), bytes.parse())
            && !what.is_empty()
        {
            ranks.entry(rank).or_default().insert(what.join(" "), (times, bytes));
        }
    }
    ranks
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Standard => "send",
        Mode::Synchronous => "synchronous",
        Mode::Buffered => "buffered",
        Mode::Ready => "ready",
    }
}

fn operation_name(operation: Operation) -> Option<&'static str> {
    Some(match operation {
        Operation::Barrier => "barrier",
        Operation::Broadcast => "broadcast",
        Operation::Scatter => "scatter",
        Operation::Reduce => "reduce",
        Operation::Gather => "gather",
        Operation::AllReduce => "all-reduce",
        Operation::AllGather => "all-gather",
        Operation::AllToAll => "all-to-all",
        Operation::ReduceScatter => "reduce-scatter",
        Operation::Scan => "scan",
        Operation::ExclusiveScan => "exclusive scan",
        Operation::Neighbours => "neighbours",
        Operation::Make => "make",
        Operation::Fence => "fence",
        Operation::Initialise | Operation::Finalise => return None,
    })
}

fn transfer_name(kind: TransferKind) -> &'static str {
    match kind {
        TransferKind::Put => "put",
        TransferKind::Get => "get",
        TransferKind::Accumulate => "accumulate",
    }
}

fn synchronisation_name(how: Synchronisation) -> &'static str {
    match how {
        Synchronisation::Post(_) => "post",
        Synchronisation::Start(_) => "start",
        Synchronisation::Complete => "complete",
        Synchronisation::Wait => "wait",
        Synchronisation::Lock { exclusive: true, .. } => "lock exclusive",
        Synchronisation::Lock { exclusive: false, .. } => "lock shared",
        Synchronisation::Unlock(_) => "unlock",
        Synchronisation::LockAll => "lock all",
        Synchronisation::UnlockAll => "unlock all",
        Synchronisation::Flush(_) => "flush",
    }
}
