//! Decoding one measurement into a process with its threads and call path nodes.

use std::path::Path;

use falloff_format::header::{Header, NO_RANK, STATE_ENDED};
use falloff_format::node::{PSEUDO_MODULE, UNLISTED_MODULE};
use falloff_format::read::Record;
use falloff_format::records::{
    BUILD_ID_MAX, MODULE_EXECUTABLE, MODULE_VDSO, ModuleRecord, THREAD_MAIN, ThreadRecord, keys,
};
use falloff_format::{Frame, Measurement, Pseudo, header, records};
use rustc_hash::FxHashMap;

use super::process::{Code, ModuleKey, Node, Process};
use super::source::{Source, text_of};
use crate::database::{Location, Metric, ProcessState, Unit};
use crate::helpers::starts_helpers;

/// Decodes what is there; what is damaged becomes a warning.
pub(crate) fn decode(source: &Source) -> Process {
    match source.measurement() {
        Some(measurement) => Decoder::new(&source.name, &measurement).run(&measurement),
        None => Process::default(),
    }
}

struct Decoder<'a> {
    name: &'a str,
    header: Header,
    process: Process,
    /// By index of the file's metric: index in `process.metrics`.
    metrics: Vec<Option<usize>>,
    /// By module index of the file's frames: index in `process.modules`.
    modules: FxHashMap<u16, u32>,
    /// By ordinal of the thread: index in `process.locations`.
    threads: FxHashMap<u32, u32>,
    host: String,
    image: String,
    cwd: String,
    clock: String,
    argv: Vec<String>,
}

impl<'a> Decoder<'a> {
    fn new(name: &'a str, measurement: &Measurement) -> Decoder<'a> {
        Decoder {
            name,
            header: *measurement.header(),
            process: Process::default(),
            metrics: Vec::new(),
            modules: FxHashMap::default(),
            threads: FxHashMap::default(),
            host: String::new(),
            image: String::new(),
            cwd: String::new(),
            clock: String::new(),
            argv: Vec::new(),
        }
    }

    fn warn(&mut self, sentence: impl Into<String>) {
        self.process.warnings.add(self.name, sentence);
    }

    fn run(mut self, measurement: &Measurement) -> Process {
        self.check_header(measurement.missing_bytes());
        let (mut modules, mut threads, mut metrics) = (Vec::new(), Vec::new(), Vec::new());
        for record in measurement.records() {
            match record {
                Ok(Record::Meta(key, value)) => self.meta(key, value),
                Ok(Record::Metric(metric, name)) => metrics.push((metric, text_of(name))),
                Ok(Record::Module(module, path)) => modules.push((module, text_of(path))),
                Ok(Record::Thread(thread)) => threads.push(thread),
                Err(error) => self.warn(format!("{error}; what it held is missing")),
            }
        }
        self.add_metrics(&metrics);
        for (module, path) in modules {
            self.add_module(&module, path);
        }
        threads.sort_by_key(|t| t.ordinal);
        for thread in &threads {
            self.add_thread(thread);
        }
        self.nodes(measurement);
        if self.process.locations.is_empty() {
            self.location_of(0);
        }
        self.process
    }

    fn check_header(&mut self, missing_bytes: u64) {
        let (refused, untimed) = (self.header.refused, self.header.untimed_threads);
        if missing_bytes > 0 {
            self.warn(format!("cut short: {missing_bytes} bytes at the end are missing"));
        }
        if refused > 0 {
            self.warn(format!(
                "{refused} pieces found no room (full disk or a size limit): their samples are missing"
            ));
        }
        if untimed > 0 {
            self.warn(format!("{untimed} threads could get no timer: they have no samples"));
        }
    }

    fn meta(&mut self, key: &[u8], value: &[u8]) {
        let value = String::from_utf8_lossy(value).into_owned();
        match std::str::from_utf8(key).unwrap_or_default() {
            keys::HOST => self.host = value,
            keys::IMAGE => self.image = value,
            keys::CWD => self.cwd = value,
            keys::CLOCK => self.clock = value,
            keys::ARGV => self.argv.push(value),
            keys::WARNING => self.warn(value),
            _ => {}
        }
    }

    fn add_metrics(&mut self, metrics: &[(records::MetricRecord, String)]) {
        for index in 0..self.header.metric_count as usize {
            let record = metrics.iter().find(|(m, _)| usize::from(m.index) == index);
            let known = record.and_then(|(m, name)| Some(Metric { unit: unit(m.unit)?, name: name.clone() }));
            let place = known.map(|metric| {
                let known = self.process.metrics.iter().position(|m| m.name == metric.name);
                known.unwrap_or_else(|| {
                    self.process.metrics.push(metric);
                    self.process.metrics.len() - 1
                })
            });
            if place.is_none() {
                self.warn(format!("metric {index} has no name or unit: its values are left out"));
            }
            self.metrics.push(place);
        }
    }

    fn add_module(&mut self, record: &ModuleRecord, path: String) {
        let Ok(index) = u16::try_from(record.index) else { return };
        let executable = record.flags & MODULE_EXECUTABLE != 0;
        let path = if path.is_empty() && executable { self.image.clone() } else { path };
        let vdso = record.flags & MODULE_VDSO != 0;
        let path = if path.starts_with('/') || path.is_empty() || vdso {
            path
        } else {
            Path::new(&self.cwd).join(path).to_string_lossy().into_owned()
        };
        let length = (record.build_id_len as usize).min(BUILD_ID_MAX);
        let key = ModuleKey { path, build_id: record.build_id[..length].to_vec(), vdso };
        let place = self.process.modules.iter().position(|m| *m == key).unwrap_or_else(|| {
            self.process.modules.push(key);
            self.process.modules.len() - 1
        });
        self.modules.insert(index, place as u32);
    }

    fn add_thread(&mut self, thread: &ThreadRecord) {
        if self.threads.contains_key(&thread.ordinal) {
            return;
        }
        let start = match self.code(Frame(thread.start_frame)) {
            Code::Module { module, .. } => self.process.modules[module as usize].file_name(),
            _ => "",
        };
        let end = if thread.ended_ns != 0 { thread.ended_ns } else { self.header.end_monotonic_ns };
        let location = Location {
            ordinal: thread.ordinal,
            tid: thread.tid,
            thread: text_of(&thread.name),
            main: thread.flags & THREAD_MAIN != 0,
            helper: starts_helpers(start),
            wall_ns: end.saturating_sub(thread.started_ns),
            cpu_ns: thread.cpu_ns.saturating_sub(thread.cpu_start_ns),
            handler_ns: thread.handler_ns,
            samples: thread.samples,
            dropped: thread.dropped,
            partial: thread.partial,
            truncated: thread.truncated,
            overruns: thread.overruns,
            ..self.unknown_thread(thread.ordinal)
        };
        self.add_location(location);
    }

    /// Location of a thread, made up if the file has no record of it.
    fn location_of(&mut self, ordinal: u32) -> u32 {
        match self.threads.get(&ordinal) {
            Some(location) => *location,
            None => self.add_location(self.unknown_thread(ordinal)),
        }
    }

    fn add_location(&mut self, location: Location) -> u32 {
        let place = self.process.locations.len() as u32;
        self.threads.insert(location.ordinal, place);
        self.process.locations.push(location);
        place
    }

    fn unknown_thread(&self, ordinal: u32) -> Location {
        let header = &self.header;
        let image = match (self.image.is_empty(), self.argv.first()) {
            (true, Some(program)) => program.clone(),
            _ => self.image.clone(),
        };
        Location {
            rank: (header.rank != NO_RANK).then(|| u32::try_from(header.rank).ok()).flatten(),
            host: self.host.clone(),
            start_ns: header.start_realtime_ns,
            pid: header.pid,
            ordinal,
            tid: if ordinal == 0 { header.pid } else { 0 },
            ppid: header.ppid,
            ranks: u32::try_from(header.ranks).unwrap_or(0),
            image,
            argv: self.argv.clone(),
            thread: String::new(),
            main: ordinal == 0,
            helper: false,
            state: if header.state == STATE_ENDED { ProcessState::Ended } else { ProcessState::Killed },
            forked: header.flags & header::FLAG_FORKED != 0,
            exec: false,
            clock: self.clock.clone(),
            wall_ns: 0,
            cpu_ns: 0,
            handler_ns: 0,
            samples: 0,
            dropped: 0,
            partial: 0,
            truncated: 0,
            overruns: 0,
        }
    }

    fn nodes(&mut self, measurement: &Measurement) {
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        let metric_count = self.process.metrics.len();
        let mut orphans = 0u64;
        for node in measurement.nodes() {
            let node = match node {
                Ok(node) => node,
                Err(error) => {
                    self.warn(format!("{error}; what it held is missing"));
                    continue;
                }
            };
            // A writer makes the caller's node first, so a parent that has not come yet is damage.
            let parent = match node.key.parent {
                0 => None,
                id => Some(places.get(&id).copied().unwrap_or_else(|| {
                    orphans += 1;
                    self.partial_root(node.owner)
                })),
            };
            let code = self.code(node.key.frame);
            let location = self.location_of(node.owner);
            places.insert(node.id.0, self.process.nodes.len() as u32);
            self.process.nodes.push(Node { parent, code, location });
            let first = self.process.values.len();
            self.process.values.resize(first + metric_count, 0);
            for (index, metric) in self.metrics.iter().enumerate() {
                if let Some(metric) = metric {
                    let sum = &mut self.process.values[first + metric];
                    *sum = sum.saturating_add(node.value(index));
                }
            }
        }
        if orphans > 0 {
            self.warn(format!("{orphans} call path nodes have lost their callers: they are under [partial]"));
        }
    }

    /// A node of its own for what has lost its callers.
    fn partial_root(&mut self, owner: u32) -> u32 {
        let place = self.process.nodes.len() as u32;
        let location = self.location_of(owner);
        self.process.nodes.push(Node { parent: None, code: Code::Pseudo(Pseudo::Partial), location });
        self.process.values.resize(self.process.values.len() + self.process.metrics.len(), 0);
        place
    }

    fn code(&self, frame: Frame) -> Code {
        match frame.module() {
            PSEUDO_MODULE => frame.as_pseudo().map_or(Code::Unknown, Code::Pseudo),
            UNLISTED_MODULE => Code::Unknown,
            index => match self.modules.get(&index) {
                Some(module) => Code::Module { module: *module, address: frame.offset() },
                None => Code::Unknown,
            },
        }
    }
}

fn unit(code: u16) -> Option<Unit> {
    match code {
        c if c == records::Unit::Count as u16 => Some(Unit::Count),
        c if c == records::Unit::Nanoseconds as u16 => Some(Unit::Nanoseconds),
        _ => None,
    }
}
