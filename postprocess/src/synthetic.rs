//! Measurement files and a database made up for tests.

use std::path::Path;

use falloff_format::chunk::{CHUNK_HEADER_LEN, CHUNK_VERSION, ChunkHeader, Kind as ChunkKind, NO_OWNER};
use falloff_format::header::{BYTE_ORDER, HEADER_LEN, Header, MAGIC, MAJOR, MINOR, NO_RANK, STATE_ENDED};
use falloff_format::node::{NODE_KEY_LEN, NodeKey, node_len};
use falloff_format::read::CLAIM_UNIT;
use falloff_format::records::{
    BUILD_ID_MAX, Kind, MetricRecord, ModuleRecord, THREAD_MAIN, ThreadRecord, Unit, encode, keys,
};
use falloff_format::{Frame, NodeId};
use zerocopy::{FromZeros, IntoBytes};

use crate::cct::{Scope, ScopeKind, TreeBuilder};
use crate::database::{
    Database, Location, Metric, Parts, ProcessState, Provenance, Unit as MetricUnit, Value,
};

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
        self.chunk(&mut bytes, ChunkKind::Records, NO_OWNER, &self.records());
        for (ordinal, thread) in self.threads.iter().enumerate() {
            let first = bytes.len() + CHUNK_HEADER_LEN;
            let nodes = self.nodes(thread, first);
            if !nodes.is_empty() {
                self.chunk(&mut bytes, ChunkKind::Nodes, ordinal as u32, &nodes);
            }
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
        header.node_len = node_len(self.metrics.len()) as u32;
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

    fn chunk(&self, bytes: &mut Vec<u8>, kind: ChunkKind, owner: u32, payload: &[u8]) {
        let end = (bytes.len() + CHUNK_HEADER_LEN + payload.len()).next_multiple_of(CLAIM_UNIT as usize);
        let header = ChunkHeader {
            kind: kind as u16,
            version: CHUNK_VERSION,
            owner,
            length: (end - bytes.len()) as u64,
            used: payload.len() as u64,
            reserved: 0,
        };
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(payload);
        bytes.resize(end, 0);
    }

    fn records(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let meta = [
            (keys::HOST, "host"),
            (keys::IMAGE, &self.image),
            (keys::ARGV, &self.image),
            (keys::ARGV, "arg"),
            (keys::CWD, "/nowhere"),
            (keys::CLOCK, "thread CPU timer, 5 ms"),
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
            let mut record = ThreadRecord::new_zeroed();
            (record.ordinal, record.tid) = (ordinal as u32, self.pid + ordinal as u32);
            record.flags = if ordinal == 0 { THREAD_MAIN } else { 0 };
            record.start_frame = Frame::new(thread.start_module, 0).0;
            record.samples = thread.nodes.iter().filter_map(|n| n.values.last()).sum();
            record.cpu_ns = thread.nodes.iter().filter_map(|n| n.values.first()).sum();
            (record.started_ns, record.ended_ns) = (5, 1_000_000_005);
            record.name[..4].copy_from_slice(b"prog");
            put(&mut out, Kind::Thread, record.as_bytes(), &[]);
        }
        out
    }

    fn nodes(&self, thread: &SyntheticThread, first: usize) -> Vec<u8> {
        let length = node_len(self.metrics.len());
        let id = |index: usize| NodeId::from_offset((first + index * length) as u64).unwrap().0;
        let mut out = Vec::with_capacity(thread.nodes.len() * length);
        for node in &thread.nodes {
            let key = NodeKey { frame: node.frame, parent: node.parent.map_or(0, id), section: 0, flags: 0 };
            out.extend_from_slice(&key.as_bytes()[..NODE_KEY_LEN]);
            (0..self.metrics.len())
                .for_each(|m| out.extend_from_slice(&node.values.get(m).copied().unwrap_or(0).to_ne_bytes()));
        }
        out
    }
}

fn put(out: &mut Vec<u8>, kind: Kind, fixed: &[u8], text: &[&[u8]]) {
    let mut buffer = vec![0; 4096 + fixed.len() + text.iter().map(|t| t.len()).sum::<usize>()];
    let length = encode(&mut buffer, kind, fixed, text).unwrap();
    out.extend_from_slice(&buffer[..length]);
}

/// A function of `solver.c` in module `app`.
pub(crate) fn function(name: &str, line: u32, call_line: Option<u32>) -> Scope {
    Scope {
        kind: ScopeKind::Function,
        name: name.into(),
        module: Some("app".into()),
        file: Some("/src/solver.c".into()),
        line: Some(line),
        call_line,
    }
}

/// A statement of `solver.c`.
pub(crate) fn statement(line: u32) -> Scope {
    Scope { kind: ScopeKind::Line, call_line: None, ..function(&format!("solver.c:{line}"), line, None) }
}

fn location(rank: u32) -> Location {
    Location {
        rank: Some(rank),
        host: "node".into(),
        start_ns: 1,
        pid: 100 + rank,
        ordinal: 0,
        tid: 100 + rank,
        ppid: 1,
        ranks: 3,
        image: "/bin/app".into(),
        argv: vec!["app".into(), "in;put".into()],
        thread: "app".into(),
        main: true,
        helper: false,
        state: if rank == 0 { ProcessState::Ended } else { ProcessState::Killed },
        forked: false,
        exec: false,
        clock: "thread CPU timer".into(),
        wall_ns: 5_000_000_000,
        cpu_ns: 4_000_000_000,
        handler_ns: 1_000_000,
        samples: 800,
        dropped: u64::from(rank),
        partial: 2,
        truncated: 0,
        overruns: 3,
    }
}

/// Two ranks of three: a recursive tree walk, an inlined kernel, a library without source, a worker thread's
/// root, a partial unwind and unsampled time.
pub(crate) fn database() -> Database {
    let mut tree = TreeBuilder::new();
    let main = tree.child(0, &function("main", 10, None));
    let solve = tree.child(main, &function("solve", 30, Some(12)));
    let kernel = tree.child(solve, &Scope { kind: ScopeKind::Inlined, ..function("kernel", 20, Some(33)) });
    let kernel_line = tree.child(kernel, &statement(22));
    let solve_line = tree.child(solve, &statement(35));
    let walk = tree.child(main, &function("walk", 50, Some(14)));
    let walk_again = tree.child(walk, &function("walk", 50, Some(53)));
    let walk_line = tree.child(walk, &statement(55));
    let walk_again_line = tree.child(walk_again, &statement(55));
    let library = Scope {
        module: Some("libmpi.so.40".into()),
        file: None,
        line: None,
        ..function("PMPI_Allreduce", 0, Some(36))
    };
    let reduce = tree.child(solve, &library);
    let unnamed = Scope { name: "libmpi.so.40+0x1f00".into(), call_line: None, ..library };
    let progress = tree.child(reduce, &unnamed);
    let partial = tree.child(0, &Scope::pseudo("[partial]"));
    let lost = tree.child(partial, &unnamed);
    let unsampled = tree.child(0, &Scope::pseudo("[unsampled]"));
    let threads = tree.child(0, &Scope::pseudo("<thread root>"));
    let worker = tree.child(threads, &function("worker", 70, None));
    let costs = [
        (kernel_line, [2_000_000_000, 1_900_000_400]),
        (solve_line, [300_000_000, 310_000_400]),
        (walk_line, [100_000_000, 90_000_000]),
        (walk_again_line, [200_000_000, 210_000_000]),
        (progress, [500_000_000, 700_000_000]),
        (lost, [10_000_000, 0]),
        (unsampled, [1_000_000, 2_000_300]),
        (worker, [400_000_000, 400_000_000]),
    ];
    let (tree, place) = tree.finish();
    let mut values: Vec<Value> = costs
        .iter()
        .flat_map(|(context, costs)| (0..).zip(costs).map(|(location, cost)| (*context, location, *cost)))
        .filter(|(.., cost)| *cost > 0)
        .flat_map(|(context, location, exclusive)| {
            let context = place[context as usize];
            [(0, exclusive), (1, exclusive / 5_000_000)].map(|(metric, exclusive)| Value {
                context,
                location,
                metric,
                exclusive,
            })
        })
        .filter(|v| v.exclusive > 0)
        .collect();
    values.sort();
    Database::from_parts(Parts {
        tree,
        metrics: vec![
            Metric { unit: MetricUnit::Nanoseconds, name: "cpu".into() },
            Metric { unit: MetricUnit::Count, name: "samples".into() },
        ],
        locations: vec![location(0), location(1)],
        values,
        modules: Vec::new(),
        warnings: vec!["libmpi.so.40: no names: the file is another build".into()],
        provenance: Provenance {
            run_id: "run-1".into(),
            command: vec!["app".into(), "in;put".into()],
            created: "1".into(),
            ..Provenance::default()
        },
    })
}
