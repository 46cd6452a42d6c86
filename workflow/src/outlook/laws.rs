//! Laws of whole programs: few numbers that say how the speed-up goes on.

use falloff_models::{Amdahl, Gustafson, Scalability, isoefficiency, karp_flatt};

use super::forecast::Forecast;
use super::whole::EFFICIENCY;
use crate::bounds::Series;
use crate::scoring::Scaling;

/// Largest miss, as a fraction of the measured speed-up, with which a law is one of the program.
const MISS_MAX: f64 = 0.2;
/// Counts that the three coefficients of the universal scalability law need, if anything is to be left to check them by.
const COUNTS_FOR_THREE: usize = 4;

/// Five views of one speed-up; each says why if it does not apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Laws {
    /// A serial share of the work at 1 processor.
    pub amdahl: Result<Held<Amdahl>, String>,
    /// A serial share of the time, the problem growing with the processors.
    pub gustafson: Result<Held<Gustafson>, String>,
    /// The serial share that the speed-up at each count would mean, as (processors, share).
    pub karp_flatt: Result<Vec<(f64, f64)>, String>,
    /// Contention and coherence.
    pub scalability: Result<Held<Scalability>, String>,
    /// For each target, the work that keeps [`EFFICIENCY`].
    pub isoefficiency: Vec<(u32, Result<Isoefficiency, String>)>,
}

/// A law that the measured speed-ups follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held<T> {
    /// The law.
    pub law: T,
    /// Its largest miss, as a fraction of the measured speed-up.
    pub miss: f64,
}

/// How much work keeps the efficiency at a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Isoefficiency {
    /// Excess work that is predicted there, p·T(p) − p₀·T(p₀), seconds.
    pub overhead: f64,
    /// Work of the problem that is needed, against that of the problem that was run, if the overhead does not grow with it.
    pub times_the_work: f64,
}

impl Laws {
    /// Of the whole run; the overhead at the targets is that of its forecast.
    pub fn new(series: &Series, forecast: &Forecast, scaling: Scaling) -> Laws {
        let base = series.times.get(0);
        let speedups: Vec<(f64, f64)> = series
            .same_work
            .iter()
            .map(|point| (point.scale.p, base.scale.p * base.mean / point.mean))
            .collect();
        let sequential = || match base.scale.p {
            1.0 => Ok(()),
            p => Err(format!("it needs a run at 1 processor, and the smallest count is {p}")),
        };
        let only = |wanted: Scaling| match scaling == wanted {
            true => Ok(()),
            false => Err(format!("it is of {} scaling", wanted.name())),
        };
        let strong = || only(Scaling::Strong).and_then(|()| sequential());
        let fit = |error: falloff_models::Error| error.to_string();
        Laws {
            amdahl: strong()
                .and_then(|()| Amdahl::fit(&speedups).map_err(fit))
                .and_then(|law| held(law, &speedups, |p| law.speedup(p))),
            gustafson: only(Scaling::Weak)
                .and_then(|()| sequential())
                .and_then(|()| Gustafson::fit(&speedups).map_err(fit))
                .and_then(|law| held(law, &speedups, |p| law.speedup(p))),
            karp_flatt: strong().and_then(|()| karp_flatt(&speedups).map_err(fit)),
            scalability: match speedups.len() {
                counts if counts < COUNTS_FOR_THREE => {
                    Err(format!("{COUNTS_FOR_THREE} counts are needed, there are {counts}"))
                }
                _ => Scalability::fit(&speedups)
                    .map_err(fit)
                    .and_then(|law| held(law, &speedups, |p| law.throughput(p))),
            },
            isoefficiency: forecast
                .predictions
                .iter()
                .map(|prediction| {
                    let needed = only(Scaling::Strong).and_then(|()| {
                        let seconds = prediction.seconds.as_ref().map_err(String::clone)?;
                        needed_work(base.scale.p * base.mean, prediction.processors, seconds.value)
                    });
                    (prediction.processors, needed)
                })
                .collect(),
        }
    }
}

/// A law if it misses no speed-up by much.
fn held<T>(law: T, speedups: &[(f64, f64)], says: impl Fn(f64) -> f64) -> Result<Held<T>, String> {
    let miss = |(p, measured): &(f64, f64)| (*p, (says(*p) / measured - 1.0).abs());
    let largest = speedups.iter().map(miss).max_by(|a, b| a.1.total_cmp(&b.1));
    match largest {
        Some((p, miss)) if miss > MISS_MAX => {
            Err(format!("it misses the speed-up at {p} by {:.0} %", 100.0 * miss))
        }
        found => Ok(Held { law, miss: found.map_or(0.0, |(_, miss)| miss) }),
    }
}

/// What is needed at `processors`, where the problem of `work` seconds is predicted to take `seconds` a processor.
fn needed_work(work: f64, processors: u32, seconds: f64) -> Result<Isoefficiency, String> {
    let p = f64::from(processors);
    let overhead = (p * seconds - work).max(0.0);
    let needed = isoefficiency(EFFICIENCY, p, |_, _| overhead).map_err(|error| error.to_string())?;
    let needed = needed.ok_or("no problem reaches it")?;
    Ok(Isoefficiency { overhead, times_the_work: needed / work })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Columns;

    fn laws(scaling: Scaling, counts: &[u32], work: impl Fn(f64) -> f64) -> Laws {
        let mut columns = Columns::default();
        let work: Vec<f64> = counts.iter().map(|p| work(f64::from(*p))).collect();
        for (p, seconds) in counts.iter().zip(&work) {
            columns.push(*p, vec![*seconds], vec![1.0], 1.0);
        }
        let series = Series::new(&columns, scaling, 0.0, &work, &work).unwrap();
        Laws::new(&series, &Forecast::new(&series, scaling, &[32]), scaling)
    }

    #[test]
    fn a_serial_part_is_seen_by_all() {
        let laws = laws(Scaling::Strong, &[1, 2, 4, 8, 16], |p| 2.0 * p + 98.0);
        assert!((laws.amdahl.unwrap().law.serial - 0.02).abs() < 1e-9);
        assert!(laws.karp_flatt.unwrap().iter().all(|(_, e)| (e - 0.02).abs() < 1e-9));
        let scalability = laws.scalability.unwrap();
        assert!((scalability.law.contention - 0.02).abs() < 1e-9 && scalability.law.coherence < 1e-9);
        // At 32 the serial part costs 31 · 2 s more; 80 % need four times that.
        let (at, needed) = &laws.isoefficiency[0];
        assert_eq!(*at, 32);
        assert!((needed.as_ref().unwrap().times_the_work - 2.48).abs() < 1e-6);
        assert_eq!(laws.gustafson.unwrap_err(), "it is of weak scaling");
    }

    #[test]
    fn weak_sweeps_have_a_scaled_speedup() {
        // Times of p/(p + (1 − p)·0.05) for p times the work.
        let laws = laws(Scaling::Weak, &[1, 2, 4, 8], |p| p * p / (p + (1.0 - p) * 0.05));
        assert!((laws.gustafson.unwrap().law.serial - 0.05).abs() < 1e-9);
        assert_eq!(laws.amdahl.unwrap_err(), "it is of strong scaling");
        assert_eq!(laws.isoefficiency[0].1, Err("it is of strong scaling".into()));
    }

    #[test]
    fn what_does_not_apply_says_why() {
        let few = laws(Scaling::Strong, &[2, 4, 8], |p| 2.0 * p + 98.0);
        assert_eq!(few.scalability.unwrap_err(), "4 counts are needed, there are 3");
        let reason = "it needs a run at 1 processor, and the smallest count is 2";
        assert_eq!(
            (few.amdahl.unwrap_err(), few.karp_flatt.unwrap_err()),
            (reason.into(), reason.to_owned())
        );
        // Slower than one processor beyond 4, which no serial share explains.
        let past = laws(Scaling::Strong, &[1, 2, 4, 8, 16], |p| 100.0 + 4.0 * p * p);
        assert_eq!(past.amdahl.unwrap_err(), "it misses the speed-up at 16 by 55 %");
    }
}
