//! Hatchet's JSON: a graph of frames and a table with a row for each node and each group of locations.

use std::io::{self, Write};

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::By;
use super::calls::Calls;
use super::places::{Place, places};
use super::profile::{Group, Profile};
use crate::cct::ScopeKind;

/// Writes what Hatchet's `GraphFrame.from_json` reads: nodes for the program, its functions, inlined functions, loops and
/// pseudo frames; statements count to what they are in, and calls from several lines are one node.
///
/// A frame is a node's `name` and `type` ([`ScopeKind::word`]), with `module` and `file` where they are known and the `line`
/// of a loop; two profiles' nodes are the same if their frames are. Columns are `METRIC` (exclusive) and `METRIC (inc)`, in
/// seconds or counts, and `name`, `module`, `file` and `line` (of the definition). Rows are indexed by node, and by `rank`
/// ([`By::Rank`]), `process` (its label) or `rank` and `thread` where these are kept apart; every node has a row for each
/// of them, 0 where it has no cost. Processes without a rank are numbered on from the largest rank.
///
/// # Errors
/// Those of `out`.
pub fn hatchet(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let table = Table { calls: Calls::by_source(profile.tree()), places: places(profile), profile };
    let names = |suffix: &str| -> Vec<String> {
        profile.metrics().iter().map(|metric| format!("{}{suffix}", metric.name)).collect()
    };
    let document = Document {
        graph: [Graph(&table.calls)],
        dataframe: &table,
        dataframe_indices: [&["node"], table.levels()].concat(),
        exclusive_metrics: names(""),
        inclusive_metrics: names(INCLUSIVE),
    };
    serde_json::to_writer(out, &document).map_err(io::Error::from)
}

/// How the name of a column of inclusive values ends.
const INCLUSIVE: &str = " (inc)";

#[derive(Serialize)]
struct Document<'a> {
    graph: [Graph<'a>; 1],
    dataframe: &'a Table<'a>,
    dataframe_indices: Vec<&'static str>,
    exclusive_metrics: Vec<String>,
    inclusive_metrics: Vec<String>,
}

/// The nodes by their numbers.
struct Graph<'a>(&'a Calls);

#[derive(Serialize)]
struct Node<'a> {
    data: Frame<'a>,
    children: Vec<u32>,
}

/// What is not known is left out: Hatchet sorts frames and cannot compare nothing with something.
#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl Serialize for Graph<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tree = &self.0.tree;
        serializer.collect_map((0..tree.len() as u32).map(|call| {
            let scope = tree.scope(call);
            let data = Frame {
                name: &scope.name,
                r#type: scope.kind.word(),
                module: scope.module.as_deref(),
                file: scope.file.as_deref(),
                line: scope.line.filter(|_| scope.kind == ScopeKind::Loop),
            };
            (call, Node { data, children: tree.children(call).collect() })
        }))
    }
}

/// The table, column by column: the rows of a group of locations follow each other.
struct Table<'a> {
    profile: &'a Profile<'a>,
    calls: Calls,
    places: Vec<Place>,
}

impl Table<'_> {
    /// What rows are told apart by beside their nodes.
    fn levels(&self) -> &'static [&'static str] {
        match self.profile.by() {
            By::None => &[],
            By::Rank => &["rank"],
            By::Process => &["process"],
            By::Thread => &["rank", "thread"],
        }
    }

    fn nodes(&self) -> std::ops::Range<u32> {
        0..self.calls.tree.len() as u32
    }

    /// A column with a value for each group.
    fn of_groups<'a, T: Serialize>(&'a self, value: impl Fn(&'a Group, Place) -> T + Copy) -> impl Serialize {
        Column(move || {
            let groups = self.profile.groups().iter().zip(&self.places);
            groups.flat_map(move |(group, place)| self.nodes().map(move |_| value(group, *place)))
        })
    }

    /// A column with a value for each node.
    fn of_nodes<T: Serialize>(&self, value: impl Fn(u32) -> T + Copy) -> impl Serialize {
        Column(move || self.profile.groups().iter().flat_map(move |_| self.nodes().map(value)))
    }
}

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let scope = |call| self.calls.tree.scope(call);
        map.serialize_entry("node", &self.of_nodes(|call| call))?;
        for level in self.levels() {
            match *level {
                "rank" => map.serialize_entry(level, &self.of_groups(|_, place| place.rank))?,
                "thread" => map.serialize_entry(level, &self.of_groups(|_, place| place.thread))?,
                _ => map.serialize_entry(level, &self.of_groups(|group, _| &group.label))?,
            }
        }
        map.serialize_entry("name", &self.of_nodes(|call| &*scope(call).name))?;
        map.serialize_entry("module", &self.of_nodes(|call| scope(call).module.as_deref()))?;
        map.serialize_entry("file", &self.of_nodes(|call| scope(call).file.as_deref()))?;
        map.serialize_entry("line", &self.of_nodes(|call| scope(call).line))?;
        for (index, metric) in self.profile.metrics().iter().enumerate() {
            for inclusive in [false, true] {
                let suffix = if inclusive { INCLUSIVE } else { "" };
                let name = format!("{}{suffix}", metric.name);
                map.serialize_entry(&name, &Values { table: self, metric: index, inclusive })?;
            }
        }
        map.end()
    }
}

/// A column that is made while it is written.
struct Column<F>(F);

impl<I: IntoIterator<Item: Serialize>, F: Fn() -> I> Serialize for Column<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A column of a metric.
struct Values<'a> {
    table: &'a Table<'a>,
    metric: usize,
    inclusive: bool,
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Table { profile, calls, .. } = self.table;
        let mut values = serializer.serialize_seq(None)?;
        for group in profile.groups() {
            let costs = calls.costs(group.costs(self.metric), profile.metrics()[self.metric].unit);
            for value in if self.inclusive { costs.inclusive } else { costs.exclusive } {
                values.serialize_element(&value)?;
            }
        }
        values.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::database::Database;
    use crate::export::samples::{awkward, empty};
    use crate::synthetic::{database, time_database};

    fn json(database: &Database, metrics: &[&str], by: By) -> Value {
        let mut out = Vec::new();
        hatchet(&Profile::new(database, metrics, by), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_whole_document() {
        let document = json(&time_database(), &["time", "cycles"], By::None);
        insta::assert_snapshot!("hatchet", serde_json::to_string_pretty(&document).unwrap());
    }

    #[test]
    fn ranks_have_a_row_for_each_node_and_their_own_totals() {
        let database = database();
        let document = json(&database, &["cpu", "samples"], By::Rank);
        let column = |name: &str| document["dataframe"][name].as_array().unwrap().clone();
        let nodes = document["graph"][0].as_object().unwrap().len();
        assert_eq!(document["dataframe_indices"], serde_json::json!(["node", "rank"]));
        assert_eq!(column("node").len(), 2 * nodes);
        for rank in 0..2u32 {
            let seconds: Vec<f64> = column("rank")
                .iter()
                .zip(column("cpu"))
                .filter(|(of, _)| **of == rank)
                .map(|(_, value)| value.as_f64().unwrap())
                .collect();
            let ns: f64 = database.exclusive_at("cpu", |l| l.rank == Some(rank)).unwrap().iter().sum();
            assert!((seconds.iter().sum::<f64>() - ns / 1e9).abs() < 1e-12);
            let root = column("cpu (inc)")[rank as usize * nodes].as_f64().unwrap();
            assert_eq!(root, ns / 1e9);
        }
        let levels = |by| json(&database, &["cpu"], by)["dataframe_indices"].clone();
        assert_eq!(levels(By::Process), serde_json::json!(["node", "process"]));
        assert_eq!(levels(By::Thread), serde_json::json!(["node", "rank", "thread"]));
    }

    #[test]
    fn siblings_differ_in_their_frames() {
        for database in [database(), awkward()] {
            let document = json(&database, &["cpu"], By::None);
            let graph = document["graph"][0].as_object().unwrap();
            for node in graph.values() {
                let children = node["children"].as_array().unwrap();
                let frames: std::collections::BTreeSet<String> =
                    children.iter().map(|child| graph[&child.to_string()]["data"].to_string()).collect();
                assert_eq!(frames.len(), children.len());
            }
        }
    }

    #[test]
    fn an_empty_profile_is_a_document_too() {
        let document = json(&empty(), &["cpu"], By::Thread);
        assert_eq!(document["graph"][0]["0"]["data"]["name"], "<program>");
        assert_eq!(document["dataframe"]["node"], serde_json::json!([]));
    }
}
