//! Writing a measurement file whole, where the process that is measured does not write it itself.
//!
//! ```
//! use falloff_format::write::{Node, Order, Writer, header};
//! use falloff_format::{Frame, Measurement, Pseudo};
//!
//! let mut writer = Writer::new();
//! let node = Node { parent: None, frame: Frame::pseudo(Pseudo::Unsampled), section: 0, values: vec![0, 7] };
//! writer.nodes(0, &[node], Order::CallersFirst);
//! let bytes = writer.finish(falloff_format::Header { pid: 1, metric_count: 2, ..header() });
//! assert_eq!(Measurement::parse(&bytes).unwrap().nodes().next().unwrap().unwrap().value(1), 7);
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use zerocopy::{FromZeros, IntoBytes};

use crate::chunk::{CHUNK_HEADER_LEN, CHUNK_VERSION, ChunkHeader, Kind as ChunkKind, NO_OWNER};
use crate::events::{Coder, ITEM_MAX, Item};
use crate::header::{BYTE_ORDER, HEADER_LEN, Header, MAGIC, MAJOR, MINOR, NO_RANK};
use crate::node::{Frame, NODE_KEY_LEN, NodeId, NodeKey, node_len};
use crate::read::CLAIM_UNIT;
use crate::records::{Kind, RECORD_HEADER_LEN, encode};
use crate::sections::Instance;

/// A node of a calling context tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index of the caller's node in the tree, an earlier one.
    pub parent: Option<usize>,
    /// Code or pseudo frame.
    pub frame: Frame,
    /// Section that its values belong to, 0 for none.
    pub section: u16,
    /// A value for each metric; what is zero takes no room.
    pub values: Vec<u64>,
}

/// Where callers stand in a file. Readers take either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Before those that they call.
    CallersFirst,
    /// Behind them.
    CallersLast,
}

/// A file that is being put together.
#[derive(Clone, Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// A file with nothing in it.
    pub fn new() -> Writer {
        Writer { bytes: vec![0; HEADER_LEN] }
    }

    /// Appends a chunk of records.
    pub fn records(&mut self, records: &Records) {
        self.chunk(ChunkKind::Records, NO_OWNER, 0, &records.bytes);
    }

    /// Appends the tree of the thread `owner`: one chunk of callers, and one of nodes with values for each set of metrics.
    /// A node that is both is in two. Nodes whose parent is not an earlier one become outermost frames.
    pub fn nodes(&mut self, owner: u32, nodes: &[Node], order: Order) {
        let callers: BTreeSet<usize> = nodes.iter().filter_map(|n| n.parent).collect();
        let mut charged: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, node) in nodes.iter().enumerate() {
            let metrics = metrics_of(node);
            if metrics != 0 || !callers.contains(&index) {
                charged.entry(metrics).or_default().push(index);
            }
        }
        let mut chunks: Vec<(u64, Vec<usize>)> = vec![(0, callers.into_iter().collect())];
        chunks.extend(charged);
        chunks.retain(|(_, nodes)| !nodes.is_empty());
        if order == Order::CallersLast {
            chunks.reverse();
        }
        let ids = self.ids(&chunks, nodes.len());
        for (metrics, chosen) in &chunks {
            let mut payload = Vec::with_capacity(chosen.len() * node_len(*metrics));
            for node in chosen.iter().filter_map(|n| nodes.get(*n)) {
                let parent = node.parent.and_then(|p| ids.get(p)).copied().unwrap_or(0);
                let section = if *metrics == 0 { 0 } else { node.section };
                payload
                    .extend_from_slice(NodeKey { frame: node.frame, parent, section, flags: 0 }.as_bytes());
                let carried = (0u32..).zip(&node.values).filter(|(m, _)| metrics >> m & 1 == 1);
                carried.for_each(|(_, value)| payload.extend_from_slice(&value.to_ne_bytes()));
            }
            self.chunk(ChunkKind::Nodes, owner, *metrics, &payload);
        }
    }

    /// Appends when the thread `owner` was in sections.
    pub fn instances(&mut self, owner: u32, instances: &[Instance]) {
        self.chunk(ChunkKind::Instances, owner, 0, instances.as_bytes());
    }

    /// Appends a part of the event log of the thread `owner`, as one chunk.
    pub fn events(&mut self, owner: u32, items: &[Item]) {
        let mut coder = Coder::new();
        let mut payload = Vec::new();
        for item in items {
            let mut room = [0; ITEM_MAX];
            let length = coder.encode(item, &mut room).unwrap_or(0);
            payload.extend_from_slice(room.get(..length).unwrap_or(&[]));
        }
        self.chunk(ChunkKind::Events, owner, 0, &payload);
    }

    /// The ids that callers will have, 0 for nodes that call nothing.
    fn ids(&self, chunks: &[(u64, Vec<usize>)], nodes: usize) -> Vec<u32> {
        let mut ids = vec![0; nodes];
        let mut start = self.bytes.len();
        for (metrics, chosen) in chunks {
            for (place, node) in chosen.iter().enumerate().filter(|_| *metrics == 0) {
                let offset = start + CHUNK_HEADER_LEN + place * NODE_KEY_LEN;
                if let (Some(slot), Some(id)) = (ids.get_mut(*node), NodeId::from_offset(offset as u64)) {
                    *slot = id.0;
                }
            }
            start = chunk_end(start, chosen.len() * node_len(*metrics));
        }
        ids
    }

    fn chunk(&mut self, kind: ChunkKind, owner: u32, metrics: u64, payload: &[u8]) {
        let end = chunk_end(self.bytes.len(), payload.len());
        let header = ChunkHeader {
            kind: kind as u16,
            version: CHUNK_VERSION,
            owner,
            length: (end - self.bytes.len()) as u64,
            used: payload.len() as u64,
            metrics,
        };
        self.bytes.extend_from_slice(header.as_bytes());
        self.bytes.extend_from_slice(payload);
        self.bytes.resize(end, 0);
    }

    /// The file. Its length goes into the header, which has everything else already.
    pub fn finish(mut self, header: Header) -> Vec<u8> {
        let length = self.bytes.len() as u64;
        let header = Header { capacity: length, next: length, ..header };
        if let Some(start) = self.bytes.get_mut(..HEADER_LEN) {
            start.copy_from_slice(header.as_bytes());
        }
        self.bytes
    }
}

/// A header of this version about no process yet.
pub fn header() -> Header {
    Header {
        magic: MAGIC,
        major: MAJOR,
        minor: MINOR,
        byte_order: BYTE_ORDER,
        header_len: HEADER_LEN as u32,
        page_size: 4096,
        node_key_len: NODE_KEY_LEN as u32,
        rank: NO_RANK,
        ..Header::new_zeroed()
    }
}

/// Records that are being put together.
#[derive(Clone, Debug, Default)]
pub struct Records {
    bytes: Vec<u8>,
}

impl Records {
    /// Appends a record.
    pub fn push(&mut self, kind: Kind, fixed: &[u8], text: &[&[u8]]) {
        let body = text.iter().fold(fixed.len(), |n, t| n + t.len());
        let start = self.bytes.len();
        self.bytes.resize(start + (RECORD_HEADER_LEN + body).next_multiple_of(8), 0);
        if let Some(room) = self.bytes.get_mut(start..) {
            encode(room, kind, fixed, text);
        }
    }

    /// Appends a META record.
    pub fn meta(&mut self, key: &str, value: &[u8]) {
        self.push(Kind::Meta, &[], &[key.as_bytes(), b"\0", value]);
    }
}

/// Metrics of which a node has a value, a bit for each.
fn metrics_of(node: &Node) -> u64 {
    (0u32..64).zip(&node.values).filter(|(_, v)| **v > 0).fold(0, |mask, (m, _)| mask | 1 << m)
}

/// Where a chunk that begins at `start` ends.
fn chunk_end(start: usize, payload: usize) -> usize {
    (start + CHUNK_HEADER_LEN + payload).next_multiple_of(CLAIM_UNIT as usize)
}
