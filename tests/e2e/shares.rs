//! Known shares of CPU time: what a case says of its functions, held against a profile.

use serde::Deserialize;

use crate::support::folded::{Sample, same_function};
use crate::support::sampling::Sampling;
use crate::support::{Folded, total};

/// A function's known share.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Hot {
    #[serde(rename = "fn")]
    function: String,
    /// Else the program says it, in a line `share …` of its standard error.
    share: Option<f64>,
    #[serde(default = "usual_tolerance")]
    tol: f64,
    #[serde(default)]
    path: Vec<String>,
    /// Some one process must show it.
    proc: Option<String>,
    /// `inclusive` counts everything below the function, else only its own samples count.
    note: Option<String>,
    /// Times that it is entered and left again, in all threads together.
    #[serde(default = "once")]
    stretches: u32,
}

fn usual_tolerance() -> f64 {
    0.05
}

fn once() -> u32 {
    1
}

/// One run's CPU time by call path, and the numbers of samples that it rests on.
pub struct Profile {
    pub cpu: Folded,
    pub samples: Folded,
    /// Samples of CPU time a second, if the clock allows it.
    pub rate: u32,
}

impl Profile {
    /// Samples of CPU time behind the profile of one process, or of the program.
    fn samples(&self, own: impl Fn(&&Sample) -> bool) -> u64 {
        // Some of the samples are of waits, and some clocks are slower than asked.
        let by_time = total(self.cpu.program().filter(&own)) * u64::from(self.rate) / 1_000_000;
        by_time.min(total(self.samples.program().filter(&own)))
    }
}

impl Hot {
    /// Holds the share against a profile of a run that wrote `stderr`. The answer says how it came out and how sure that is.
    pub fn check(&self, profile: &Profile, stderr: &str) -> Result<String, String> {
        let said = || stderr.lines().find_map(|line| line.strip_prefix("share ")?.parse().ok());
        let known = self.share.or_else(said).ok_or("the program does not say its share")?;
        if self.proc.is_none() {
            return self.meets(known, profile, None);
        }
        let processes = profile.cpu.processes();
        let tried: Vec<_> =
            processes.iter().map(|process| self.meets(known, profile, Some(process))).collect();
        if let Some(met) = tried.iter().find(|tried| tried.is_ok()) {
            return met.clone();
        }
        let why: Vec<_> = tried.into_iter().filter_map(Result::err).collect();
        Err(format!("no process shows {} of {:?}:\n  {}", self.function, self.proc, why.join("\n  ")))
    }

    fn meets(&self, known: f64, profile: &Profile, process: Option<&str>) -> Result<String, String> {
        let own = |sample: &&Sample| process.is_none_or(|process| sample.process == process);
        let share = self.share_in(profile.cpu.program().filter(own));
        let samples = profile.samples(own);
        let sampling = Sampling { samples, stretches: self.stretches };
        let says = format!(
            "{} has {:.2} % of {}, known as {:.2} % ± {:.2}; {samples} samples, σ {:.2} % (path {:?})",
            self.function,
            share * 100.0,
            process.unwrap_or("the program"),
            known * 100.0,
            self.tol * 100.0,
            sampling.error(known) * 100.0,
            self.path
        );
        if (share - known).abs() > self.tol {
            Err(says)
        } else if !sampling.decides(known, self.tol) {
            Err(format!("too few samples to tell: {says}"))
        } else {
            Ok(says)
        }
    }

    fn share_in<'a>(&self, samples: impl Iterator<Item = &'a Sample> + Clone) -> f64 {
        let inclusive = self.note.as_deref() == Some("inclusive");
        let counted = samples.clone().filter(|sample| {
            let inside = sample.ends_in(&self.function)
                || inclusive && sample.frames.iter().any(|frame| same_function(frame, &self.function));
            inside && sample.passes(&self.path)
        });
        total(counted) as f64 / total(samples).max(1) as f64
    }
}
