//! `falloff noise`: how much this machine disturbs a program, and how messages travel.

use std::path::Path;

use falloff_workflow::exit;
use falloff_workflow::noise::{Comparison, Options, Signature, comparison_text, figure, measure, text};

use crate::args::{NoiseArgs, TextOrJson};
use crate::export::write_file;
use crate::failure::Failure;
use crate::output::Output;

/// What is written as JSON.
const NOISE: &str = "the noise as JSON";

/// Measures and reports, or compares two measurements.
pub fn noise(args: &NoiseArgs, output: &Output) -> Result<i32, Failure> {
    if let [first, second] = &args.compare[..] {
        return compare(first, second, args, output);
    }
    // Of a job rank 0 alone reports.
    let Some(signature) = measure(&Options { time: args.seconds, library: args.mpi.clone() })? else {
        return Ok(exit::OK);
    };
    let json = signature.json().map_err(Failure::not_written(NOISE))?;
    if let Some(path) = &args.output {
        write_file(path, output, |out| writeln!(out, "{json}"))?;
    }
    if let Some(path) = &args.svg {
        write_file(path, output, |out| out.write_all(figure(&signature).as_bytes()))?;
    }
    match args.format {
        TextOrJson::Text if args.output.as_deref() != Some(Path::new("-")) => {
            output.data(&text(&signature, output.paint))?;
        }
        TextOrJson::Text => {}
        TextOrJson::Json => output.data(&format!("{json}\n"))?,
    }
    Ok(exit::OK)
}

fn compare(first: &Path, second: &Path, args: &NoiseArgs, output: &Output) -> Result<i32, Failure> {
    let comparison = Comparison::new(&Signature::read(first)?, &Signature::read(second)?);
    match args.format {
        TextOrJson::Text => {
            let names = [first, second].map(|path| path.display().to_string());
            output.data(&comparison_text(&comparison, [&names[0], &names[1]], output.paint))?;
        }
        TextOrJson::Json => {
            let json = comparison.json().map_err(Failure::not_written(NOISE))?;
            output.data(&format!("{json}\n"))?;
        }
    }
    Ok(exit::OK)
}
