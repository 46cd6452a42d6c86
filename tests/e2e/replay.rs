//! Replays of real log files: laws that are known exactly.

use std::fs;

use falloff_format::events::{
    CommunicatorRecord, FunctionRecord, GroupRecord, Item, Message, Mode, SCOPE_COMMUNICATOR, encode_ranks,
};
use falloff_format::node::NodeId;
use falloff_format::records::{Kind, keys};
use falloff_format::sections::members_hash;
use falloff_format::write::{Records, Writer, header};
use serde_json::Value;
use zerocopy::IntoBytes;

use crate::support::{Workshop, bash, build_with, outcome, tools};

/// Writes the log of a rank of a ring in which all give to the next and get from the one before, `steps` times.
fn ring_log(rank: u32, ranks: u32, steps: u64) -> Vec<u8> {
    let mut records = Records::default();
    records.meta(keys::HOST, b"here");
    records.meta(keys::EVENTS, b"mpi");
    for (number, name) in [(0, "MPI_Send"), (1, "MPI_Recv")] {
        let function = FunctionRecord { number, reserved: 0 };
        records.push(Kind::Function, function.as_bytes(), &[name.as_bytes()]);
    }
    let members = (0..ranks).fold(u64::from(ranks), members_hash);
    let mut list = [0; 16];
    let length = encode_ranks(0..ranks, &mut list).unwrap();
    let group = GroupRecord { id: 1, size: ranks, members };
    records.push(Kind::Group, group.as_bytes(), &[&list[..length]]);
    let scope = SCOPE_COMMUNICATOR;
    let world =
        CommunicatorRecord { id: 1, scope, group: 1, others: 0, ordinal: 0, rank, parent: 0, reserved: 0 };
    records.push(Kind::EventCommunicator, world.as_bytes(), &[]);

    let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let mut items = Vec::new();
    for step in 0..steps {
        let (at, post) = (1_000 * step, 2 * step);
        let enter = |function, at_ns| Item::Enter { function, section: 0, context: NodeId(0), at_ns };
        items.extend([
            enter(0, at + 100),
            Item::Send { post, mode: Mode::Standard, to, tag: 0, communicator: 1, bytes: 8 },
            Item::Complete { post, message: None, void: false },
            Item::Leave { at_ns: at + 200 },
            enter(1, at + 200),
            Item::Receive { post: post + 1, from: Some(from), tag: Some(0), communicator: 1 },
            Item::Complete { post: post + 1, message: Some(Message { from, tag: 0, bytes: 8 }), void: false },
            Item::Leave { at_ns: at + 300 },
        ]);
    }
    // What is computed after the last step counts as well.
    items.extend([Item::Enter { function: 0, section: 0, context: NodeId(0), at_ns: 1_000 * steps + 100 }]);
    items.push(Item::Leave { at_ns: 1_000 * steps + 100 });
    let mut writer = Writer::new();
    writer.records(&records);
    writer.events(0, &items);
    let mut head = header();
    (head.rank, head.ranks, head.pid) = (rank as i32, ranks as i32, 1000 + rank);
    head.state = falloff_format::header::STATE_ENDED;
    writer.finish(head)
}

/// By how much each rank ends later in a case of a replay.
fn effects(replay: &Value, case: usize) -> Vec<i64> {
    let effects = replay["cases"][case]["effect_ns"].as_array().unwrap();
    effects.iter().map(|effect| effect.as_i64().unwrap()).collect()
}

#[test]
fn a_ring_of_128_ranks_loses_128_000_for_each_100_of_noise() {
    let shop = Workshop::shared();
    let measurements = shop.path("ring/measurements");
    fs::create_dir_all(&measurements).unwrap();
    for rank in 0..128 {
        fs::write(measurements.join(format!("{rank:06}.falloff")), ring_log(rank, 128, 1280)).unwrap();
    }
    let noise = "noise=0,100,200,300,400,500,600,700";
    let text = format!("\"$FALLOFF\" replay ring --sweep {noise} --format json");
    let replay = outcome(&mut bash(shop.dir(), &text)).expect_code(0).json();
    assert_eq!(replay["matching"]["messages"], 128 * 1280);
    assert_eq!(replay["matching"]["is_whole"], true);
    for case in 0..8 {
        assert_eq!(effects(&replay, case), vec![128_000 * case as i64; 128], "{case}");
    }
    // The same whatever the order of matching, and again.
    let again = outcome(&mut bash(shop.dir(), &text)).expect_code(0).json();
    assert_eq!(again["cases"], replay["cases"]);
}

#[test]
fn a_real_ring_of_8_ranks_obeys_the_law_of_constant_noise() {
    for mpi in ["openmpi", "mpich"] {
        if !tools::have(&[&format!("mpicc.{mpi}"), &format!("mpirun.{mpi}")]) {
            continue;
        }
        let shop = Workshop::shared();
        build_with(&shop, &format!("mpicc.{mpi} -O2"), "events/ring.c", &format!("ring-{mpi}"));
        let text = format!(
            "mpirun.{mpi} -n 8 \"$FALLOFF\" run --events mpi -o ring-run-{mpi} -- ./ring-{mpi} 50 && \
             \"$FALLOFF\" replay ring-run-{mpi} --network overhead=0,latency=0,gap=0,eager=1e9 \
             --sweep noise=100000000,200000000 --format json"
        );
        let replay = outcome(&mut bash(shop.dir(), &text)).expect_code(0).json();
        assert_eq!(replay["matching"]["messages"], 8 * 50);
        // Noise that is far longer than what differs between ranks: each step, and each call before the ring and after it, loses
        // it once. Twice the noise is exactly so much more.
        let (once, twice) = (effects(&replay, 0), effects(&replay, 1));
        let more: Vec<i64> = twice.iter().zip(&once).map(|(twice, once)| twice - once).collect();
        assert_eq!(more, vec![more[0]; 8], "{mpi}");
        assert_eq!(more[0] % 100_000_000, 0, "{mpi}: {}", more[0]);
        assert!(more[0] >= 2 * 50 * 100_000_000, "{mpi}: {}", more[0]);
    }
}
