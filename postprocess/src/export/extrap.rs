//! Extra-P's JSON: values of every call path at every processor count of a sweep, with its repetitions.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::By;
use super::calls::{Calls, Costs};
use super::profile::Profile;
use crate::cct::{Tree, union};
use crate::database::Database;

/// What a value at P processors is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// The sum over all locations, divided by P: the time of a process.
    #[default]
    Mean,
    /// The sum over all locations: work.
    Sum,
}

/// Writes what `extrap --json` reads, of runs with their processor counts: one parameter `p`, and for every call path the
/// metrics of these names, `METRIC` (exclusive) and `METRIC (inc)`, in seconds or counts.
///
/// Paths are `<program>->main->solve`, of the program, its functions, inlined functions, loops and pseudo frames, told
/// apart by name; `->` within a name is written `- >`. Runs of the same count are repetitions, in their order. A path that a
/// run does not have is 0 there: Extra-P wants every path at every count.
///
/// # Errors
/// Those of `out`; `InvalidInput` if a run lacks a metric or its count is 0.
///
/// # Examples
/// At P = 4 a path that costs 1, 2, 1 and 0 seconds in the four processes is 1 second by [`Basis::Mean`] and 4 seconds by
/// [`Basis::Sum`].
pub fn extrap(
    runs: &[(u32, &Database)],
    metrics: &[&str],
    basis: Basis,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut runs = runs.to_vec();
    runs.sort_by_key(|(count, _)| *count);
    if runs.first().is_some_and(|(count, _)| *count == 0) {
        return Err(invalid("a run of 0 processors"));
    }
    let calls: Vec<Calls> =
        runs.iter().map(|(_, database)| Calls::by_name(database.tree(), without_arrow)).collect();
    let (tree, places) = union(&calls.iter().map(|calls| &calls.tree).collect::<Vec<_>>());
    let columns = metrics
        .iter()
        .map(|name| {
            let mut of_runs = Vec::with_capacity(runs.len());
            for ((count, database), (calls, place)) in runs.iter().zip(calls.iter().zip(&places)) {
                let profile = Profile::new(database, &[name], By::None);
                let Some(metric) = profile.metrics().first() else {
                    return Err(invalid(&format!("a run of {count} processors lacks the metric `{name}`")));
                };
                let costs = profile.groups().first().map_or(&[][..], |group| group.costs(0));
                let divisor = if basis == Basis::Mean { f64::from(*count) } else { 1.0 };
                let costs = calls.costs(costs, metric.unit);
                of_runs.push(Costs {
                    exclusive: spread(&costs.exclusive, place, tree.len(), divisor),
                    inclusive: spread(&costs.inclusive, place, tree.len(), divisor),
                });
            }
            Ok(of_runs)
        })
        .collect::<io::Result<Vec<Vec<Costs>>>>()?;
    let counts = runs.iter().map(|(count, _)| *count).collect();
    let document =
        Document { parameters: ["p"], measurements: Measurements { tree, counts, metrics, columns } };
    serde_json::to_writer(out, &document).map_err(io::Error::from)
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// A name without what divides the names of a path.
fn without_arrow(name: &str) -> String {
    name.replace("->", "- >")
}

/// The values of a run's calls at their places in the tree of all runs.
fn spread(values: &[f64], place: &[u32], calls: usize, divisor: f64) -> Vec<f64> {
    let mut spread = vec![0.0; calls];
    for (value, place) in values.iter().zip(place) {
        spread[*place as usize] = value / divisor;
    }
    spread
}

#[derive(Serialize)]
struct Document<'a> {
    parameters: [&'static str; 1],
    measurements: Measurements<'a>,
}

struct Measurements<'a> {
    tree: Tree,
    /// Processor counts of the runs, in order.
    counts: Vec<u32>,
    metrics: &'a [&'a str],
    /// For each metric, the values of each run.
    columns: Vec<Vec<Costs>>,
}

impl Serialize for Measurements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.tree.len()))?;
        let mut path = String::new();
        // Where the path of each call above the current one ends.
        let mut ends: Vec<(u32, usize)> = Vec::new();
        for call in 0..self.tree.len() as u32 {
            while ends.last().is_some_and(|(above, _)| self.tree.end(*above) <= call) {
                ends.pop();
            }
            path.truncate(ends.last().map_or(0, |(_, end)| *end));
            if !ends.is_empty() {
                path.push_str("->");
            }
            path.push_str(&self.tree.scope(call).name);
            ends.push((call, path.len()));
            map.serialize_entry(&path, &OneCall { of: self, call: call as usize })?;
        }
        map.end()
    }
}

/// The values of one call path.
struct OneCall<'a> {
    of: &'a Measurements<'a>,
    call: usize,
}

#[derive(Serialize)]
struct Point {
    point: [u32; 1],
    values: Vec<f64>,
}

impl Serialize for OneCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, runs) in self.of.metrics.iter().zip(&self.of.columns) {
            map.serialize_entry(name, &self.points(runs, |costs| &costs.exclusive))?;
            map.serialize_entry(&format!("{name} (inc)"), &self.points(runs, |costs| &costs.inclusive))?;
        }
        map.end()
    }
}

impl OneCall<'_> {
    fn points(&self, runs: &[Costs], which: impl Fn(&Costs) -> &Vec<f64>) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for (count, costs) in self.of.counts.iter().zip(runs) {
            let value = which(costs)[self.call];
            match points.last_mut() {
                Some(last) if last.point == [*count] => last.values.push(value),
                _ => points.push(Point { point: [*count], values: vec![value] }),
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::export::samples::{NAMES, awkward, empty};
    use crate::synthetic::{database, database_with_helper, time_database};

    fn document(runs: &[(u32, &Database)], metrics: &[&str], basis: Basis) -> Value {
        let mut out = Vec::new();
        extrap(runs, metrics, basis, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn every_path_has_every_count_and_absent_is_zero() {
        let (small, large) = (database(), database_with_helper(false));
        let document = document(&[(4, &large), (2, &small), (4, &small)], &["cpu", "samples"], Basis::Mean);
        assert_eq!(document["parameters"], json!(["p"]));
        for (path, metrics) in document["measurements"].as_object().unwrap() {
            assert!(path.starts_with("<program>"));
            assert_eq!(metrics.as_object().unwrap().len(), 4);
            for points in metrics.as_object().unwrap().values() {
                let shape: Vec<(u64, usize)> = points
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|p| (p["point"][0].as_u64().unwrap(), p["values"].as_array().unwrap().len()))
                    .collect();
                assert_eq!(shape, [(2, 1), (4, 2)], "{path}");
            }
        }
        // The helper's path is in one of the runs only: 2.5 s of 4 processors.
        let poll = &document["measurements"]["<program>-><thread root>->a_progress_engine->poll"]["cpu"];
        assert_eq!(
            *poll,
            json!([{"point": [2], "values": [0.0]}, {"point": [4], "values": [2.5 / 4.0, 0.0]}])
        );
    }

    #[test]
    fn the_basis_is_work_or_its_share_of_a_processor() {
        let database = time_database();
        let total = |basis| {
            document(&[(2, &database)], &["time"], basis)["measurements"]["<program>"]["time (inc)"][0]["values"]
                [0]
            .as_f64()
            .unwrap()
        };
        assert_eq!((total(Basis::Sum), total(Basis::Mean)), (2.0, 1.0));
    }

    #[test]
    fn names_cannot_divide_a_path() {
        let database = awkward();
        let document = document(&[(1, &database)], &["cpu"], Basis::Sum);
        let deepest =
            document["measurements"].as_object().unwrap().keys().map(|k| k.split("->").count()).max();
        assert_eq!(deepest, Some(2002));
        let below_main =
            document["measurements"].as_object().unwrap().keys().filter(|path| path.split("->").count() == 3);
        assert_eq!(below_main.count(), NAMES.len() + 3);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let error = |runs: &[(u32, &Database)], metric| {
            extrap(runs, &[metric], Basis::Mean, &mut Vec::new()).unwrap_err().to_string()
        };
        assert_eq!(error(&[(0, &database())], "cpu"), "a run of 0 processors");
        let lacks = error(&[(1, &time_database()), (2, &database())], "time");
        assert_eq!(lacks, "a run of 2 processors lacks the metric `time`");
    }

    #[test]
    fn empty_profiles_are_zero() {
        let empty = empty();
        let document = document(&[(1, &empty)], &["cpu"], Basis::Mean);
        assert_eq!(document["measurements"]["<program>"]["cpu"][0]["values"], json!([0.0]));
    }
}
