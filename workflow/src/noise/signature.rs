//! The signature as JSON: `falloff.noise`, version 1. Described in `docs/noise.md`.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::counters::Counters;
use super::detours::Detours;
use super::host::Host;
use super::messages::Messages;
use super::quanta::{FixedTime, FixedWork};
use crate::{Error, Result};

const SCHEMA: &str = "falloff.noise";
const VERSION: u32 = 1;

/// What was measured on one or more machines in one go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    schema: String,
    version: u32,
    /// Noise of every rank, by rank.
    pub ranks: Vec<RankNoise>,
    /// Messages between ranks; null if there was one rank only.
    pub messages: Option<Messages>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Noise where one rank ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankNoise {
    /// Number of the rank.
    pub rank: u32,
    /// Where it ran.
    pub host: Host,
    /// Gaps in a loop that reads the clock.
    pub detours: Detours,
    /// The time of a fixed piece of work.
    pub fixed_work: FixedWork,
    /// The work of a fixed time.
    pub fixed_time: FixedTime,
    /// What the system did to the rank meanwhile.
    pub counters: Counters,
}

impl RankNoise {
    /// How long was measured.
    pub fn seconds(&self) -> f64 {
        self.detours.measured_seconds + self.fixed_work.measured_seconds + self.fixed_time.measured_seconds
    }
}

impl Signature {
    pub(super) fn new(ranks: Vec<RankNoise>, messages: Option<Messages>) -> Signature {
        let mut notes = Vec::new();
        if messages.is_none() {
            notes.push("no messages were measured: that needs two ranks, `mpirun -n 2 falloff noise`".into());
        }
        let busy: Vec<u32> =
            ranks.iter().filter(|r| r.host.load.is_some_and(|load| load >= 1.0)).map(|r| r.rank).collect();
        if !busy.is_empty() {
            let listed = crate::report::numbers::listed(&busy);
            notes.push(format!(
                "other programs ran before the measurement where ranks {listed} ran: the noise may be theirs"
            ));
        }
        Signature { schema: SCHEMA.into(), version: VERSION, ranks, messages, notes }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is no signature, or is one of a newer version.
    pub fn read(path: &Path) -> Result<Signature> {
        let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        Signature::parse(&text).map_err(|reason| Error::Signature { path: path.to_owned(), reason })
    }

    fn parse(text: &str) -> std::result::Result<Signature, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
            version: u32,
        }
        let head: Head = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if head.schema != SCHEMA {
            return Err(format!("its schema is `{}`, not `{SCHEMA}`", head.schema));
        }
        if head.version > VERSION {
            return Err(format!("it has version {}, this falloff knows {VERSION}", head.version));
        }
        let signature: Signature = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if signature.ranks.is_empty() {
            return Err("it has no ranks".into());
        }
        Ok(signature)
    }

    /// The document.
    ///
    /// # Errors
    /// A number cannot be written.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::noise::messages::Pair;
    use crate::noise::{Comparison, LengthBin, LogGp, Period, Quantiles, Times, Trace, figure, text};
    use crate::report::Paint;

    /// A signature of a rank that loses `percent` of its time to bursts of 1 ms, of a job if there are more.
    pub fn planted(ranks: u32, percent: f64) -> Signature {
        let scatter = |i: u32| f64::from(i * 7 % 20) / 20.0 - 0.475;
        let batches = |mean: f64| (0..20).map(|i| mean * (1.0 + 0.2 * scatter(i))).collect::<Vec<f64>>();
        let rank = |rank| RankNoise {
            rank,
            host: Host {
                name: "node1".into(),
                kernel: "6.1.0".into(),
                cpu_model: "Some CPU".into(),
                processors: 8,
                allowed_processors: "0-7".into(),
                clock_source: "tsc".into(),
                load: Some(0.1),
                ..Host::default()
            },
            detours: Detours {
                measured_seconds: 5.0,
                gap_ns: 25.0,
                threshold_ns: 250.0,
                count: (percent * 50.0) as u64 + 1000,
                rate_hz: percent * 10.0 + 200.0,
                lost_percent: percent,
                length_ns: Quantiles::of(vec![3e3, 3e3, 3e3, 1e6]),
                by_length: vec![
                    LengthBin { from_ns: 2e3, to_ns: Some(5e3), count: 1000, total_ns: 3e6 },
                    LengthBin {
                        from_ns: 1e6,
                        to_ns: Some(2e6),
                        count: (percent * 50.0) as u64,
                        total_ns: percent * 5e7,
                    },
                ],
                periods: vec![Period {
                    period_ms: 4.0,
                    strength: 0.9,
                    of: "detours shorter than 10 µs".into(),
                }],
                batch_rate_hz: batches(percent * 10.0 + 200.0),
                batch_lost_percent: batches(percent),
                trace: Trace { covers_ns: 5_000_000_000, start_ns: vec![0], length_ns: vec![3000] },
            },
            fixed_work: FixedWork {
                measured_seconds: 2.5,
                count: 12_000,
                quantum_ns: 200_000.0,
                lost_percent: percent,
                noise_ns: Quantiles::of(vec![0.0, 0.0, 100.0, 1e6]),
                batch_lost_percent: batches(percent),
            },
            fixed_time: FixedTime {
                measured_seconds: 2.5,
                window_ns: 1e6,
                count: 2500,
                units_max: 4000,
                lost_percent: percent,
                noise_ns: Quantiles::of(vec![0.0, 0.0, 250.0, 1e6]),
                periods: Vec::new(),
                batch_lost_percent: batches(percent),
            },
            counters: Counters {
                involuntary_switches: 40,
                run_delay_seconds: Some(0.1),
                ..Counters::default()
            },
        };
        let messages = (ranks > 1)
            .then(|| Messages { library: "MPICH (libmpi.so.12)".into(), pairs: vec![pair(percent)] });
        Signature::new((0..ranks).map(rank).collect(), messages)
    }

    fn pair(percent: f64) -> Pair {
        let sizes = [0, 8, 1024, 4096, 65_536, 1 << 20, 4 << 20].map(|bytes| {
            let one_way = (1000.0 + 0.1 * bytes as f64) * (1.0 + percent / 100.0);
            Times {
                bytes,
                one_way_ns: Quantiles::of(vec![0.9 * one_way, one_way, 3.0 * one_way]),
                send_overhead_ns: Quantiles::of(vec![100.0]),
                bandwidth_megabytes_per_second: bytes as f64 / one_way * 1e3,
                batch_one_way_ns: (0..20).map(|i| one_way * (1.0 + 0.001 * f64::from(i))).collect(),
            }
        });
        let loggp = LogGp::fit(&sizes, Some(4096), 100.0, 120.0);
        Pair {
            ranks: [0, 1],
            same_host: true,
            sizes: sizes.to_vec(),
            gap_ns: Quantiles::of(vec![120.0]),
            eager_limit_bytes: Some(4096),
            loggp,
        }
    }

    #[test]
    fn a_signature_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("signature.json");
        let written = planted(2, 3.0);
        fs::write(&path, written.json().unwrap()).unwrap();
        let read = Signature::read(&path).unwrap();
        assert_eq!((&read.notes, read.ranks.len()), (&written.notes, written.ranks.len()));
        let shown = |signature: &Signature| text(signature, Paint::default()) + &figure(signature);
        assert_eq!(shown(&read), shown(&written));
        // The reader of JSON may be wrong in the last bit of a number.
        let comparison = Comparison::new(&written, &read);
        assert!(comparison.changes.iter().all(|change| change.difference.abs() <= 1e-12 * change.first));
    }

    #[test]
    fn other_files_are_refused() {
        let refused = |text: &str| Signature::parse(text).unwrap_err();
        assert!(refused("").contains("EOF"));
        assert_eq!(
            refused(r#"{"schema":"falloff.score","version":1}"#),
            "its schema is `falloff.score`, not `falloff.noise`"
        );
        assert!(refused(r#"{"schema":"falloff.noise","version":2}"#).contains("version 2"));
        assert!(refused(r#"{"schema":"falloff.noise","version":1}"#).contains("missing field"));
        let none = Signature { ranks: Vec::new(), ..planted(1, 1.0) };
        assert_eq!(refused(&none.json().unwrap()), "it has no ranks");
        assert!(Signature::read(Path::new("/nowhere/x")).unwrap_err().to_string().contains("/nowhere/x"));
    }
}
