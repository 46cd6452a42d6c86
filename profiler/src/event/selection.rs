//! All events of a run, put together from what was asked for.

use falloff_format::limits::EVENTS_MAX;

use super::spec::{EventSpec, Measure};
use super::table::{DEFAULT_RATE_HZ, Event, Sampling};
use crate::Error;

/// Samples a second above which sampling itself may be seen in the measurement: at 20 to 40 µs a sample, more than
/// 2 to 4 percent of a thread's time.
pub const CAREFUL_RATE_HZ: u32 = 1000;

/// What a run measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// CPU time.
    pub cpu: bool,
    /// Time off the CPU.
    pub waits: bool,
    /// Samples a second of CPU time, and at most of waits.
    pub rate_hz: u32,
    /// Events of perf, each once, in the order in which they were asked for.
    pub events: Vec<Event>,
}

impl Selection {
    /// Puts together what was asked for; nothing asked is `time`. Fails if something was asked in two ways.
    pub fn of(specs: &[EventSpec]) -> Result<Selection, Error> {
        let mut selection =
            Selection { cpu: specs.is_empty(), waits: specs.is_empty(), rate_hz: 0, events: Vec::new() };
        for spec in specs {
            match &spec.measure {
                Measure::Perf(perf) => {
                    let sampling = spec.sampling.unwrap_or(perf.default);
                    selection.add(Event { perf: perf.clone(), sampling })?;
                }
                clock => {
                    selection.cpu |= matches!(clock, Measure::Time | Measure::Cpu);
                    selection.waits |= matches!(clock, Measure::Time | Measure::Blocked);
                    if let Some(Sampling::Rate(rate)) = spec.sampling {
                        selection.set_rate(rate)?;
                    }
                }
            }
        }
        if selection.rate_hz == 0 {
            selection.rate_hz = DEFAULT_RATE_HZ;
        }
        Ok(selection)
    }

    fn add(&mut self, event: Event) -> Result<(), Error> {
        match self.events.iter().find(|known| known.perf.name == event.perf.name) {
            None if self.events.len() == EVENTS_MAX => {
                return Err(Error::Events(format!(
                    "at most {EVENTS_MAX} perf events are measured at a time"
                )));
            }
            None => self.events.push(event),
            Some(known) if *known == event => {}
            Some(known) => {
                return Err(Error::Events(format!("`{}` is asked for in two ways", known.perf.name)));
            }
        }
        Ok(())
    }

    fn set_rate(&mut self, rate: u32) -> Result<(), Error> {
        if self.rate_hz != 0 && self.rate_hz != rate {
            return Err(Error::Events(format!(
                "clocks have one rate, and {} and {rate} are asked for",
                self.rate_hz
            )));
        }
        self.rate_hz = rate;
        Ok(())
    }

    /// Whether there is nothing to measure.
    pub fn is_empty(&self) -> bool {
        !self.cpu && !self.waits && self.events.is_empty()
    }

    /// What to say of a rate at which sampling disturbs what it measures.
    pub fn caution(&self) -> Option<String> {
        let rates = self.events.iter().filter_map(|event| match event.sampling {
            Sampling::Rate(rate) => Some(rate),
            Sampling::Period(_) => None,
        });
        let clocks = if self.cpu || self.waits { self.rate_hz } else { 0 };
        let highest = rates.fold(clocks, u32::max);
        (highest > CAREFUL_RATE_HZ).then(|| {
            format!("{highest} samples a second slow the program down by some percent, which the profile then shows")
        })
    }

    /// What the sampler reads in FALLOFF_EVENTS: `cpu`, `waits` and `NAME:TYPE:CONFIG:pPERIOD` or
    /// `NAME:TYPE:CONFIG:rRATE`, type and config hexadecimal, between commas.
    pub(crate) fn variable(&self) -> String {
        let clocks = [(self.cpu, "cpu"), (self.waits, "waits")];
        let clocks = clocks.iter().filter(|(wanted, _)| *wanted).map(|(_, name)| (*name).to_owned());
        let events = self.events.iter().map(|event| {
            let sampling = match event.sampling {
                Sampling::Rate(rate) => format!("r{rate}"),
                Sampling::Period(period) => format!("p{period}"),
            };
            format!("{}:{:x}:{:x}:{sampling}", event.perf.name, event.perf.kind, event.perf.config)
        });
        clocks.chain(events).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(texts: &[&str]) -> Result<Selection, Error> {
        Selection::of(&texts.iter().map(|t| t.parse().unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn clocks_and_events_go_into_one_variable() {
        let variable = |texts: &[&str]| selection(texts).unwrap().variable();
        assert_eq!(variable(&[]), "cpu,waits");
        assert_eq!(variable(&["time", "page-faults"]), "cpu,waits,page-faults:1:2:r200");
        assert_eq!(variable(&["blocked"]), "waits");
        assert_eq!(
            variable(&["cycles/1000000", "instructions@99"]),
            "cycles:0:0:p1000000,instructions:0:1:r99"
        );
        assert_eq!(variable(&["LLC-load-misses", "r1C2/5"]), "LLC-load-misses:3:10002:r200,r1c2:4:1c2:p5");
        assert_eq!(variable(&["migrations", "cpu-migrations/1", "cpu"]), "cpu,migrations:1:4:p1");
    }

    #[test]
    fn one_rate_for_the_clocks() {
        assert_eq!(selection(&["cpu@1000", "blocked"]).unwrap().rate_hz, 1000);
        assert_eq!(selection(&["cpu@50", "time@50"]).unwrap().rate_hz, 50);
        assert_eq!(selection(&["cycles@50"]).unwrap().rate_hz, DEFAULT_RATE_HZ);
        assert!(selection(&["cpu@50", "time@60"]).is_err());
        assert!(selection(&["cycles@50", "cpu-cycles"]).is_err());
        assert!(selection(&["r1", "r2", "r3", "r4", "r5", "r6", "r1", "cpu"]).is_ok());
        assert!(selection(&["r1", "r2", "r3", "r4", "r5", "r6", "r7"]).is_err());
    }

    #[test]
    fn high_rates_are_cautioned_against() {
        let caution = |texts: &[&str]| selection(texts).unwrap().caution();
        assert_eq!(caution(&["time@1000", "cycles/1"]), None);
        assert!(caution(&["time@1001"]).unwrap().starts_with("1001 samples"));
        assert!(caution(&["cycles@4000"]).unwrap().starts_with("4000 samples"));
    }
}
