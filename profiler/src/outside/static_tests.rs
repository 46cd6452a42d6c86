//! A small static program, held, sampled and walked.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, thread};

use falloff_format::Measurement;
use falloff_format::read::Record;
use falloff_format::records::{CpuClock, THREAD_MAIN, ThreadRecord, keys};
use std::os::unix::fs::PermissionsExt;

use super::events::Events;
use super::file::Common;
use super::hold;
use super::identity::Identity;
use super::image::Image;
use super::observer::Observer;
use super::truth::Truth;

const PROGRAM: &str = "
static volatile unsigned long sum;
__attribute__((noinline, noclone)) void inner(void) { for (long i = 0; i < 100000000; i++) sum += i; }
__attribute__((noinline, noclone)) void outer(void) { inner(); sum++; }
int main(void) { outer(); return 0; }
";

/// Builds the program; says why it cannot be, where nobody asks for all tests.
#[expect(clippy::print_stderr, reason = "the test runner shows it")]
fn build(dir: &Path) -> bool {
    fs::write(dir.join("prog.c"), PROGRAM).unwrap();
    let compiler =
        Command::new("gcc").args(["-O2", "-static", "prog.c", "-o", "prog"]).current_dir(dir).output();
    let built = compiler.is_ok_and(|output| output.status.success());
    assert!(built || std::env::var("CI").as_deref() != Ok("true"), "gcc makes no static programs");
    if !built {
        eprintln!("skipped: gcc makes no static programs");
    }
    built
}

/// Runs the program; gives its image, or `None` where perf is refused.
fn sampled(dir: &Path, common: &mut Common) -> Option<Image> {
    let (hold, mut holder) = hold::pair().unwrap();
    let period_ns = common.period_ns();
    let holding = thread::spawn(move || {
        let pid = holder.pid().unwrap();
        let events = Events::open(pid, period_ns);
        holder.release();
        (pid.unsigned_abs(), events)
    });
    let mut command = Command::new("./prog");
    command.current_dir(dir).stdin(Stdio::null());
    let wait = move || {
        hold.wait();
        Ok(())
    };
    // SAFETY: waiting makes system calls only.
    let mut child = unsafe { command.pre_exec(wait) }.spawn().unwrap();
    let (pid, events) = holding.join().unwrap();
    assert!(child.wait().unwrap().success());
    let mut events = events.ok()?;
    common.with_kernel = events.with_kernel;
    let identity = Identity::inherited(vec!["./prog".into(), "argument".into()]);
    let mut observer = Observer::new(pid, identity, Vec::new(), common.epoch_ns);
    let mut records = Vec::new();
    events.drain(|record| records.push(record));
    records.sort_by_key(|record| record.time_ns);
    records.into_iter().for_each(|record| observer.apply(record));
    let mut images = observer.finish(events.used_ns(), Truth::default());
    assert_eq!(images.len(), 1);
    images.pop().map(|(image, _)| image)
}

#[test]
fn every_path_reaches_the_root_and_all_is_written_down() {
    let dir = tempfile::tempdir().unwrap();
    if !build(dir.path()) {
        return;
    }
    let mut common = Common {
        dir: dir.path().join("measurements"),
        run_id: "run-1".into(),
        rate_hz: 1000,
        events: vec!["cycles".into()],
        with_kernel: true,
        epoch_ns: u64::MAX / 4,
    };
    fs::create_dir(&common.dir).unwrap();
    let Some(image) = sampled(dir.path(), &mut common) else { return };
    let thread = &image.threads[0];
    assert!(thread.samples > 20, "{} samples", thread.samples);
    let partial: u64 = thread.partial.iter().sum();
    assert!(
        partial * 50 <= thread.samples,
        "{partial} of {} samples are partial: {:?}",
        thread.samples,
        thread.partial
    );
    // main, outer and inner are the frames below the start-up code: one path has nearly everything.
    let hottest = thread.tree.nodes().iter().max_by_key(|node| node.values[0]).unwrap();
    let mut depth = 1;
    let mut caller = hottest.parent;
    while let Some(node) = caller {
        depth += 1;
        caller = thread.tree.nodes()[node].parent;
    }
    assert!((5..=7).contains(&depth), "{depth} frames");

    common.write(&image, false).unwrap();
    let file = fs::read_dir(&common.dir).unwrap().next().unwrap().unwrap();
    let name = file.file_name().into_string().unwrap();
    assert!(name.contains(&format!("-{}-", image.pid)) && name.ends_with("-prog.falloff"), "{name}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(file.path()).unwrap();
    check(&Measurement::parse(&bytes).unwrap(), &common);
    common.write(&image, false).expect_err("a file of this name is there");
}

/// Whether a file says what it should of the program.
fn check(measurement: &Measurement<'_>, common: &Common) {
    let mut threads: Vec<ThreadRecord> = Vec::new();
    let mut meta: Vec<(String, String)> = Vec::new();
    for record in measurement.records() {
        match record.unwrap() {
            Record::Thread(thread) => threads.push(thread),
            Record::Meta(key, value) => {
                meta.push((String::from_utf8_lossy(key).into(), String::from_utf8_lossy(value).into()));
            }
            _ => {}
        }
    }
    let values =
        |key: &str| meta.iter().filter(|(k, _)| k == key).map(|(_, v)| v.as_str()).collect::<Vec<_>>();
    assert_eq!(values(keys::RATE), ["1000"]);
    assert_eq!(values(keys::ARGV)[0], "./prog");
    assert!(values(keys::IMAGE)[0].ends_with("/prog"));
    assert!(values(keys::WARNING)[0].starts_with("`cycles` is not measured"));
    let clock = if common.with_kernel { CpuClock::TaskClock } else { CpuClock::TaskClockUser };
    assert_eq!(
        (threads[0].flags, threads[0].cpu_clock, threads[0].wait_clock),
        (THREAD_MAIN, clock as u16, 0)
    );
    let booked: u64 = measurement.nodes().map(|node| node.unwrap().value(1)).sum();
    assert_eq!(booked, threads.iter().map(|t| t.cpu_ns - t.cpu_start_ns).sum::<u64>());
}
