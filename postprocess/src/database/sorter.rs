//! Bringing more values into order than the memory holds.
//!
//! Values come in any order and stand for contexts whose places are known only when all are there. They are counted by
//! context, so that afterwards every run of contexts has its place in a second file: what was written in the order of
//! coming is read once, written to its place, and then sorted run by run. Two files are enough for any number of
//! measurements.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::metric::{Metric, Value};
use super::time::with_time;
use crate::scratch::scratch;

/// Values that are kept in memory before any is written, and that are sorted at a time.
const RUN: usize = 1 << 16;
/// Most runs, each of which has a buffer; more values make longer runs.
const RUNS_MAX: u64 = 1 << 10;
/// Values in the buffer of a run.
const BUFFER: usize = 1 << 9;
/// Bytes of a value in a file.
const LENGTH: usize = 20;

/// Takes values in any order.
pub(crate) struct Sorter {
    /// Where values may be written; all stay in memory if nowhere.
    dir: Option<PathBuf>,
    memory: Vec<Value>,
    file: Option<BufWriter<File>>,
    /// Values of each context.
    counts: Vec<u32>,
}

impl Sorter {
    /// One that keeps everything in memory.
    pub fn in_memory() -> Sorter {
        Sorter { dir: None, memory: Vec::new(), file: None, counts: Vec::new() }
    }

    /// One that writes what is more than a little to files in a directory.
    pub fn in_dir(dir: &Path) -> Sorter {
        Sorter { dir: Some(dir.to_owned()), ..Sorter::in_memory() }
    }

    /// Takes a value. A context, location and metric may come several times: they add up.
    ///
    /// # Errors
    /// Those of writing.
    pub fn push(&mut self, value: Value) -> io::Result<()> {
        let context = value.context as usize;
        if context >= self.counts.len() {
            self.counts.resize(context + 1, 0);
        }
        self.counts[context] += 1;
        self.memory.push(value);
        match &self.dir {
            Some(dir) if self.memory.len() >= RUN => {
                let file = match &mut self.file {
                    Some(file) => file,
                    none => none.insert(BufWriter::new(scratch(&dir.join("values.incoming"))?)),
                };
                self.memory.drain(..).try_for_each(|value| file.write_all(&encode(value)))
            }
            _ => Ok(()),
        }
    }

    /// All values in order, at their final places, with `time` where its parts were measured.
    ///
    /// # Errors
    /// Those of writing and reading.
    pub fn finish(self, places: Places) -> io::Result<Sorted> {
        let Sorter { dir, mut memory, file, counts } = self;
        let (Some(dir), Some(file)) = (dir, file) else {
            memory.iter_mut().for_each(|value| *value = places.of(*value));
            return Ok(Sorted { metrics: places.metrics, runs: Runs::Memory(Some(memory)) });
        };
        let mut of_place = vec![0u32; places.contexts.iter().max().map_or(0, |last| *last as usize + 1)];
        for (context, count) in counts.into_iter().enumerate() {
            of_place[places.contexts[context] as usize] += count;
        }
        let mut incoming = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        io::Seek::rewind(&mut incoming)?;
        let mut out = Distribution::new(&of_place, scratch(&dir.join("values.runs"))?);
        let mut incoming = BufReader::with_capacity(1 << 16, incoming);
        let mut bytes = [0; LENGTH];
        let spilled = of_place.iter().map(|n| u64::from(*n)).sum::<u64>() - memory.len() as u64;
        for _ in 0..spilled {
            incoming.read_exact(&mut bytes)?;
            out.put(places.of(decode(&bytes)))?;
        }
        memory.into_iter().try_for_each(|value| out.put(places.of(value)))?;
        Ok(Sorted { metrics: places.metrics, runs: Runs::File(out.finish()?) })
    }
}

/// Where everything that values refer to has its final place.
pub(crate) struct Places {
    /// By context of the values that came.
    pub contexts: Vec<u32>,
    /// By location.
    pub locations: Vec<u32>,
    /// By metric.
    pub metric_places: Vec<u32>,
    /// The metrics in order, without `time`.
    pub metrics: Vec<Metric>,
}

impl Places {
    /// Everything is at its place.
    pub fn same(contexts: usize, locations: usize, metrics: Vec<Metric>) -> Places {
        let same = |n: usize| (0..n as u32).collect();
        let metric_places = same(metrics.len());
        Places { contexts: same(contexts), locations: same(locations), metric_places, metrics }
    }

    fn of(&self, value: Value) -> Value {
        Value {
            context: self.contexts[value.context as usize],
            location: self.locations[value.location as usize],
            metric: self.metric_places[value.metric as usize],
            exclusive: value.exclusive,
        }
    }
}

/// Values in order, a run of contexts at a time.
pub(crate) struct Sorted {
    metrics: Vec<Metric>,
    runs: Runs,
}

enum Runs {
    Memory(Option<Vec<Value>>),
    File(RunFile),
}

impl Sorted {
    /// The metrics that the values have, `time` among them.
    pub fn metrics(&self) -> Vec<Metric> {
        with_time(self.metrics.clone(), Vec::new()).0
    }

    /// The next values: all of one or more contexts.
    ///
    /// # Errors
    /// Those of reading.
    pub fn next(&mut self) -> io::Result<Option<Vec<Value>>> {
        let run = match &mut self.runs {
            Runs::Memory(values) => values.take(),
            Runs::File(file) => file.next()?,
        };
        Ok(run.map(|values| with_time(self.metrics.clone(), summed(values)).1))
    }
}

/// Values of the same place added up, in order.
pub(crate) fn summed(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_unstable();
    values.dedup_by(|next, kept| {
        let same = (next.context, next.location, next.metric) == (kept.context, kept.location, kept.metric);
        if same {
            kept.exclusive = kept.exclusive.saturating_add(next.exclusive);
        }
        same
    });
    values
}

/// A file in which every run has its place, while it is written.
struct Distribution {
    file: File,
    /// Run of each context.
    run_of: Vec<u32>,
    /// Values in each run.
    lengths: Vec<u64>,
    /// Where the next values of each run go, bytes.
    next: Vec<u64>,
    buffers: Vec<Vec<u8>>,
}

impl Distribution {
    fn new(counts: &[u32], file: File) -> Distribution {
        let all: u64 = counts.iter().map(|n| u64::from(*n)).sum();
        let longest = (all / RUNS_MAX).max(RUN as u64);
        let (mut run_of, mut lengths) = (Vec::with_capacity(counts.len()), vec![0u64]);
        for count in counts {
            let count = u64::from(*count);
            match lengths.last_mut() {
                Some(length) if *length == 0 || *length + count <= longest => *length += count,
                _ => lengths.push(count),
            }
            run_of.push(lengths.len() as u32 - 1);
        }
        let starts = lengths.iter().scan(0, |end, length| {
            let start = *end;
            *end += length * LENGTH as u64;
            Some(start)
        });
        let next = starts.collect();
        Distribution { file, run_of, buffers: vec![Vec::new(); lengths.len()], lengths, next }
    }

    fn put(&mut self, value: Value) -> io::Result<()> {
        let run = self.run_of[value.context as usize] as usize;
        let buffer = &mut self.buffers[run];
        buffer.extend_from_slice(&encode(value));
        if buffer.len() >= BUFFER * LENGTH { self.flush(run) } else { Ok(()) }
    }

    fn flush(&mut self, run: usize) -> io::Result<()> {
        let buffer = &mut self.buffers[run];
        self.file.write_all_at(buffer, self.next[run])?;
        self.next[run] += buffer.len() as u64;
        buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<RunFile> {
        (0..self.buffers.len()).try_for_each(|run| self.flush(run))?;
        io::Seek::rewind(&mut self.file)?;
        let mut lengths = self.lengths;
        lengths.reverse();
        Ok(RunFile { file: self.file, lengths })
    }
}

/// A file of runs.
struct RunFile {
    file: File,
    /// Values of the runs that are still to be read, the last one first.
    lengths: Vec<u64>,
}

impl RunFile {
    fn next(&mut self) -> io::Result<Option<Vec<Value>>> {
        let Some(length) = self.lengths.pop() else { return Ok(None) };
        let mut values = Vec::with_capacity(length as usize);
        let mut reader = BufReader::with_capacity(1 << 16, (&self.file).take(length * LENGTH as u64));
        let mut bytes = [0; LENGTH];
        for _ in 0..length {
            reader.read_exact(&mut bytes)?;
            values.push(decode(&bytes));
        }
        Ok(Some(values))
    }
}

fn encode(value: Value) -> [u8; LENGTH] {
    let exclusive = value.exclusive as u64;
    let words = [value.context, value.location, value.metric, exclusive as u32, (exclusive >> 32) as u32];
    let mut bytes = [0; LENGTH];
    bytes.chunks_exact_mut(4).zip(words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
    bytes
}

fn decode(bytes: &[u8; LENGTH]) -> Value {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let exclusive = u64::from(word(16)) << 32 | u64::from(word(12));
    Value { context: word(0), location: word(4), metric: word(8), exclusive: exclusive as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Unit;

    /// A permutation of contexts and locations, and what comes out for values in a scrambled order.
    fn sorted(sorter: Sorter, contexts: u32, locations: u32) -> Vec<Vec<Value>> {
        let mut sorter = sorter;
        let all = u64::from(contexts * locations);
        for i in 0..all {
            // A step that has no divisor in common with the number visits everything once.
            let i = (i * 7_368_787 % all) as u32;
            let (context, location) = (i / locations, i % locations);
            sorter.push(Value { context, location, metric: 0, exclusive: -i64::from(i) }).unwrap();
            if context == 0 {
                sorter.push(Value { context, location, metric: 0, exclusive: i64::MIN / 2 }).unwrap();
            }
        }
        let places = Places {
            contexts: (0..contexts).map(|c| contexts - 1 - c).collect(),
            locations: (0..locations).map(|l| (l + 1) % locations).collect(),
            metric_places: vec![0],
            metrics: vec![Metric::new(Unit::Count, "x")],
        };
        let mut sorted = sorter.finish(places).unwrap();
        std::iter::from_fn(|| sorted.next().unwrap()).collect()
    }

    #[test]
    fn files_give_what_the_memory_gives() {
        let dir = tempfile::tempdir().unwrap();
        let (contexts, locations) = (5_000, 41);
        let runs = sorted(Sorter::in_dir(dir.path()), contexts, locations);
        let values = sorted(Sorter::in_memory(), contexts, locations).concat();
        assert!(runs.len() > 2 && runs.iter().all(|run| run.len() <= RUN));
        assert_eq!(runs.concat(), values);
        assert_eq!(values.len() as u32, contexts * locations);
        assert!(values.is_sorted());
        let last = values.last().unwrap();
        assert_eq!((last.context, last.location, last.exclusive), (4_999, 40, i64::MIN / 2 - 39));
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn few_values_need_no_file() {
        let values = sorted(Sorter::in_dir(Path::new("/nowhere")), 10, 3).concat();
        assert_eq!(values.len(), 30);
    }
}
