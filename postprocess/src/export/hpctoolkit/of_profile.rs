//! The database of one run.

use std::io;
use std::path::Path;

use super::contents::{Column, Contents, Part};
use super::ids;
use super::nodes::Roots;
use crate::database::{Database, Location, Metric, Unit};
use crate::export::profile::Profile;

/// Seconds of a nanosecond.
const SECONDS_PER_NS: f64 = 1e-9;

/// Writes an HPCToolkit database with a profile for every location, whatever the profile's groups are.
///
/// Times are in seconds. Locations that were left out, and helpers without cost, have no profile.
///
/// # Errors
/// Those of [`Contents::write`].
pub fn hpctoolkit(profile: &Profile, dir: &Path) -> io::Result<()> {
    contents(profile).write(dir, Roots::Apart)
}

/// As [`hpctoolkit`], for Hatchet, which reads only what is below the main entry point: there are also the paths of other
/// threads, below `<thread root>`, and those that could not be followed to their root, below `[partial]`.
///
/// # Errors
/// Those of [`Contents::write`].
pub fn hpctoolkit_hatchet(profile: &Profile, dir: &Path) -> io::Result<()> {
    contents(profile).write(dir, Roots::Together)
}

fn contents<'a>(profile: &Profile<'a>) -> Contents<'a> {
    let database = profile.database();
    Contents {
        title: title(database),
        description: description(database),
        tree: profile.tree(),
        modules: database.modules(),
        metrics: columns(profile.metrics()),
        parts: parts(database, profile.metrics()),
    }
}

/// The program's name.
fn title(database: &Database) -> String {
    let command = &database.provenance().command;
    let program = command.first().map(String::as_str).or(database.locations().first().map(Location::program));
    let program = program.unwrap_or("profile");
    program.rsplit('/').next().unwrap_or(program).to_owned()
}

fn description(database: &Database) -> String {
    let provenance = database.provenance();
    let mut lines = vec![format!("Exported by falloff {}.", env!("CARGO_PKG_VERSION"))];
    lines.push(format!("- command: {}", provenance.command.join(" ")));
    lines.push(format!("- run: {}", provenance.run_id));
    let mut hosts: Vec<&str> = database.locations().iter().map(|l| l.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    lines.extend(hosts.iter().enumerate().map(|(number, host)| format!("- node {number}: {host}")));
    lines.extend(database.warnings().iter().map(|warning| format!("- warning: {warning}")));
    lines.join("\n")
}

/// Metrics that have names by which Hatchet knows the `time`; the first that is there gets its name.
///
/// Hatchet takes `REALTIME`, `CPUTIME` and `cycles` all for `time` and, where there are two, shows a mixture.
const TIMES: [&str; 3] = ["time", "cpu", "cycles"];
/// What `cycles` is called beside a time; perf knows both names.
const CYCLES: (&str, &str) = ("cycles", "cpu-cycles");

/// What HPCToolkit calls a time, without its unit.
///
/// ```
/// use falloff_postprocess::export::hpctoolkit::time_name;
/// assert_eq!(["time", "cpu", "blocked"].map(time_name), ["REALTIME", "CPUTIME", "BLOCKED"]);
/// ```
pub fn time_name(metric: &str) -> String {
    match metric {
        "time" => "REALTIME".into(),
        "cpu" => "CPUTIME".into(),
        other => other.to_uppercase(),
    }
}

fn columns(metrics: &[&Metric]) -> Vec<Column> {
    let time = TIMES.into_iter().find(|time| metrics.iter().any(|m| m.name == *time));
    let name = |metric: &Metric| match metric.unit {
        Unit::Nanoseconds if time == Some(&metric.name) => format!("{} (sec)", time_name(&metric.name)),
        Unit::Nanoseconds => format!("{} (sec)", metric.name.to_uppercase()),
        Unit::Count if metric.name == CYCLES.0 && time != Some(CYCLES.0) => CYCLES.1.to_owned(),
        Unit::Count => metric.name.clone(),
    };
    let column = |metric: &&Metric| Column {
        name: name(metric),
        description: match metric.unit {
            Unit::Nanoseconds => format!("{}, in seconds", metric.name),
            Unit::Count => metric.name.clone(),
        },
    };
    metrics.iter().map(column).collect()
}

/// Every location with its values.
fn parts(database: &Database, metrics: &[&Metric]) -> Vec<Part> {
    let columns: Vec<Option<u16>> =
        database.metrics().iter().map(|m| metrics.iter().position(|n| *n == m).map(|at| at as u16)).collect();
    let ids = ids::of_locations(database.locations());
    let mut parts: Vec<Part> = ids.into_iter().map(|ids| Part { ids, values: Vec::new() }).collect();
    for value in database.values() {
        let metric = &database.metrics()[value.metric as usize];
        let unit = if metric.unit == Unit::Nanoseconds { SECONDS_PER_NS } else { 1.0 };
        if let Some(column) = columns[value.metric as usize] {
            let own = metric.in_unit(value.exclusive) * unit;
            parts[value.location as usize].values.push((value.context, column, own));
        }
    }
    let with_locations = parts.into_iter().zip(database.locations());
    with_locations.filter(|(part, l)| !l.helper || !part.values.is_empty()).map(|(part, _)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::By;
    use crate::synthetic;

    fn names(metrics: &[(&str, Unit)]) -> Vec<String> {
        let metrics: Vec<Metric> = metrics.iter().map(|(name, unit)| Metric::new(*unit, *name)).collect();
        columns(&metrics.iter().collect::<Vec<_>>()).into_iter().map(|c| c.name).collect()
    }

    #[test]
    fn one_metric_is_hatchets_time() {
        let (ns, count) = (Unit::Nanoseconds, Unit::Count);
        let all = [("time", ns), ("blocked", ns), ("cpu", ns), ("cycles", count), ("samples", count)];
        let expected = ["REALTIME (sec)", "BLOCKED (sec)", "CPU (sec)", "cpu-cycles", "samples"];
        assert_eq!(names(&all), expected);
        assert_eq!(names(&all[1..]), ["BLOCKED (sec)", "CPUTIME (sec)", "cpu-cycles", "samples"]);
        assert_eq!(names(&all[3..]), ["cycles", "samples"]);
        assert_eq!(names(&[("samples", count)]), ["samples"]);
    }

    #[test]
    fn helpers_that_are_left_out_have_no_profile() {
        let whole = synthetic::database_with_helper(false);
        let profile = |database: &Database| {
            contents(&Profile::new(database, &["cpu"], By::None))
                .parts
                .iter()
                .map(|p| p.ids.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(profile(&whole).len(), 3);
        assert_eq!(profile(&whole.without_helpers()), profile(&synthetic::database()));
    }

    #[test]
    fn values_are_in_seconds() {
        let database = synthetic::database();
        let contents = contents(&Profile::new(&database, &["samples", "cpu"], By::None));
        let sum = |metric: u16| -> f64 {
            let values = contents.parts.iter().flat_map(|p| &p.values);
            values.filter(|(_, m, _)| *m == metric).map(|(.., value)| value).sum()
        };
        let total = |name| -> f64 { database.exclusive_totals(name).unwrap().iter().sum() };
        assert_eq!(sum(0), total("samples"));
        assert!((sum(1) - total("cpu") * 1e-9).abs() < 1e-9);
        insta::assert_snapshot!("description", contents.description);
        assert_eq!(contents.title, "app");
    }
}
