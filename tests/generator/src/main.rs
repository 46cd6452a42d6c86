//! Writes the measurement files of a run that never was.

use std::io;
use std::path::PathBuf;

use clap::Parser;
use falloff_generator::Shape;

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
    /// Directory of the files
    dir: PathBuf,
}

fn main() -> io::Result<()> {
    let Args { locations, contexts, density, dir } = Args::parse();
    Shape { locations, contexts, density }.write(&dir)
}
