//! What ranks waited for, as metrics of the merged tree.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use falloff_messages::waits::{self, Waits};
use falloff_messages::{Log, Options, Outcome, lead};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::bursts::Bursts;
use super::metrics;
use super::placed_log::{PlacedLog, Where};
use super::run_log::RunLog;
use crate::cct::{Called, Merger};
use crate::database::{Metric, Unit, Value};
use crate::load::{Process, Source, Warnings};

/// The log of a run that is being merged, and what is known so far of where its calls were made.
pub(crate) struct Waiting {
    log: RunLog,
    by_section: bool,
    /// By location of the log.
    calls: Vec<Where>,
    /// Names of the run's sections, each with those around it; the first stands for none.
    sections: Vec<String>,
    /// By location of the log, that of the merger.
    places: Vec<Option<u32>>,
    /// By location of the merger that has a log: nanoseconds by context.
    sampled: FxHashMap<u32, FxHashMap<u32, u64>>,
}

impl Waiting {
    /// `None` if no calls were logged; an error if there is no room to inflate a log.
    pub fn of(sources: &[Source], by_section: bool) -> Result<Option<Waiting>, String> {
        let waiting = |log: RunLog| {
            let locations = log.locations().len();
            Waiting {
                log,
                by_section,
                calls: vec![Where::default(); locations],
                sections: vec![String::new()],
                places: vec![None; locations],
                sampled: FxHashMap::default(),
            }
        };
        Ok(RunLog::of(sources)?.map(waiting))
    }

    /// By file, whose locations in the log are its, and where each called from.
    pub fn callers(&self, sources: &[Source]) -> Vec<Callers> {
        let of = |source: &Source| {
            let locations = self.log.locations_of(&source.name);
            let nodes =
                locations.clone().map(|location| self.log.callers(location, self.by_section)).collect();
            Callers { locations, nodes }
        };
        sources.par_iter().map(of).collect()
    }

    /// Gives the calls of a process their contexts; the process's locations in the log. The process is as it was decoded.
    pub fn place(
        &mut self,
        merger: &mut Merger<'_>,
        callers: Callers,
        process: &Process,
        modules: &[Option<u32>],
    ) -> Range<usize> {
        let own = callers.locations;
        for (location, callers) in own.clone().zip(callers.nodes) {
            let called: Vec<Called> = callers.iter().map(|key| called(process, *key)).collect();
            let contexts = merger.call_contexts(process, modules, &called);
            let contexts = callers.into_iter().zip(contexts).collect();
            self.calls[location] = Where { contexts, sections: self.section_numbers(process) };
        }
        own
    }

    /// By number of a section in a process's file, its number in the run: sections with the same labels are the same.
    fn section_numbers(&mut self, process: &Process) -> FxHashMap<u16, u16> {
        let mut names: Vec<String> = Vec::with_capacity(process.sections.sections.len());
        for section in &process.sections.sections {
            let above = section.parent.map(|parent| format!("{} > ", names[parent as usize]));
            names.push(above.unwrap_or_default() + &section.label);
        }
        let mut number = |name: &String| {
            let known = self.sections.iter().position(|known| known == name);
            known.unwrap_or_else(|| {
                self.sections.push(name.clone());
                self.sections.len() - 1
            }) as u16
        };
        let of_file = process.section_numbers.iter();
        of_file.map(|(file, index)| (*file as u16, number(&names[*index as usize]))).collect()
    }

    /// Adds a process, which has these locations of the log, to the merger.
    ///
    /// # Errors
    /// Those of the merger.
    pub fn add(
        &mut self,
        merger: &mut Merger<'_>,
        own: Range<usize>,
        process: &Process,
        modules: &[Option<u32>],
    ) -> io::Result<()> {
        let by = metrics::sampled(&process.metrics);
        let mut sampled: Vec<Value> = Vec::new();
        let first = merger.add(process, modules, &mut |metric, value| {
            if !own.is_empty() && Some(metric) == by {
                sampled.push(*value);
            }
        })?;
        for location in own {
            let ordinal = self.log.logged(location).map(|logged| logged.ordinal);
            let thread = process.locations.iter().position(|l| Some(l.ordinal) == ordinal);
            self.places[location] = thread.map(|thread| first + thread as u32);
        }
        for value in sampled {
            let of = self.sampled.entry(value.location).or_default();
            *of.entry(value.context).or_default() += u64::try_from(value.exclusive).unwrap_or(0);
        }
        Ok(())
    }

    /// The calls, when all processes are there.
    pub fn finish(self) -> PlacedCalls {
        PlacedCalls { log: self.log, calls: self.calls, sections: self.sections, places: self.places }
    }

    /// Finds the waits, when all processes are there, and gives their metrics to the merger.
    ///
    /// # Errors
    /// Those of the merger.
    pub fn find(mut self, merger: &mut Merger<'_>, warnings: &mut Warnings) -> io::Result<PlacedCalls> {
        self.log.warnings().iter().for_each(|sentence| warnings.add("MPI log", sentence.as_str()));
        let mut of_place = |place: &Option<u32>| place.and_then(|place| self.sampled.remove(&place));
        let sampled = self.places.iter().map(|place| of_place(place).unwrap_or_default()).collect();
        let calls = Arc::new(self.calls);
        let mut log = PlacedLog::new(self.log.clone(), calls.clone(), self.by_section).counting();
        let bursts = Bursts::new(merger.parents(), &log.calls(), sampled);
        let mut visitor = Waits::new(log.locations(), &log.functions(), bursts, waits::Options::default());
        match lead(&mut log, &mut visitor, &Options::default()) {
            Ok(outcome) => tell(&outcome, warnings),
            // What was matched before is right.
            Err(error) => warnings.add("MPI log", error.to_string()),
        }
        let analysis = visitor.finish();
        if analysis.checks.violated > 0 {
            let (violated, made) = (analysis.checks.violated, analysis.checks.made);
            warnings.add(
                "MPI log",
                format!("{violated} of {made} waits contradict the clocks of their ranks: waits between hosts may be wrong"),
            );
        }
        for (location, context, metric, ns) in analysis.times.sorted() {
            if let Some(place) = self.places[location as usize] {
                merger.push(&metrics::of_waits(metric), context, place, ns)?;
            }
        }
        for ((location, context), traffic) in log.traffic() {
            let counts = [
                (metrics::CALLS, traffic.calls),
                (metrics::SENT, traffic.sent),
                (metrics::RECEIVED, traffic.received),
            ];
            for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
                if let Some(place) = self.places[location as usize] {
                    merger.push(&Metric::new(Unit::Count, name), context, place, count)?;
                }
            }
        }
        Ok(PlacedCalls {
            log: self.log,
            calls: Arc::unwrap_or_clone(calls),
            sections: self.sections,
            places: self.places,
        })
    }
}

/// What is known of the calls in one file before it is merged.
pub(crate) struct Callers {
    locations: Range<usize>,
    /// By location: nodes of the file, each with a section.
    nodes: Vec<Vec<(u32, u16)>>,
}

/// A log, and where in a tree its calls were made.
pub(crate) struct PlacedCalls {
    pub log: RunLog,
    /// By location of the log.
    pub calls: Vec<Where>,
    /// Names of the sections that calls tell; the first stands for none.
    pub sections: Vec<String>,
    /// By location of the log, that of the tree's values.
    pub places: Vec<Option<u32>>,
}

impl PlacedCalls {
    /// After contexts and locations have got other numbers.
    pub fn renumbered(mut self, contexts: &[u32], locations: &[u32]) -> PlacedCalls {
        let of = self.calls.iter_mut().flat_map(|of| of.contexts.values_mut());
        of.for_each(|context| *context = contexts[*context as usize]);
        let places = self.places.iter_mut().flatten();
        places.for_each(|location| *location = locations[*location as usize]);
        self
    }
}

/// Where in a process a call was made.
fn called(process: &Process, (node, section): (u32, u16)) -> Called {
    let place = process.ids.binary_search_by_key(&node, |(id, _)| *id).ok();
    Called {
        node: place.map(|place| process.ids[place].1),
        section: process.section_numbers.get(&section.into()).copied(),
    }
}

/// Says what could not be matched.
fn tell(outcome: &Outcome, warnings: &mut Warnings) {
    if !outcome.is_whole() {
        let text = outcome.to_string();
        text.lines().skip(1).for_each(|line| warnings.add("MPI log", line));
    }
}
