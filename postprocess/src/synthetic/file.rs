//! Measurement files.

use std::path::Path;

use falloff_format::Frame;
use falloff_format::header::{Header, NO_RANK, STATE_ENDED};
use falloff_format::records::{
    BUILD_ID_MAX, Kind, MetricRecord, ModuleRecord, THREAD_MAIN, ThreadRecord, Unit, keys,
};
pub(crate) use falloff_format::write::Node as SyntheticNode;
use falloff_format::write::{Order, Records, Writer, header};
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
                self.nodes.push(SyntheticNode {
                    parent,
                    frame: *frame,
                    section: 0,
                    values: vec![0; values.len()],
                });
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
        let mut writer = Writer::new();
        writer.records(&self.records());
        let order = if self.callers_last { Order::CallersLast } else { Order::CallersFirst };
        for (ordinal, thread) in (0..).zip(&self.threads) {
            writer.nodes(ordinal, &thread.nodes, order);
        }
        let mut bytes = writer.finish(self.header());
        bytes.resize(bytes.len() + self.hole, 0);
        bytes
    }

    fn header(&self) -> Header {
        let mut header = header();
        header.machine = 62;
        header.metric_count = self.metrics.len() as u32;
        header.state = self.state;
        header.run_id[..self.run_id.len()].copy_from_slice(self.run_id.as_bytes());
        (header.pid, header.ppid) = (self.pid, 1);
        header.rank = self.rank.map_or(NO_RANK, |r| r as i32);
        header.ranks = self.ranks as i32;
        header.start_realtime_ns = 1_000_000_000;
        (header.start_monotonic_ns, header.end_monotonic_ns) = (5, 1_000_000_005);
        header
    }

    fn records(&self) -> Records {
        let mut out = Records::default();
        let meta = [
            (keys::HOST, "host"),
            (keys::IMAGE, &self.image),
            (keys::ARGV, &self.image),
            (keys::ARGV, "arg"),
            (keys::CWD, "/nowhere"),
            (keys::RATE, "200"),
        ];
        for (key, value) in meta {
            out.meta(key, value.as_bytes());
        }
        for (index, (name, unit)) in self.metrics.iter().enumerate() {
            let record =
                MetricRecord { index: index as u16, unit: *unit as u16, reserved: 0, period: 5_000_000 };
            out.push(Kind::Metric, record.as_bytes(), &[name.as_bytes()]);
        }
        for (index, module) in self.modules.iter().enumerate() {
            let mut record = ModuleRecord::new_zeroed();
            (record.index, record.flags) = (index as u32 + 1, module.flags);
            let length = module.build_id.len().min(BUILD_ID_MAX);
            record.build_id[..length].copy_from_slice(&module.build_id[..length]);
            record.build_id_len = length as u32;
            out.push(Kind::Module, record.as_bytes(), &[module.path.as_bytes()]);
        }
        for (ordinal, thread) in self.threads.iter().enumerate() {
            let mut record = thread.record;
            (record.ordinal, record.tid) = (ordinal as u32, self.pid + ordinal as u32);
            record.flags = if ordinal == 0 { THREAD_MAIN } else { 0 };
            record.start_frame = Frame::new(thread.start_module, 0).0;
            (record.samples, record.cpu_ns) = (self.total(thread, "samples"), self.total(thread, "cpu"));
            (record.started_ns, record.ended_ns) = (5, 1_000_000_005);
            record.name[..4].copy_from_slice(b"prog");
            out.push(Kind::Thread, record.as_bytes(), &[]);
        }
        out
    }

    fn total(&self, thread: &SyntheticThread, metric: &str) -> u64 {
        let Some(index) = self.metrics.iter().position(|(name, _)| *name == metric) else { return 0 };
        thread.nodes.iter().filter_map(|n| n.values.get(index)).sum()
    }
}
