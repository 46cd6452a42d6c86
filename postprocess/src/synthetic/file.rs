//! Measurement files.

use std::collections::BTreeSet;
use std::path::Path;

use falloff_format::chunk::{CHUNK_HEADER_LEN, CHUNK_VERSION, ChunkHeader, Kind as ChunkKind, NO_OWNER};
use falloff_format::header::{BYTE_ORDER, HEADER_LEN, Header, MAGIC, MAJOR, MINOR, NO_RANK, STATE_ENDED};
use falloff_format::node::{NODE_KEY_LEN, NodeKey, node_len};
use falloff_format::read::CLAIM_UNIT;
use falloff_format::records::{
    BUILD_ID_MAX, Kind, MetricRecord, ModuleRecord, THREAD_MAIN, ThreadRecord, Unit, encode, keys,
};
use falloff_format::{Frame, NodeId};
use rustc_hash::FxHashMap;
use zerocopy::{FromZeros, IntoBytes};

/// A process to be measured by nobody.
#[derive(Clone, Debug)]
pub(crate) struct Synthetic {
    pub run_id: &'static str,
    pub rank: Option<u32>,
    pub ranks: u32,
    pub pid: u32,
    pub state: u32,
    pub image: String,
    pub metrics: Vec<(&'static str, Unit)>,
    pub modules: Vec<SyntheticModule>,
    pub threads: Vec<SyntheticThread>,
    /// Bytes of hole after what is used.
    pub hole: usize,
    /// Callers stand in the file behind those that they call.
    pub callers_last: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SyntheticModule {
    pub path: String,
    pub build_id: Vec<u8>,
    pub flags: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SyntheticThread {
    pub nodes: Vec<SyntheticNode>,
    pub start_module: u16,
    /// Counters; what can be told from the rest is set when written.
    pub record: ThreadRecord,
}

/// A node whose parent is an earlier node of its thread.
#[derive(Clone, Debug)]
pub(crate) struct SyntheticNode {
    pub parent: Option<usize>,
    pub frame: Frame,
    pub values: Vec<u64>,
}

impl Default for Synthetic {
    fn default() -> Self {
        Synthetic {
            run_id: "run-1",
            rank: None,
            ranks: 0,
            pid: 100,
            state: STATE_ENDED,
            image: "/bin/prog".into(),
            metrics: vec![("cpu", Unit::Nanoseconds), ("samples", Unit::Count)],
            modules: vec![SyntheticModule { path: "/nowhere/prog".into(), ..SyntheticModule::default() }],
            threads: vec![SyntheticThread::default()],
            hole: 0,
            callers_last: false,
        }
    }
}

impl SyntheticThread {
    /// Adds a call path, outermost first, and charges the innermost frame.
    pub fn charge(&mut self, path: &[Frame], values: &[u64]) {
        let mut parent = None;
        for frame in path {
            let known = self.nodes.iter().position(|n| n.parent == parent && n.frame == *frame);
            parent = Some(known.unwrap_or_else(|| {
                self.nodes.push(SyntheticNode { parent, frame: *frame, values: vec![0; values.len()] });
                self.nodes.len() - 1
            }));
        }
        if let Some(node) = parent {
            self.nodes[node].values.iter_mut().zip(values).for_each(|(sum, v)| *sum += v);
        }
    }
}

impl Synthetic {
    /// Writes the file into a directory and gives its name.
    pub fn write(&self, dir: &Path) -> String {
        let name =
            format!("{}-host-{}-1-prog.falloff", self.rank.map_or("x".into(), |r| r.to_string()), self.pid);
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(dir.join(&name), self.bytes()).unwrap();
        name
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_LEN];
        chunk(&mut bytes, ChunkKind::Records, NO_OWNER, 0, &self.records());
        for (ordinal, thread) in self.threads.iter().enumerate() {
            self.nodes(&mut bytes, thread, ordinal as u32);
        }
        let header = self.header(bytes.len() as u64);
        bytes[..HEADER_LEN].copy_from_slice(header.as_bytes());
        bytes.resize(bytes.len() + self.hole, 0);
        bytes
    }

    fn header(&self, next: u64) -> Header {
        let mut header = Header::new_zeroed();
        header.magic = MAGIC;
        (header.major, header.minor, header.byte_order) = (MAJOR, MINOR, BYTE_ORDER);
        (header.header_len, header.page_size, header.machine) = (HEADER_LEN as u32, 4096, 62);
        header.metric_count = self.metrics.len() as u32;
        header.node_key_len = NODE_KEY_LEN as u32;
        header.state = self.state;
        (header.next, header.capacity) = (next, next + self.hole as u64);
        header.run_id[..self.run_id.len()].copy_from_slice(self.run_id.as_bytes());
        (header.pid, header.ppid) = (self.pid, 1);
        header.rank = self.rank.map_or(NO_RANK, |r| r as i32);
        header.ranks = self.ranks as i32;
        header.start_realtime_ns = 1_000_000_000;
        (header.start_monotonic_ns, header.end_monotonic_ns) = (5, 1_000_000_005);
        header
    }

    fn records(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let meta = [
            (keys::HOST, "host"),
            (keys::IMAGE, &self.image),
            (keys::ARGV, &self.image),
            (keys::ARGV, "arg"),
            (keys::CWD, "/nowhere"),
            (keys::RATE, "200"),
        ];
        for (key, value) in meta {
            put(&mut out, Kind::Meta, &[], &[key.as_bytes(), b"\0", value.as_bytes()]);
        }
        for (index, (name, unit)) in self.metrics.iter().enumerate() {
            let record =
                MetricRecord { index: index as u16, unit: *unit as u16, reserved: 0, period: 5_000_000 };
            put(&mut out, Kind::Metric, record.as_bytes(), &[name.as_bytes()]);
        }
        for (index, module) in self.modules.iter().enumerate() {
            let mut record = ModuleRecord::new_zeroed();
            (record.index, record.flags) = (index as u32 + 1, module.flags);
            let length = module.build_id.len().min(BUILD_ID_MAX);
            record.build_id[..length].copy_from_slice(&module.build_id[..length]);
            record.build_id_len = length as u32;
            put(&mut out, Kind::Module, record.as_bytes(), &[module.path.as_bytes()]);
        }
        for (ordinal, thread) in self.threads.iter().enumerate() {
            let mut record = thread.record;
            (record.ordinal, record.tid) = (ordinal as u32, self.pid + ordinal as u32);
            record.flags = if ordinal == 0 { THREAD_MAIN } else { 0 };
            record.start_frame = Frame::new(thread.start_module, 0).0;
            (record.samples, record.cpu_ns) = (self.total(thread, "samples"), self.total(thread, "cpu"));
            (record.started_ns, record.ended_ns) = (5, 1_000_000_005);
            record.name[..4].copy_from_slice(b"prog");
            put(&mut out, Kind::Thread, record.as_bytes(), &[]);
        }
        out
    }

    fn total(&self, thread: &SyntheticThread, metric: &str) -> u64 {
        let Some(index) = self.metrics.iter().position(|(name, _)| *name == metric) else { return 0 };
        thread.nodes.iter().filter_map(|n| n.values.get(index)).sum()
    }

    /// One chunk of callers, and one of charged nodes for each set of metrics. A node that is both is in two.
    fn nodes(&self, bytes: &mut Vec<u8>, thread: &SyntheticThread, owner: u32) {
        let mask = |n: &SyntheticNode| {
            (0..self.metrics.len())
                .filter(|m| n.values.get(*m).is_some_and(|v| *v > 0))
                .fold(0, |mask, m| mask | 1 << m)
        };
        let callers: BTreeSet<usize> = thread.nodes.iter().filter_map(|n| n.parent).collect();
        let mut chunks: Vec<(u64, Vec<usize>)> = vec![(0, callers.into_iter().collect())];
        for (index, node) in thread.nodes.iter().enumerate() {
            match chunks[1..].iter_mut().find(|(metrics, _)| *metrics == mask(node)) {
                Some((_, nodes)) => nodes.push(index),
                None => chunks.push((mask(node), vec![index])),
            }
        }
        chunks.retain(|(_, nodes)| !nodes.is_empty());
        if self.callers_last {
            chunks.reverse();
        }
        let mut ids: FxHashMap<usize, u32> = FxHashMap::default();
        let mut start = bytes.len();
        for (metrics, nodes) in &chunks {
            let first = start + CHUNK_HEADER_LEN;
            if *metrics == 0 {
                let id = |place| NodeId::from_offset((first + place * NODE_KEY_LEN) as u64).unwrap().0;
                ids.extend(nodes.iter().enumerate().map(|(place, node)| (*node, id(place))));
            }
            start = chunk_end(start, nodes.len() * node_len(*metrics));
        }
        for (metrics, nodes) in &chunks {
            let mut payload = Vec::new();
            for node in nodes.iter().map(|n| &thread.nodes[*n]) {
                let parent = node.parent.map_or(0, |p| ids[&p]);
                payload.extend_from_slice(
                    NodeKey { frame: node.frame, parent, section: 0, flags: 0 }.as_bytes(),
                );
                let carried = (0..self.metrics.len()).filter(|m| metrics >> m & 1 == 1);
                carried.for_each(|m| payload.extend_from_slice(&node.values[m].to_ne_bytes()));
            }
            chunk(bytes, ChunkKind::Nodes, owner, *metrics, &payload);
        }
    }
}

/// Where the next chunk ends.
fn chunk_end(start: usize, payload: usize) -> usize {
    (start + CHUNK_HEADER_LEN + payload).next_multiple_of(CLAIM_UNIT as usize)
}

fn chunk(bytes: &mut Vec<u8>, kind: ChunkKind, owner: u32, metrics: u64, payload: &[u8]) {
    let end = chunk_end(bytes.len(), payload.len());
    let header = ChunkHeader {
        kind: kind as u16,
        version: CHUNK_VERSION,
        owner,
        length: (end - bytes.len()) as u64,
        used: payload.len() as u64,
        metrics,
    };
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(payload);
    bytes.resize(end, 0);
}

fn put(out: &mut Vec<u8>, kind: Kind, fixed: &[u8], text: &[&[u8]]) {
    let mut buffer = vec![0; 4096 + fixed.len() + text.iter().map(|t| t.len()).sum::<usize>()];
    let length = encode(&mut buffer, kind, fixed, text).unwrap();
    out.extend_from_slice(&buffer[..length]);
}
