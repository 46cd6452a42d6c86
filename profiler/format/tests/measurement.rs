//! Reading files that are whole, cut short and damaged.

use falloff_format::chunk::{CHUNK_HEADER_LEN, CHUNK_VERSION, ChunkHeader, Kind as ChunkKind, NO_OWNER};
use falloff_format::header::{BYTE_ORDER, HEADER_LEN, Header, MAGIC, MAJOR, MINOR, NO_RANK, STATE_RUNNING};
use falloff_format::node::{NODE_KEY_LEN, NodeKey};
use falloff_format::read::{Error, Record};
use falloff_format::records::{self, Kind, MetricRecord, ModuleRecord, ThreadRecord, Unit};
use falloff_format::{Frame, Measurement, NodeId, Pseudo};
use proptest::prelude::*;
use zerocopy::{FromZeros, IntoBytes};

const METRICS: usize = 2;

fn header() -> Header {
    let mut header = Header::new_zeroed();
    header.magic = MAGIC;
    (header.major, header.minor, header.byte_order) = (MAJOR, MINOR, BYTE_ORDER);
    header.header_len = HEADER_LEN as u32;
    header.node_key_len = NODE_KEY_LEN as u32;
    header.metric_count = METRICS as u32;
    header.state = STATE_RUNNING;
    header.rank = NO_RANK;
    header
}

fn chunk(kind: u16, length: usize, payload: &[u8]) -> Vec<u8> {
    let (length, used) = (length as u64, payload.len() as u64);
    let metrics = if kind == ChunkKind::Nodes as u16 { 0b11 } else { 0 };
    let head = ChunkHeader { kind, version: CHUNK_VERSION, owner: NO_OWNER, length, used, metrics };
    let mut bytes = [head.as_bytes(), payload].concat();
    bytes.resize(length as usize, 0);
    bytes
}

fn record(kind: Kind, fixed: &[u8], text: &[&[u8]]) -> Vec<u8> {
    let mut out = [0xaa; 512];
    let length = records::encode(&mut out, kind, fixed, text).unwrap();
    out[..length].to_vec()
}

fn node(frame: Frame, parent: u32, values: [u64; METRICS]) -> Vec<u8> {
    let key = NodeKey { frame, parent, section: 0, flags: 0 };
    [key.as_bytes(), values.as_bytes()].concat()
}

/// Header and records in the first page, a claimed page that was never begun, an unknown chunk, two nodes.
fn file() -> Vec<u8> {
    let metric = MetricRecord { index: 1, unit: Unit::Nanoseconds as u16, reserved: 0, period: 5_000_000 };
    let mut module = ModuleRecord::new_zeroed();
    module.index = 3;
    let mut thread = ThreadRecord::new_zeroed();
    thread.tid = 77;
    let records = [
        record(Kind::Meta, &[], &[b"host", b"\0", b"node-1"]),
        record(Kind::Metric, metric.as_bytes(), &[b"cpu"]),
        record(Kind::Module, module.as_bytes(), &[b"/bin/app"]),
        record(Kind::Thread, thread.as_bytes(), &[]),
    ]
    .concat();
    let root = NodeId::from_offset(3 * 4096 + CHUNK_HEADER_LEN as u64).unwrap();
    let nodes = [
        node(Frame::pseudo(Pseudo::Partial), 0, [0, 0]),
        node(Frame::new(3, 0x1234), root.0, [7, 35_000_000]),
    ]
    .concat();
    let mut header = header();
    header.next = 4 * 4096;
    [
        header.as_bytes(),
        &chunk(ChunkKind::Records as u16, 4096 - HEADER_LEN, &records),
        &[0; 4096],
        &chunk(999, 4096, b"from a later version"),
        &chunk(ChunkKind::Nodes as u16, 4096, &nodes),
    ]
    .concat()
}

#[test]
fn everything_is_found() {
    let bytes = file();
    let file = Measurement::parse(&bytes).unwrap();
    let records: Vec<_> = file.records().collect::<Result<_, _>>().unwrap();
    assert!(matches!(records[0], Record::Meta(b"host", b"node-1")));
    assert!(matches!(records[1], Record::Metric(m, b"cpu") if m.period == 5_000_000));
    assert!(matches!(records[2], Record::Module(m, b"/bin/app") if m.index == 3));
    assert!(matches!(records[3], Record::Thread(t) if t.tid == 77));
    assert_eq!(records.len(), 4);
    let nodes: Vec<_> = file.nodes().collect::<Result<_, _>>().unwrap();
    assert_eq!(nodes.len(), 2);
    assert_eq!(nodes[0].key.frame.as_pseudo(), Some(Pseudo::Partial));
    assert_eq!(nodes[1].key.parent, nodes[0].id.0);
    assert_eq!((nodes[1].value(0), nodes[1].value(1), nodes[1].value(2)), (7, 35_000_000, 0));
    assert_eq!(file.missing_bytes(), 0);
}

#[test]
fn errors_say_what_is_wrong() {
    let parse = |bytes: &[u8]| Measurement::parse(bytes).err();
    assert_eq!(parse(b""), Some(Error::TooShort(0)));
    assert_eq!(parse(b"FALLOFF\n and no more"), Some(Error::TooShort(20)));
    assert_eq!(parse(b"#!/bin/sh"), Some(Error::NotAMeasurement));
    assert_eq!(parse(&[0; 4096]), Some(Error::NotAMeasurement));
    let with = |change: &dyn Fn(&mut Header)| {
        let mut header = header();
        change(&mut header);
        parse(header.as_bytes())
    };
    assert_eq!(with(&|h| h.major = 9), Some(Error::Version(9)));
    assert_eq!(with(&|h| h.byte_order = BYTE_ORDER.swap_bytes()), Some(Error::ByteOrder));
    assert_eq!(with(&|h| h.metric_count = 1 << 30), Some(Error::Header("metric_count")));
    assert_eq!(with(&|h| h.node_key_len = 8), Some(Error::Header("node_key_len")));
    assert_eq!(with(&|h| h.header_len = 4), Some(Error::Header("header_len")));
    assert_eq!(with(&|h| h.minor = 7), None, "a later minor is read");
    assert_eq!(Error::Chunk(4096).to_string(), "damaged chunk at offset 4096");
}

#[test]
fn a_damaged_chunk_costs_itself_only() {
    let mut bytes = file();
    let unknown_at = 2 * 4096;
    bytes[unknown_at + 8..unknown_at + 16].copy_from_slice(&5u64.to_ne_bytes());
    let file = Measurement::parse(&bytes).unwrap();
    assert_eq!(file.records().filter(Result::is_ok).count(), 4);
    assert_eq!(file.nodes().filter(Result::is_ok).count(), 2, "the chunk behind it is found again");
    let errors: Vec<_> = file.chunks().filter_map(Result::err).collect();
    assert_eq!(errors, [Error::Chunk(unknown_at as u64)]);
}

#[test]
fn a_damaged_length_ends_the_walk() {
    let mut bytes = file();
    let at = 2 * 4096u64;
    // One that would lead back to the first chunk, if it were added without care.
    let back = (HEADER_LEN as u64).wrapping_sub(at);
    bytes[at as usize + 8..at as usize + 16].copy_from_slice(&back.to_ne_bytes());
    let file = Measurement::parse(&bytes).unwrap();
    let bound = bytes.len();
    assert!(file.chunks().take(bound).count() < bound);
}

#[test]
fn a_damaged_record_is_named() {
    let mut bytes = file();
    let second = HEADER_LEN + CHUNK_HEADER_LEN + record(Kind::Meta, &[], &[b"host", b"\0", b"node-1"]).len();
    bytes[second + 4..second + 8].copy_from_slice(&u32::MAX.to_ne_bytes());
    let file = Measurement::parse(&bytes).unwrap();
    let records: Vec<_> = file.records().collect();
    assert!(records[0].is_ok());
    assert_eq!(records[1].as_ref().err(), Some(&Error::Record(second as u64)));
    assert_eq!(file.nodes().filter(Result::is_ok).count(), 2);
}

#[test]
fn a_record_that_does_not_fit_is_not_written() {
    assert_eq!(records::encode(&mut [0; 16], Kind::Meta, &[], &[b"key", b"\0", b"a long value"]), None);
}

proptest! {
    #[test]
    fn records_come_back(key in "[a-z]{1,20}", value in "\\PC{0,80}") {
        let payload = record(Kind::Meta, &[], &[key.as_bytes(), b"\0", value.as_bytes()]);
        let mut header = header();
        header.next = 4096;
        let bytes = [header.as_bytes(), &chunk(1, 4096 - HEADER_LEN, &payload)].concat();
        let file = Measurement::parse(&bytes).unwrap();
        let all: Vec<_> = file.records().collect();
        let came_back = matches!(all[..], [Ok(Record::Meta(k, v))] if k == key.as_bytes() && v == value.as_bytes());
        prop_assert!(came_back);
    }

    #[test]
    fn any_damage_is_survived(
        changes in prop::collection::vec((0usize..16_384, any::<u8>()), 1..40),
        length in 0usize..=16_384,
    ) {
        let mut bytes = file();
        for (at, value) in changes {
            bytes[at] = value;
        }
        bytes.truncate(length);
        if let Ok(file) = Measurement::parse(&bytes) {
            let bound = bytes.len() + 16;
            prop_assert!(file.chunks().take(bound).count() < bound);
            prop_assert!(file.records().take(bound).count() < bound);
            for node in file.nodes().take(bound).flatten() {
                prop_assert!(node.id.offset() < bytes.len() as u64);
            }
        }
    }

    #[test]
    fn frames_keep_their_parts(module in any::<u16>(), offset in 0u64..1 << 48) {
        let frame = Frame::new(module, offset);
        prop_assert_eq!((frame.module(), frame.offset()), (module, offset));
    }
}
