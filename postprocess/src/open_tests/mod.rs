//! Whole runs made of synthetic measurement files.

mod content;
mod files;
mod grafts;
mod laws;

use std::path::Path;

use falloff_format::Frame;
use falloff_format::records::Unit as FormatUnit;

use crate::database::Database;
use crate::error::Error;
use crate::open::{OpenOptions, open};
use crate::synthetic::{Synthetic, SyntheticThread};

fn code(module: u16, address: u64) -> Frame {
    Frame::new(module, address)
}

fn process(pid: u32, paths: &[(&[u64], u64)]) -> Synthetic {
    let mut thread = SyntheticThread::default();
    for (path, cpu) in paths {
        let frames: Vec<Frame> = path.iter().map(|address| code(1, *address)).collect();
        thread.charge(&frames, &[*cpu, 1]);
    }
    Synthetic { pid, threads: vec![thread], ..Synthetic::default() }
}

/// A process that measured CPU time, or all parts of `time`.
fn timed_process(pid: u32, waits: bool, paths: &[(Vec<u64>, [u64; 3])]) -> Synthetic {
    let mut thread = SyntheticThread::default();
    for (path, [cpu, blocked, preempted]) in paths {
        let frames: Vec<Frame> = path.iter().map(|address| code(1, *address)).collect();
        thread.charge(&frames, &[*cpu, 1, *blocked, *preempted]);
    }
    let ns = FormatUnit::Nanoseconds;
    let mut metrics = vec![("cpu", ns), ("samples", FormatUnit::Count)];
    if waits {
        metrics.extend([("blocked", ns), ("preempted", ns)]);
    }
    Synthetic { pid, metrics, threads: vec![thread], ..Synthetic::default() }
}

fn open_default(dir: &Path) -> Result<Database, Error> {
    open(dir, &OpenOptions::default())
}

fn names(database: &Database, context: u32) -> Vec<String> {
    database.tree().path(context).iter().map(|c| database.tree().scope(*c).name.to_string()).collect()
}

/// Exclusive CPU time by path.
fn costs(database: &Database) -> Vec<(String, u64)> {
    let totals = database.exclusive_totals("cpu").unwrap();
    let with_cost = (0..totals.len() as u32).filter(|c| totals[*c as usize] > 0.0);
    with_cost.map(|c| (names(database, c).join(";"), totals[c as usize] as u64)).collect()
}
