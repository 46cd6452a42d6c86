//! Caliper's native stream: attributes, a tree of regions, and one record of values for each region.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::By;
use super::calls::{Calls, Costs};
use super::places::places;
use super::profile::Profile;
use super::text::one_line;
use crate::database::{Metric, Unit};

// Nodes that every reader knows from the beginning, and the first number that is free.
const TYPE_INT: u64 = 1;
const TYPE_STRING: u64 = 3;
const TYPE_DOUBLE: u64 = 5;
const NAME: u64 = 8;
const PROPERTIES: u64 = 10;
const FREE: u64 = 12;

// Properties of attributes.
const AS_VALUE: u64 = 1;
const SCOPE_PROCESS: u64 = 12;
const SKIP_EVENTS: u64 = 64;
const NESTED: u64 = 256;
const GLOBAL: u64 = 512;

/// Writes what Hatchet's and Thicket's `from_caliperreader` and Caliper's own tools read: nested regions for the program,
/// its functions, inlined functions, loops and pseudo frames, told apart by name.
///
/// Every region has one record with all metrics, exclusive and inclusive, 0 among them: `sum#time.duration` and
/// `inclusive#sum#time.duration` with the aliases `time` and `time (inc)`, in seconds; `sum#cycles` and so on for counts.
/// Globals are `mpi.world.size` (if the number of ranks is known), `numhosts`, `executable`, `cmdline`, `falloff.run_id` and
/// `falloff.created`. [`By::Rank`] gives each region a record for each rank, with `mpi.rank`.
///
/// # Errors
/// Those of `out`; `InvalidInput` for [`By::Process`] and [`By::Thread`], which the readers do not know.
pub fn caliper(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let ranks = match profile.by() {
        By::None => false,
        By::Rank => true,
        By::Process | By::Thread => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the format keeps nothing apart but ranks (`--by rank`)",
            ));
        }
    };
    let mut stream = Stream { out, free: FREE };
    let alias = stream.attribute("attribute.alias", TYPE_STRING, SKIP_EVENTS | SCOPE_PROCESS, None)?;
    let region = stream.attribute("region", TYPE_STRING, NESTED | SCOPE_PROCESS, None)?;
    let mut columns = Vec::new();
    for metric in profile.metrics() {
        for (prefix, suffix) in [("", ""), ("inclusive#", " (inc)")] {
            let name = format!("{prefix}{}", native_name(metric));
            let alias = (alias, format!("{}{suffix}", metric.name));
            columns.push(stream.attribute(&name, TYPE_DOUBLE, AS_VALUE | SKIP_EVENTS, Some(alias))?);
        }
    }
    if ranks {
        columns.push(stream.attribute("mpi.rank", TYPE_INT, AS_VALUE | SKIP_EVENTS, None)?);
    }

    let calls = Calls::by_name(profile.tree(), str::to_owned);
    let mut regions: Vec<u64> = Vec::with_capacity(calls.tree.len());
    for call in 0..calls.tree.len() as u32 {
        let above = calls.tree.parent(call).map(|caller| regions[caller as usize]);
        regions.push(stream.node(region, &calls.tree.scope(call).name, above)?);
    }
    // Callers before those they call: a reader that meets a path before its beginning makes two rows of that.
    for (group, place) in profile.groups().iter().zip(places(profile)) {
        let metrics = profile.metrics().iter().enumerate();
        let costs: Vec<Costs> = metrics.map(|(i, metric)| calls.costs(group.costs(i), metric.unit)).collect();
        for (call, region) in regions.iter().enumerate() {
            let of_call = costs.iter().flat_map(|c| [c.exclusive[call], c.inclusive[call]]);
            let mut values: Vec<String> = of_call.map(|value| value.to_string()).collect();
            values.extend(ranks.then(|| place.rank.to_string()));
            stream.record("ctx", &[*region], &columns, &values)?;
        }
    }
    globals(profile, &mut stream)
}

/// The name of a metric's sum in Caliper's convention.
fn native_name(metric: &Metric) -> String {
    match metric.unit {
        Unit::Nanoseconds => format!("sum#{}.duration", metric.name),
        Unit::Count => format!("sum#{}", metric.name),
    }
}

/// What is known of the run.
fn globals(profile: &Profile, stream: &mut Stream) -> io::Result<()> {
    let locations = profile.database().locations();
    let provenance = profile.database().provenance();
    let hosts: BTreeSet<&str> = locations.iter().map(|l| l.host.as_str()).collect();
    let seen: BTreeSet<u32> = locations.iter().filter_map(|l| l.rank).collect();
    let ranks = locations.iter().map(|l| l.ranks).max().unwrap_or(0).max(seen.len() as u32);
    let mut numbers = vec![("numhosts", hosts.len() as u32)];
    numbers.extend((ranks > 0).then_some(("mpi.world.size", ranks)));
    let texts = [
        ("executable", provenance.command.first().cloned().unwrap_or_default()),
        ("cmdline", provenance.command.join(" ")),
        ("falloff.run_id", provenance.run_id.clone()),
        ("falloff.created", provenance.created.clone()),
    ];
    let mut nodes = Vec::new();
    for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        let attribute = stream.attribute(name, TYPE_STRING, GLOBAL | SKIP_EVENTS | SCOPE_PROCESS, None)?;
        nodes.push(stream.node(attribute, &one_line(text), None)?);
    }
    let (mut attributes, mut values) = (Vec::new(), Vec::new());
    for (name, number) in numbers {
        let properties = GLOBAL | AS_VALUE | SKIP_EVENTS | SCOPE_PROCESS;
        attributes.push(stream.attribute(name, TYPE_INT, properties, None)?);
        values.push(number.to_string());
    }
    stream.record("globals", &nodes, &attributes, &values)
}

/// Lines of a stream.
struct Stream<'a> {
    out: &'a mut dyn Write,
    free: u64,
}

impl Stream<'_> {
    /// Defines an attribute and gives its number; an alias is the number of the attribute for aliases and its text.
    fn attribute(
        &mut self,
        name: &str,
        of_type: u64,
        properties: u64,
        alias: Option<(u64, String)>,
    ) -> io::Result<u64> {
        let mut above = self.node(PROPERTIES, &properties.to_string(), Some(of_type))?;
        if let Some((attribute, text)) = alias {
            above = self.node(attribute, &text, Some(above))?;
        }
        self.node(NAME, name, Some(above))
    }

    /// Writes a node and gives its number.
    fn node(&mut self, attribute: u64, data: &str, above: Option<u64>) -> io::Result<u64> {
        let id = self.free;
        self.free += 1;
        write!(self.out, "__rec=node,id={id},attr={attribute},data={}", escaped(data))?;
        match above {
            Some(above) => writeln!(self.out, ",parent={above}")?,
            None => writeln!(self.out)?,
        }
        Ok(id)
    }

    fn record(&mut self, kind: &str, nodes: &[u64], attributes: &[u64], values: &[String]) -> io::Result<()> {
        write!(self.out, "__rec={kind}")?;
        let numbers = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>();
        for (key, items) in [("ref", &*numbers(nodes)), ("attr", &*numbers(attributes)), ("data", values)] {
            if !items.is_empty() {
                write!(self.out, ",{key}={}", items.join("="))?;
            }
        }
        writeln!(self.out)
    }
}

/// Text without the characters that divide a record.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | ',' | '=') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::export::samples::{awkward, empty};
    use crate::synthetic::{database, time_database};

    fn text(database: &Database, metrics: &[&str], by: By) -> String {
        let mut out = Vec::new();
        caliper(&Profile::new(database, metrics, by), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_whole_stream() {
        insta::assert_snapshot!("caliper", text(&time_database(), &["time", "cycles"], By::None));
    }

    #[test]
    fn every_region_has_a_record_for_each_rank() {
        let text = text(&database(), &["cpu"], By::Rank);
        let records: Vec<&str> = text.lines().filter(|line| line.starts_with("__rec=ctx")).collect();
        let regions = Calls::by_name(database().tree(), str::to_owned).tree.len();
        assert_eq!(records.len(), 2 * regions);
        assert_eq!(records.iter().filter(|line| line.ends_with("=1")).count(), regions);
    }

    #[test]
    fn what_readers_do_not_know_is_refused() {
        for by in [By::Process, By::Thread] {
            let error = caliper(&Profile::new(&database(), &["cpu"], by), &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn names_cannot_break_a_line() {
        assert_eq!(escaped("f<a=b,c\\>"), "f<a\\=b\\,c\\\\>");
        let text = text(&awkward(), &["cpu"], By::None);
        assert!(text.lines().all(|line| line.starts_with("__rec=")));
        assert_eq!(text.lines().filter(|line| line.contains(",data=walk,")).count(), 2000);
    }

    #[test]
    fn an_empty_profile_is_a_stream_too() {
        let text = text(&empty(), &["cpu"], By::None);
        assert_eq!(text.lines().filter(|line| line.starts_with("__rec=ctx")).count(), 0);
        assert!(text.ends_with('\n') && text.contains("__rec=globals"));
    }
}
