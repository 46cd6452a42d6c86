//! The measurement file of one process.

use std::fs;
use std::io;
use std::path::Path;

use falloff_format::Frame;
use falloff_format::header::{Header, STATE_ENDED};
use falloff_format::records::{Kind, MetricRecord, ModuleRecord, THREAD_MAIN, ThreadRecord, Unit, keys};
use falloff_format::write::{Node, Order, Records, Writer, header};
use rayon::prelude::*;
use zerocopy::{FromZeros, IntoBytes};

use crate::Shape;

impl Shape {
    /// Writes the files of all processes into a directory.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let write =
            |location| fs::write(dir.join(format!("{location:06}-host-app.falloff")), self.file(location));
        (0..self.locations).into_par_iter().try_for_each(write)
    }

    /// The file of one process.
    pub fn file(&self, location: u32) -> Vec<u8> {
        let nodes = self.nodes(location);
        let mut writer = Writer::new();
        writer.records(&self.records(location, &nodes));
        writer.nodes(0, &nodes, Order::CallersFirst);
        writer.finish(self.header(location))
    }

    /// Contexts that have a cost at the location, and their callers.
    fn nodes(&self, location: u32) -> Vec<Node> {
        let costs: Vec<_> = (0..self.contexts).map(|context| self.cost(location, context)).collect();
        let mut held: Vec<bool> = costs.iter().map(Option::is_some).collect();
        for context in (0..self.contexts).rev().filter(|c| *c > 0) {
            if let (true, Some(caller)) = (held[context as usize], self.caller(context)) {
                held[caller as usize] = true;
            }
        }
        let mut places = vec![0; held.len()];
        let mut nodes = Vec::new();
        for context in (0..self.contexts).filter(|c| held[*c as usize]) {
            places[context as usize] = nodes.len();
            nodes.push(Node {
                parent: self.caller(context).map(|caller| places[caller as usize]),
                frame: Frame::new(1, Shape::address(context)),
                section: 0,
                values: costs[context as usize].map_or_else(Vec::new, Vec::from),
            });
        }
        nodes
    }

    fn header(&self, location: u32) -> Header {
        let mut header = header();
        (header.machine, header.metric_count, header.state) = (62, 2, STATE_ENDED);
        header.run_id[..9].copy_from_slice(b"generated");
        (header.pid, header.ppid) = (1000 + location, 1);
        (header.rank, header.ranks) = (location as i32, self.locations as i32);
        header.start_realtime_ns = 1_000_000_000;
        (header.start_monotonic_ns, header.end_monotonic_ns) = (5, 60_000_000_005);
        header
    }

    fn records(&self, location: u32, nodes: &[Node]) -> Records {
        let mut records = Records::default();
        let texts =
            [(keys::HOST, "host"), (keys::IMAGE, Shape::MODULE), (keys::ARGV, "app"), (keys::RATE, "200")];
        texts.iter().for_each(|(key, value)| records.meta(key, value.as_bytes()));
        for (index, (name, unit)) in (0..).zip([("cpu", Unit::Nanoseconds), ("samples", Unit::Count)]) {
            let metric = MetricRecord { index, unit: unit as u16, reserved: 0, period: 0 };
            records.push(Kind::Metric, metric.as_bytes(), &[name.as_bytes()]);
        }
        let module = ModuleRecord { index: 1, ..ModuleRecord::new_zeroed() };
        records.push(Kind::Module, module.as_bytes(), &[Shape::MODULE.as_bytes()]);
        let sum = |metric: usize| nodes.iter().filter_map(|n| n.values.get(metric)).sum();
        let thread = ThreadRecord {
            tid: 1000 + location,
            flags: THREAD_MAIN,
            cpu_ns: sum(0),
            samples: sum(1),
            started_ns: 5,
            ended_ns: 60_000_000_005,
            ..ThreadRecord::new_zeroed()
        };
        records.push(Kind::Thread, thread.as_bytes(), &[]);
        records
    }
}
