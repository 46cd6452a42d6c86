//! A whole profile.

use std::collections::BTreeMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::message::Message;
use super::places::{Modules, Places, functions};
use super::strings::Strings;
use crate::database::{Database, Metric};
use crate::export::Profile;
use crate::export::frames::{Detail, Frames};
use crate::export::labels::Labels;

/// Writes all metrics of the profile as kinds of samples, the first as the default one.
///
/// There is one sample for each group and call path with lines, with the labels `rank`, `process` and `thread` as far as
/// all locations of the group have them in common. Inlined functions are further lines of the location of the function
/// that holds them. Load modules have their path and build id, and no addresses. The command and all warnings are
/// comments.
///
/// # Errors
/// Those of `out`.
pub fn pprof(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut out = GzEncoder::new(out, Compression::default());
    let mut strings = Strings::new();
    let frames = Frames::new(profile, Detail::Lines);
    let mut places = Places::new(&frames);
    let modules = Modules::new(&frames, profile.database());
    for metric in profile.metrics() {
        put(&mut out, 1, &value_type(metric, &mut strings))?;
    }
    samples(profile, &frames, &mut places, &mut strings, &mut out)?;
    for mapping in modules.messages(profile.database(), &mut strings) {
        put(&mut out, 3, &mapping)?;
    }
    for location in places.messages(&frames, &modules) {
        put(&mut out, 4, &location)?;
    }
    for function in functions(&frames, &mut strings) {
        put(&mut out, 5, &function)?;
    }
    out.write_all(about(profile, &mut strings).bytes())?;
    for string in strings.all() {
        out.write_all(Message::default().text(6, string).bytes())?;
    }
    out.finish()?.flush()
}

/// Writes a message as an element of a list of the profile.
fn put(out: &mut impl Write, field: u64, message: &Message) -> io::Result<()> {
    out.write_all(Message::default().message(field, message).bytes())
}

fn value_type(metric: &Metric, strings: &mut Strings) -> Message {
    Message::default().number(1, strings.index(&metric.name)).number(2, strings.index(metric.unit.word()))
}

fn samples(
    profile: &Profile,
    frames: &Frames,
    places: &mut Places,
    strings: &mut Strings,
    out: &mut impl Write,
) -> io::Result<()> {
    let labels = Labels::new(profile);
    let metrics = profile.metrics().len();
    for group in profile.groups() {
        let labels: Vec<Message> = labels
            .of(group)
            .into_iter()
            .map(|(key, value)| {
                Message::default().number(1, strings.index(key)).number(2, strings.index(value))
            })
            .collect();
        let mut samples: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for metric in 0..metrics {
            for (context, cost) in group.costs(metric) {
                if let Some(frame) = frames.of_context(*context) {
                    samples.entry(frame).or_insert_with(|| vec![0.0; metrics])[metric] += cost;
                }
            }
        }
        for (frame, values) in samples {
            let values = values.into_iter().map(|value| value.round() as i64 as u64);
            let sample = Message::default().numbers(1, places.path(frames, frame)).numbers(2, values);
            put(out, 2, &labels.iter().fold(sample, |sample, label| sample.message(3, label)))?;
        }
    }
    Ok(())
}

/// When, how long and how often was sampled, which metric is the default one, and comments.
fn about(profile: &Profile, strings: &mut Strings) -> Message {
    let database = profile.database();
    let (begin_ns, duration_ns) = span(database);
    let mut about = Message::default().signed(9, begin_ns).signed(10, duration_ns);
    let periods = database.locations().iter().flat_map(|location| &location.periods);
    if let Some((metric, period)) =
        periods.filter_map(|(name, period)| Some((database.metric(name)?, period))).next()
    {
        about = about.message(11, &value_type(metric, strings)).number(12, *period);
    }
    let command = format!("command: {}", database.provenance().command.join(" "));
    let comments = std::iter::once(&command).chain(database.warnings()).map(|comment| strings.index(comment));
    about = about.numbers(13, comments);
    match profile.metrics().first() {
        Some(metric) => about.number(14, strings.index(&metric.name)),
        None => about,
    }
}

/// When the first process began, in nanoseconds since 1970, and how long it took from then until the last thread ended,
/// as far as that is known.
fn span(database: &Database) -> (i64, i64) {
    let begin = database.locations().iter().map(|l| l.start_ns).min().unwrap_or(0);
    let end = database.locations().iter().map(|l| l.start_ns.saturating_add(l.wall_ns)).max().unwrap_or(0);
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    (signed(begin), signed(end - begin))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;
    use crate::export::{By, samples};
    use crate::synthetic;

    fn bytes(database: &Database, metrics: &[&str], by: By) -> Vec<u8> {
        let mut file = Vec::new();
        pprof(&Profile::new(database, metrics, by), &mut file).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(&file[..]).read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn varint(bytes: &mut &[u8]) -> u64 {
        let length = bytes.iter().position(|byte| *byte < 0x80).unwrap() + 1;
        let (number, rest) = bytes.split_at(length);
        *bytes = rest;
        number.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
    }

    /// Fields of a message in order: field and number, or field and bytes.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, Result<u64, &[u8]>)> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let number = varint(&mut bytes);
            let value = if tag & 7 == 0 {
                Ok(number)
            } else {
                let (block, rest) = bytes.split_at(number as usize);
                bytes = rest;
                Err(block)
            };
            fields.push((tag >> 3, value));
        }
        fields
    }

    fn blocks<'a>(fields: &[(u64, Result<u64, &'a [u8]>)], field: u64) -> Vec<&'a [u8]> {
        fields.iter().filter(|(f, _)| *f == field).map(|(_, value)| value.unwrap_err()).collect()
    }

    fn numbers(mut bytes: &[u8]) -> Vec<u64> {
        let mut numbers = Vec::new();
        while !bytes.is_empty() {
            numbers.push(varint(&mut bytes));
        }
        numbers
    }

    #[test]
    fn samples_add_up_for_every_metric() {
        let database = synthetic::database();
        for by in [By::None, By::Rank, By::Thread] {
            let bytes = bytes(&database, &["cpu", "samples"], by);
            let profile = fields(&bytes);
            assert_eq!(blocks(&profile, 1).len(), 2);
            let mut sums = [0.0; 2];
            for sample in blocks(&profile, 2) {
                let sample = fields(sample);
                let values = numbers(blocks(&sample, 2)[0]);
                sums[0] += values[0] as f64;
                sums[1] += values[1] as f64;
                // One thread is a process, and a process is a rank.
                assert_eq!(blocks(&sample, 3).len(), if by == By::None { 0 } else { 3 });
            }
            let totals =
                ["cpu", "samples"].map(|name| database.exclusive_totals(name).unwrap().iter().sum::<f64>());
            assert_eq!(sums, totals);
        }
    }

    #[test]
    fn inlined_functions_are_lines_of_one_location() {
        let bytes = bytes(&synthetic::database(), &["cpu"], By::None);
        let profile = fields(&bytes);
        let strings: Vec<_> =
            blocks(&profile, 6).into_iter().map(|s| std::str::from_utf8(s).unwrap()).collect();
        let names: Vec<&str> = blocks(&profile, 5)
            .into_iter()
            .map(|function| {
                strings[fields(function).iter().find(|(f, _)| *f == 2).unwrap().1.unwrap() as usize]
            })
            .collect();
        let lines = |location: &[u8]| -> Vec<(String, u64)> {
            let lines = blocks(&fields(location), 4).into_iter().map(fields);
            lines
                .map(|line| (names[line[0].1.unwrap() as usize - 1].to_owned(), line[1].1.unwrap()))
                .collect()
        };
        let inlined: Vec<_> = blocks(&profile, 4)
            .into_iter()
            .filter(|location| blocks(&fields(location), 4).len() > 1)
            .map(lines)
            .collect();
        assert_eq!(inlined, [[("kernel".to_owned(), 22), ("solve".to_owned(), 33)]]);
    }

    #[test]
    fn modules_have_their_build_ids() {
        let bytes = bytes(&samples::awkward(), &["cpu"], By::Process);
        let profile = fields(&bytes);
        let strings = blocks(&profile, 6);
        let mapping = fields(blocks(&profile, 3)[0]);
        let at = |index: usize| strings[mapping[index].1.unwrap() as usize];
        assert_eq!((mapping[1].0, at(1), mapping[2].0, at(2)), (5, &b"/bin/app"[..], 6, &b"c0ffee"[..]));
    }

    #[test]
    fn negative_values_stay_negative() {
        let difference = samples::difference();
        let bytes = bytes(&difference, &["cpu"], By::Rank);
        let profile = fields(&bytes);
        let values =
            blocks(&profile, 2).into_iter().map(|sample| numbers(blocks(&fields(sample), 2)[0])[0] as i64);
        assert_eq!(values.filter(|value| *value < 0).count(), 1);
    }

    #[test]
    fn empty_profiles_are_written() {
        let bytes = bytes(&samples::empty(), &["cpu"], By::Rank);
        assert_eq!(blocks(&fields(&bytes), 2).len(), 0);
        assert_eq!(blocks(&fields(&bytes), 6)[0], b"");
    }
}
