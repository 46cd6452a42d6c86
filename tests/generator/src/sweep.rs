//! A sweep of runs that never were.

use std::fs;
use std::io;
use std::path::Path;

use crate::Shape;

/// Runs of one shape at several processor counts: as many processes as the count says, all with the same contexts.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Processor counts, smallest first.
    pub scales: Vec<u32>,
    /// Runs at each of them.
    pub repetitions: u32,
    /// Contexts of each run.
    pub contexts: u32,
    /// Share of the contexts in which each process has a cost of its own.
    pub density: f64,
}

impl Sweep {
    /// Writes plan, journal and measurement files into a directory, as `falloff sweep` leaves them.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let scales: Vec<String> = self.scales.iter().map(u32::to_string).collect();
        let plan = format!(
            r#"{{"schema":"falloff.sweep","version":1,"program":["app"],"launcher":"mpirun","scaling":"strong","scales":[{}],"repetitions":{},"rate_hz":200,"timeout_seconds":null}}"#,
            scales.join(","),
            self.repetitions
        );
        fs::write(dir.join("sweep.json"), plan + "\n")?;
        let mut journal = String::new();
        for scale in &self.scales {
            for repetition in 1..=self.repetitions {
                let shape = Shape { locations: *scale, contexts: self.contexts, density: self.density };
                shape.write(&dir.join(format!("runs/n{scale:04}-r{repetition}")))?;
                journal += &format!(
                    r#"{{"schema":"falloff.journal","version":1,"run":{{"repetition":{repetition},"scale":{scale}}},"state":"completed","reason":null,"wall_seconds":60.0,"started_unix_seconds":1,"ranks":{scale},"oversubscribed":false}}"#
                );
                journal.push('\n');
            }
        }
        fs::write(dir.join("journal.jsonl"), journal)
    }
}
