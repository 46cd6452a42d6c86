//! Event logs: what is written is read again, and nothing else is ever read than what can be said of the bytes.

use falloff_format::events::{
    Coder, CommunicatorRecord, Decoder, FunctionRecord, GroupRecord, ITEM_MAX, Item, Message, Mode,
    Operation, Ranks, SCOPE_COMMUNICATOR, Synchronisation, TopologyRecord, TransferKind, encode_ranks,
    numbers, put,
};
use falloff_format::read::{Error, Record};
use falloff_format::records::Kind;
use falloff_format::write::{Records, Writer, header};
use falloff_format::{Measurement, NodeId};
use proptest::prelude::*;
use zerocopy::IntoBytes;

fn packed(items: &[Item]) -> Vec<u8> {
    let mut coder = Coder::new();
    let mut bytes = Vec::new();
    for item in items {
        let mut room = [0; ITEM_MAX];
        let length = coder.encode(item, &mut room).unwrap();
        bytes.extend_from_slice(&room[..length]);
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Vec<Item> {
    Decoder::new(bytes, 0).map(Result::unwrap).collect()
}

/// A number of any size, small ones more often.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift)
}

fn rank() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..8, any::<u32>()]
}

fn tag() -> impl Strategy<Value = i32> {
    prop_oneof![-2i32..8, any::<i32>()]
}

fn choice<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn synchronisation() -> impl Strategy<Value = Synchronisation> {
    use Synchronisation::*;
    (rank(), any::<bool>()).prop_flat_map(|(target, exclusive)| {
        prop::sample::select(vec![
            Post(target),
            Start(target),
            Complete,
            Wait,
            Lock { target, exclusive },
            Unlock(target),
            LockAll,
            UnlockAll,
            Flush(Some(target)),
            Flush(None),
        ])
    })
}

fn item() -> impl Strategy<Value = Item> {
    let message = (rank(), tag(), number()).prop_map(|(from, tag, bytes)| Message { from, tag, bytes });
    prop_oneof![
        (any::<u16>(), 0u16..4, rank(), number()).prop_map(|(function, section, context, at_ns)| {
            Item::Enter { function, section, context: NodeId(context), at_ns }
        }),
        (number(), choice(Mode::ALL), rank(), tag(), rank(), number()).prop_map(
            |(post, mode, to, tag, communicator, bytes)| Item::Send {
                post,
                mode,
                to,
                tag,
                communicator,
                bytes
            }
        ),
        (number(), prop::option::of(rank()), prop::option::of(tag()), rank())
            .prop_map(|(post, from, tag, communicator)| Item::Receive { post, from, tag, communicator }),
        (number(), choice(Operation::ALL), rank(), number(), prop::option::of(rank()), number(), number())
            .prop_map(|(post, operation, communicator, sequence, root, sent, received)| Item::Collective {
                post,
                operation,
                communicator,
                sequence,
                root,
                sent,
                received
            }),
        (choice(TransferKind::ALL), rank(), rank(), number())
            .prop_map(|(kind, window, target, bytes)| Item::Transfer { kind, window, target, bytes }),
        (rank(), synchronisation()).prop_map(|(window, how)| Item::Synchronise { window, how }),
        (number(), prop::option::of(message), any::<bool>())
            .prop_map(|(post, message, void)| Item::Complete { post, message, void }),
        number().prop_map(|at_ns| Item::Leave { at_ns }),
    ]
}

proptest! {
    #[test]
    fn items_come_back(items in prop::collection::vec(item(), 0..40)) {
        prop_assert_eq!(unpacked(&packed(&items)), items);
    }

    #[test]
    fn what_is_cut_short_gives_its_beginning(items in prop::collection::vec(item(), 1..12), cut in any::<prop::sample::Index>()) {
        let bytes = packed(&items);
        let cut = cut.index(bytes.len());
        let whole: Vec<_> = Decoder::new(&bytes[..cut], 0).take_while(Result::is_ok).map(Result::unwrap).collect();
        prop_assert!(items.starts_with(&whole) && whole.len() < items.len());
    }

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let items: Vec<_> = Decoder::new(&bytes, 7).collect();
        prop_assert!(items.len() <= bytes.len());
        // Only the last can be an error, and it names a place within.
        for item in items.iter().rev().skip(1) {
            prop_assert!(item.is_ok());
        }
        if let Some(Err(error)) = items.last() {
            prop_assert!(matches!(error, Error::Event(7..=206)), "{error}");
        }
    }

    #[test]
    fn lists_of_ranks_come_back(ranks in prop_oneof![
        prop::collection::vec(any::<u32>(), 0..40),
        prop::collection::vec(0u32..4, 0..40),
        (0u32..1000, 0u32..50, 1usize..100).prop_map(|(first, stride, n)| (0..n as u32).map(|i| first + i * stride).collect()),
    ]) {
        let mut bytes = vec![0; 30 * ranks.len() + 1];
        let length = encode_ranks(ranks.iter().copied(), &mut bytes).unwrap();
        prop_assert!(Ranks::new(&bytes[..length]).eq(ranks.iter().copied()));
    }

    #[test]
    fn any_bytes_as_ranks_end(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        // A run may be as long as it says; its ranks fit into 32 bits.
        prop_assert!(Ranks::new(&bytes).take(10_000).count() <= 10_000);
    }
}

/// A round of an exchange between neighbours, thousands of which make a log.
fn round(at_ns: u64, post: u64) -> [Item; 12] {
    let enter = |function, at_ns| Item::Enter {
        function,
        section: 1,
        context: NodeId(70_000 + u32::from(function)),
        at_ns,
    };
    let communicator = 2;
    [
        enter(20, at_ns),
        Item::Receive { post, from: Some(3), tag: Some(0), communicator },
        Item::Leave { at_ns: at_ns + 700 },
        enter(7, at_ns + 1_500),
        Item::Send { post: post + 1, mode: Mode::Standard, to: 1, tag: 0, communicator, bytes: 24_000 },
        Item::Complete { post: post + 1, message: None, void: false },
        Item::Leave { at_ns: at_ns + 5_000 },
        enter(31, at_ns + 6_000),
        Item::Complete { post, message: Some(Message { from: 3, tag: 0, bytes: 24_500 }), void: false },
        Item::Leave { at_ns: at_ns + 90_000 },
        enter(40, at_ns + 2_000_000),
        Item::Leave { at_ns: at_ns + 2_000_900 },
    ]
}

#[test]
fn a_call_takes_few_bytes() {
    let items: Vec<Item> = (0..1000).flat_map(|n| round(1_000_000_000 + n * 3_000_000, 2 * n)).collect();
    let bytes = packed(&items);
    let calls = items.iter().filter(|item| matches!(item, Item::Leave { .. })).count();
    assert!(bytes.len() <= 12 * calls, "{} bytes for {calls} calls", bytes.len());
    // A blocking send: when, to whom, how much, done, how long.
    let send = packed(&round(1_000_000, 0)[3..7]).len() - packed(&round(1_000_000, 0)[3..4]).len();
    assert!(send <= 16, "{send}");
}

#[test]
fn ranges_take_few_bytes() {
    let mut bytes = [0; 16];
    assert_eq!(encode_ranks(0..16_384, &mut bytes), Some(5));
    assert_eq!(encode_ranks(std::iter::empty(), &mut bytes), Some(0));
    assert_eq!(encode_ranks([5, 5_000, 7].into_iter(), &mut bytes[..3]), None);
    assert_eq!(Ranks::new(&[0, 1, 5]).count(), 1, "a run below zero ends");
    assert_eq!(Ranks::new(&[0, 2, 0]).count(), 0, "an empty run ends the list");
}

/// Two threads, the second in two chunks of which the call in between is in both.
fn file() -> Vec<u8> {
    let mut writer = Writer::new();
    let mut records = Records::default();
    let (mut ranks, mut row, mut at) = ([0; 16], [0; 16], 0);
    let length = encode_ranks(0..4, &mut ranks).unwrap();
    [4, 1, 2, 1, 3].into_iter().for_each(|number| put(&mut row, &mut at, number).unwrap());
    records.push(Kind::Function, FunctionRecord { number: 7, reserved: 0 }.as_bytes(), &[b"MPI_Send"]);
    records.push(Kind::Group, GroupRecord { id: 1, size: 4, members: 9 }.as_bytes(), &[&ranks[..length]]);
    let world = CommunicatorRecord {
        id: 1,
        scope: SCOPE_COMMUNICATOR,
        group: 1,
        others: 0,
        ordinal: 0,
        rank: 2,
        parent: 0,
        reserved: 0,
    };
    records.push(Kind::EventCommunicator, world.as_bytes(), &[]);
    let topology = TopologyRecord { communicator: 1, dimensions: 1, sources: 1, destinations: 1 };
    records.push(Kind::Topology, topology.as_bytes(), &[&row[..at]]);
    writer.records(&records);
    writer.events(0, &round(1_000, 0));
    writer.events(1, &round(5_000, 2)[..5]);
    writer.events(1, &round(5_000, 2)[5..]);
    writer.finish(header())
}

#[test]
fn logs_are_read_by_thread() {
    let bytes = file();
    let measurement = Measurement::parse(&bytes).unwrap();
    let log = |owner| measurement.events(owner).collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(log(0), round(1_000, 0));
    assert_eq!(log(1), round(5_000, 2));
    assert_eq!(log(2), []);
    let records: Vec<_> = measurement.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 4);
    assert!(matches!(records[0], Record::Function(FunctionRecord { number: 7, .. }, b"MPI_Send")));
    let Record::Group(GroupRecord { size: 4, .. }, ranks) = records[1] else { panic!("{:?}", records[1]) };
    assert!(Ranks::new(ranks).eq(0..4));
    assert!(matches!(records[2], Record::EventCommunicator(CommunicatorRecord { id: 1, rank: 2, .. })));
    let Record::Topology(TopologyRecord { dimensions: 1, .. }, row) = records[3] else {
        panic!("{:?}", records[3])
    };
    assert!(numbers(row).eq([4, 1, 2, 1, 3]));
}

#[test]
fn a_damaged_event_ends_its_chunk_only() {
    let mut bytes = file();
    let place = {
        let measurement = Measurement::parse(&bytes).unwrap();
        let first = measurement.chunks().map(Result::unwrap).find(|c| c.header.owner == 1).unwrap();
        first.offset as usize + 32
    };
    bytes[place] = 0x0f;
    let measurement = Measurement::parse(&bytes).unwrap();
    let log: Vec<_> = measurement.events(1).collect();
    assert_eq!(log[0], Err(Error::Event(place as u64)));
    assert!(log[1..].iter().all(Result::is_ok) && log.len() == 8);
    assert_eq!(measurement.events(0).filter(Result::is_ok).count(), 12);
}
