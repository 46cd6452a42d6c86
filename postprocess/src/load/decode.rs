//! Decoding one measurement into a process with its threads and call path nodes.

use falloff_format::helpers::starts_helpers;
use falloff_format::node::{PSEUDO_MODULE, UNLISTED_MODULE};
use falloff_format::read::{self, Record};
use falloff_format::records::{
    BUILD_ID_MAX, MODULE_ANONYMOUS, MODULE_EXECUTABLE, MODULE_VDSO, ModuleRecord, THREAD_MAIN, ThreadRecord,
};
use falloff_format::{Frame, Measurement, Pseudo, records};
use rustc_hash::FxHashMap;

use super::about::About;
use super::order::{Caller, Link, callers_first};
use super::process::{Code, Cost, ModuleKey, Node, Origin, Process};
use super::sections::Gathered;
use super::source::{Source, text_of};
use crate::database::{Clocks, CpuClock, Drops, ITEM_END, Location, Metric, Partials, Unit, WaitClock};

/// Decodes what is there; what is damaged becomes a warning.
pub(crate) fn decode(source: &Source) -> Process {
    let lost = |reason: String| {
        let mut process = Process::default();
        process.warnings.add(&source.name, format!("left out: {reason}"));
        process
    };
    // It could be read when it was looked into.
    let content = match source.content() {
        Ok(content) => content,
        Err(error) => return lost(error.to_string()),
    };
    let measurement = match Measurement::parse(&content) {
        Ok(measurement) => measurement,
        Err(error) => return lost(error.to_string()),
    };
    let mut decoder = Decoder::new(source, &measurement);
    if let Some(fault) = &content.fault {
        decoder.warn(fault.as_str());
    }
    decoder.run(&measurement)
}

struct Decoder<'a> {
    name: &'a str,
    about: About,
    process: Process,
    /// By index of the file's metric: index in `process.metrics`.
    metrics: Vec<Option<u32>>,
    /// By module index of the file's frames: index in `process.modules`.
    modules: FxHashMap<u16, u32>,
    /// By ordinal of the thread: index in `process.locations`.
    threads: FxHashMap<u32, u32>,
    /// Calls are logged, which name nodes by their ids.
    is_logged: bool,
}

impl<'a> Decoder<'a> {
    fn new(source: &'a Source, measurement: &Measurement) -> Decoder<'a> {
        Decoder {
            name: &source.name,
            about: About::new(source, *measurement.header()),
            process: Process::default(),
            metrics: Vec::new(),
            modules: FxHashMap::default(),
            threads: FxHashMap::default(),
            is_logged: false,
        }
    }

    fn warn(&mut self, sentence: impl Into<String>) {
        self.process.warnings.add(self.name, sentence);
    }

    fn run(mut self, measurement: &Measurement) -> Process {
        self.check_header(measurement.missing_bytes());
        let (mut modules, mut threads, mut metrics) = (Vec::new(), Vec::new(), Vec::new());
        let mut sections = Gathered::default();
        for record in measurement.records() {
            match record {
                Ok(Record::Meta(key, value)) => self.about.note(key, value),
                Ok(Record::Metric(metric, name)) => metrics.push((metric, text_of(name))),
                Ok(Record::Module(module, path)) => modules.push((module, text_of(path))),
                Ok(Record::Thread(thread)) => threads.push(thread),
                Ok(Record::Section(section, label)) => sections.section(section, label),
                Ok(Record::Communicator(communicator)) => sections.communicator(communicator),
                Ok(Record::Dwell(dwell)) => sections.dwell(dwell),
                Ok(Record::Checkpoint(checkpoint)) => sections.checkpoint(checkpoint),
                // Of the event log, which `messages` reads.
                Ok(
                    Record::Function(..)
                    | Record::Group(..)
                    | Record::EventCommunicator(_)
                    | Record::Topology(..),
                ) => self.is_logged = true,
                Err(error) => self.warn(format!("{error}; what it held is missing")),
            }
        }
        for warning in std::mem::take(&mut self.about.warnings) {
            self.warn(warning);
        }
        self.add_metrics(&metrics);
        for (module, path) in modules {
            self.add_module(&module, path);
        }
        threads.sort_by_key(|t| t.ordinal);
        for thread in &threads {
            self.add_thread(thread);
        }
        let (sections, numbers) = sections.finish(measurement, &mut |sentence| self.warn(sentence));
        self.process.sections = sections;
        self.process.section_numbers = numbers;
        self.nodes(measurement);
        if self.process.locations.is_empty() {
            self.location_of(0);
        }
        self.process
    }

    fn check_header(&mut self, missing_bytes: u64) {
        let (refused, untimed) = (self.about.header.refused, self.about.header.untimed_threads);
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

    fn add_metrics(&mut self, metrics: &[(records::MetricRecord, String)]) {
        for index in 0..self.about.header.metric_count as usize {
            let record = metrics.iter().find(|(m, _)| usize::from(m.index) == index);
            let known = record.and_then(|(m, name)| Some(Metric::new(unit(m.unit)?, name.as_str())));
            let place = known.map(|metric| {
                let known = self.process.metrics.iter().position(|m| m.name == metric.name);
                known.unwrap_or_else(|| {
                    self.process.metrics.push(metric);
                    self.process.metrics.len() - 1
                }) as u32
            });
            if let Some((m, name)) = record
                && m.period > 0
            {
                self.about.periods.push((name.replace(ITEM_END, " "), m.period));
            }
            if place.is_none() {
                self.warn(format!("metric {index} has no name or unit: its values are left out"));
            }
            self.metrics.push(place);
        }
    }

    fn add_module(&mut self, record: &ModuleRecord, path: String) {
        let Ok(index) = u16::try_from(record.index) else { return };
        let (origin, path) = match record.flags {
            flags if flags & MODULE_VDSO != 0 => (Origin::Vdso, path),
            flags if flags & MODULE_ANONYMOUS != 0 => (Origin::Anonymous(Box::new(self.about.maker())), path),
            flags => (Origin::File, self.about.path(path, flags & MODULE_EXECUTABLE != 0)),
        };
        let length = (record.build_id_len as usize).min(BUILD_ID_MAX);
        let key = ModuleKey { path, build_id: record.build_id[..length].to_vec(), origin };
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
        let end = if thread.ended_ns != 0 { thread.ended_ns } else { self.about.header.end_monotonic_ns };
        let location = Location {
            ordinal: thread.ordinal,
            clocks: Clocks {
                cpu: CpuClock::from_code(thread.cpu_clock),
                waits: WaitClock::from_code(thread.wait_clock),
            },
            tid: thread.tid,
            thread: text_of(&thread.name),
            main: thread.flags & THREAD_MAIN != 0,
            helper: starts_helpers(start.as_bytes()),
            wall_ns: end.saturating_sub(thread.started_ns),
            cpu_ns: thread.cpu_ns.saturating_sub(thread.cpu_start_ns),
            blocked_ns: thread.blocked_ns,
            preempted_ns: thread.preempted_ns,
            handler_ns: thread.handler_ns,
            samples: thread.samples,
            wait_samples: thread.wait_samples,
            dropped: Drops { room: thread.dropped_room, unready: thread.dropped_unready },
            partial: Partials::of(&thread.partial),
            truncated: thread.truncated,
            overruns: thread.overruns,
            ..self.about.location(thread.ordinal)
        };
        self.add_location(location);
    }

    /// Location of a thread, made up if the file has no record of it.
    fn location_of(&mut self, ordinal: u32) -> u32 {
        match self.threads.get(&ordinal) {
            Some(location) => *location,
            None => self.add_location(self.about.location(ordinal)),
        }
    }

    fn add_location(&mut self, location: Location) -> u32 {
        let place = self.process.locations.len() as u32;
        self.threads.insert(location.ordinal, place);
        self.process.locations.push(location);
        place
    }

    fn nodes(&mut self, measurement: &Measurement) {
        let mut nodes = Vec::new();
        for node in measurement.nodes() {
            match node {
                Ok(node) => nodes.push(node),
                Err(error) => self.warn(format!("{error}; what it held is missing")),
            }
        }
        // Ids are places in the file, which is read from its beginning: they ascend.
        let links: Vec<Link> = nodes.iter().map(|n| Link { id: n.id.0, parent: n.key.parent }).collect();
        let mut places: Vec<u32> = Vec::with_capacity(nodes.len());
        let mut orphans = 0u64;
        for (index, caller) in callers_first(&links) {
            let node = &nodes[index];
            let location = self.location_of(node.owner);
            let main = self.process.locations[location as usize].main;
            let parent = match caller {
                Caller::None => None,
                Caller::At(place) => Some(places[place]),
                Caller::Lost => {
                    orphans += 1;
                    Some(self.add_node(None, Code::Pseudo(Pseudo::Partial), main))
                }
            };
            let place = self.add_node(parent, self.code(node.key.frame), main);
            places.push(place);
            if self.is_logged {
                self.process.ids.push((node.id.0, place));
            }
            self.add_costs(place, location, node);
        }
        self.process.ids.sort_unstable();
        if orphans > 0 {
            self.warn(format!("{orphans} call path nodes have lost their callers: they are under [partial]"));
        }
    }

    fn add_node(&mut self, parent: Option<u32>, code: Code, main: bool) -> u32 {
        self.process.nodes.push(Node { parent, code, main });
        self.process.nodes.len() as u32 - 1
    }

    fn add_costs(&mut self, node: u32, location: u32, values: &read::Node<'_>) {
        for (index, metric) in (0u32..).zip(&self.metrics) {
            let value = values.value(index);
            if let Some(metric) = *metric
                && value > 0
            {
                let section = self.process.section_numbers.get(&values.key.section.into()).copied();
                self.process.costs.push(Cost { node, location, metric, section, value });
            }
        }
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
