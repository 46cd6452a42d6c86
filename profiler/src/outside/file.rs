//! The measurement file of an image that was sampled from outside.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use falloff_format::header::{EXTENSION, FLAG_FORKED, Header, NO_RANK, STATE_ENDED, STATE_RUNNING};
use falloff_format::node::PSEUDO_MODULE;
use falloff_format::records::{
    BUILD_ID_MAX, CpuClock, Kind, MODULE_ANONYMOUS, MODULE_EXECUTABLE, MetricRecord, ModuleRecord,
    THREAD_ENDS, THREAD_MAIN, ThreadRecord, Unit, WaitClock, keys,
};
use falloff_format::write::{Order, Records, Writer, header};
use zerocopy::{FromZeros, IntoBytes};

use super::identity::base_name;
use super::image::Image;
use super::registers::MACHINE;
use super::ring::page_size;
use super::space::ANONYMOUS;
use super::thread::Thread;
use super::tree::METRICS;

/// What is the same for all images of a run.
pub(super) struct Common {
    /// The folder for measurements.
    pub dir: PathBuf,
    pub run_id: String,
    pub rate_hz: u32,
    /// Events that were asked for and cannot be measured from outside.
    pub events: Vec<String>,
    /// Whether time in the kernel is sampled.
    pub with_kernel: bool,
    /// Time since 1970 at 0 of `CLOCK_MONOTONIC`, ns.
    pub epoch_ns: u64,
}

impl Common {
    /// Distance of two samples.
    pub(super) fn period_ns(&self) -> u64 {
        (1_000_000_000 / u64::from(self.rate_hz.max(1))).max(1)
    }

    /// Writes the measurement of an image. `killed`: a signal has ended it.
    pub(super) fn write(&self, image: &Image, killed: bool) -> io::Result<()> {
        let path = self.dir.join(self.name(image));
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)?;
        file.write_all(&self.bytes(image, killed)).inspect_err(|_| drop(fs::remove_file(&path)))
    }

    fn name(&self, image: &Image) -> String {
        let rank = image.identity.rank.map_or("none".to_owned(), |(rank, _)| format!("{rank:06}"));
        let started = self.epoch_ns + image.started_ns;
        let program = file_safe(base_name(&image.path).as_encoded_bytes());
        format!("{rank}-{}-{}-{started:x}-{program:.40}.{EXTENSION}", file_safe(host().as_bytes()), image.pid)
    }

    fn bytes(&self, image: &Image, killed: bool) -> Vec<u8> {
        let mut records = Records::default();
        self.describe(image, &mut records);
        modules(image, &mut records);
        for (ordinal, thread) in (0..).zip(&image.threads) {
            let main = thread.tid == image.pid;
            let before_ns = if main { image.before_ns } else { 0 };
            let record = self.thread(thread, ordinal, before_ns, if main { THREAD_MAIN } else { 0 });
            records.push(Kind::Thread, record.as_bytes(), &[]);
        }
        let rests = rests(image);
        let after = image.threads.len() as u32;
        for (ordinal, thread) in (after..).zip(&rests) {
            let record = ThreadRecord { cpu_clock: 0, ..self.thread(thread, ordinal, 0, THREAD_ENDS) };
            records.push(Kind::Thread, record.as_bytes(), &[]);
        }
        let mut writer = Writer::new();
        writer.records(&records);
        for (ordinal, thread) in (0..).zip(image.threads.iter().chain(&rests)) {
            writer.nodes(ordinal, thread.tree.nodes(), Order::CallersFirst);
        }
        writer.finish(self.header(image, killed))
    }

    fn header(&self, image: &Image, killed: bool) -> Header {
        let mut run_id = [0; 64];
        run_id.iter_mut().zip(self.run_id.as_bytes()).for_each(|(to, from)| *to = *from);
        let (rank, ranks) = image.identity.rank.unwrap_or((NO_RANK, 0));
        let ended = image.ended_ns != 0 && !killed;
        Header {
            page_size: page_size() as u32,
            machine: MACHINE,
            metric_count: METRICS as u32,
            state: if ended { STATE_ENDED } else { STATE_RUNNING },
            run_id,
            pid: image.pid,
            ppid: image.ppid,
            rank,
            ranks,
            start_realtime_ns: self.epoch_ns + image.started_ns,
            start_monotonic_ns: image.started_ns,
            end_monotonic_ns: if ended { image.ended_ns } else { 0 },
            flags: if image.forked { FLAG_FORKED } else { 0 },
            ..header()
        }
    }

    fn describe(&self, image: &Image, records: &mut Records) {
        let metrics = [("samples", Unit::Count, 1), ("cpu", Unit::Nanoseconds, self.period_ns())];
        for (index, (name, unit, period)) in (0..).zip(metrics) {
            let record = MetricRecord { index, unit: unit as u16, reserved: 0, period };
            records.push(Kind::Metric, record.as_bytes(), &[name.as_bytes()]);
        }
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        records
            .meta(keys::WRITER, concat!("falloff ", env!("CARGO_PKG_VERSION"), ", from outside").as_bytes());
        records.meta(keys::RATE, self.rate_hz.to_string().as_bytes());
        records.meta(keys::HOST, host().as_bytes());
        records.meta(keys::KERNEL, kernel.trim().as_bytes());
        records.meta(keys::IMAGE, &image.path);
        records.meta(keys::CWD, &image.identity.directory);
        image.identity.arguments.iter().for_each(|argument| records.meta(keys::ARGV, argument));
        image.identity.environment.iter().for_each(|entry| records.meta(keys::ENV, entry));
        for event in &self.events {
            let warning = format!(
                "`{event}` is not measured: the program is statically linked and was sampled from outside"
            );
            records.meta(keys::WARNING, warning.as_bytes());
        }
    }

    fn thread(&self, thread: &Thread, ordinal: u32, before_ns: u64, flags: u32) -> ThreadRecord {
        let mut name = [0; 16];
        name.iter_mut().zip(&thread.name).for_each(|(to, from)| *to = *from);
        let clock = if self.with_kernel { CpuClock::TaskClock } else { CpuClock::TaskClockUser };
        ThreadRecord {
            ordinal,
            tid: thread.tid,
            started_ns: thread.started_ns,
            ended_ns: thread.ended_ns,
            cpu_start_ns: before_ns,
            cpu_ns: before_ns + thread.booked_ns,
            samples: thread.samples,
            dropped_room: thread.lost,
            dropped_unready: thread.unready,
            partial: thread.partial,
            truncated: thread.truncated,
            flags,
            cpu_clock: clock as u16,
            wait_clock: WaitClock::None as u16,
            name,
            ..ThreadRecord::default()
        }
    }
}

/// Time of no thread that can be told.
fn rests(image: &Image) -> Vec<Thread> {
    /// Less is not worth a location.
    const WORTH_NS: u64 = 500_000;
    let rests = [("[thread ends]", image.ends_ns), ("[children]", image.children_ns)];
    let worth = rests.into_iter().filter(|(_, used_ns)| *used_ns > WORTH_NS);
    worth
        .map(|(name, used_ns)| {
            let ended_ns = image.ended_ns.max(image.started_ns + used_ns);
            let mut thread = Thread::new(0, name.into(), ended_ns - used_ns);
            thread.ended_ns = ended_ns;
            thread.book_unsampled(used_ns);
            thread
        })
        .collect()
}

/// A record for each module that a node names.
fn modules(image: &Image, records: &mut Records) {
    let nodes = image.threads.iter().flat_map(|t| t.tree.nodes());
    let mut named: BTreeSet<u16> =
        nodes.map(|node| node.frame.module()).filter(|m| *m != PSEUDO_MODULE).collect();
    if named.remove(&ANONYMOUS) {
        let loads = 1;
        let (index, flags, loaded_ns) = (ANONYMOUS.into(), MODULE_ANONYMOUS, image.started_ns);
        let record =
            ModuleRecord { index, flags, end: u64::MAX, loaded_ns, loads, ..ModuleRecord::new_zeroed() };
        records.push(Kind::Module, record.as_bytes(), &[b"[anon]"]);
    }
    for mapping in image.modules.iter().filter(|m| named.remove(&m.index)) {
        let object = &mapping.object;
        let kept = object.build_id.len().min(BUILD_ID_MAX);
        let mut build_id = [0; BUILD_ID_MAX];
        build_id[..kept].copy_from_slice(&object.build_id[..kept]);
        let record = ModuleRecord {
            index: mapping.index.into(),
            build_id_len: kept as u32,
            build_id,
            start: mapping.start,
            end: mapping.end,
            bias: mapping.bias,
            loaded_ns: image.started_ns,
            unloaded_ns: 0,
            loads: 1,
            flags: object.flags | if object.path == image.path { MODULE_EXECUTABLE } else { 0 },
        };
        records.push(Kind::Module, record.as_bytes(), &[&object.path]);
    }
}

/// Whether the preload has measured a process: then the time that it used before it came to the preload is in there, too.
pub(super) fn is_measured(dir: &Path, pid: u32) -> bool {
    let process = format!("-{}-{pid}-", file_safe(host().as_bytes()));
    let mut names = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().contains(&process))
}

fn host() -> String {
    nix::unistd::gethostname().unwrap_or_default().to_string_lossy().into_owned()
}

/// A name with everything that is awkward in a file name made `_`.
fn file_safe(name: &[u8]) -> String {
    let safe = |b: u8| if b.is_ascii_alphanumeric() || b"._+-".contains(&b) { char::from(b) } else { '_' };
    name.iter().map(|b| safe(*b)).collect()
}
