//! Writes the measurement files of a run, or of a sweep, that never was.

use std::io;
use std::path::PathBuf;

use clap::Parser;
use falloff_generator::{Shape, Stencil, Sweep};

/// Writes measurement files
#[derive(Debug, Parser)]
struct Args {
    /// Processes
    #[arg(long, default_value_t = 1000)]
    locations: u32,
    /// Call paths of all processes together
    #[arg(long, default_value_t = 100_000)]
    contexts: u32,
    /// Share of the call paths in which each process has a cost
    #[arg(long, default_value_t = 0.01)]
    density: f64,
    /// Processor counts of a sweep, in place of --locations
    #[arg(long, value_delimiter = ',')]
    sweep: Vec<u32>,
    /// Runs at each count of a sweep
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Logged calls of MPI of all processes together, in place of call paths: a stencil on a square of about --locations ranks
    #[arg(long)]
    calls: Option<u64>,
    /// Directory of the files
    dir: PathBuf,
}

fn main() -> io::Result<()> {
    let Args { locations, contexts, density, sweep, repeat, calls, dir } = Args::parse();
    if let Some(calls) = calls {
        let side = locations.isqrt();
        let steps = calls / u64::from(side * side) / Stencil::CALLS;
        return Stencil { side, steps }.write(&dir);
    }
    if sweep.is_empty() {
        return Shape { locations, contexts, density }.write(&dir);
    }
    Sweep { scales: sweep, repetitions: repeat, contexts, density }.write(&dir)
}
