//! The tree of metrics.

use falloff_messages::waits;
use rustc_hash::FxHashMap;

use super::xml::element;
use crate::database::{TIME, TIME_PARTS, Unit};
use crate::export::profile::{Group, Profile};
use crate::messages::{metric_name, waits_metric};

/// The metrics of a profile as a tree. In Cube a metric's value holds those of the metrics below it.
pub(super) struct Metrics(Vec<Node>);

/// A metric of the tree.
pub(super) struct Node {
    name: String,
    description: &'static str,
    /// How many metrics it is below.
    depth: usize,
    /// Of its values.
    pub unit: Unit,
    /// The metrics of the profile, by their places, whose sum it is.
    pub parts: Vec<usize>,
}

impl Metrics {
    /// The metrics of a profile: what time consists of below time if it adds up to it, what ranks waited for in their own tree, others
    /// as they come.
    pub fn of(profile: &Profile) -> Metrics {
        let place = |name: &str| profile.metrics().iter().position(|metric| metric.name == name);
        let time = place(TIME);
        let parts: Vec<usize> = TIME_PARTS.iter().filter_map(|part| place(part)).collect();
        let below_time = match time {
            Some(time) if adds_up(profile, time, &parts) => parts,
            _ => Vec::new(),
        };
        let mut nodes = Vec::new();
        for (index, metric) in profile.metrics().iter().enumerate() {
            if below_time.contains(&index) || waits_metric(&metric.name).is_some() {
                continue;
            }
            nodes.push(Node::of(profile, index, 0));
            if Some(index) == time {
                nodes.extend(below_time.iter().map(|part| Node::of(profile, *part, 1)));
            }
        }
        let waits = Waits::of(profile);
        waits::Metric::all()
            .filter(|metric| waits.is_top(*metric))
            .for_each(|top| waits.add(top, 0, &mut nodes));
        Metrics(nodes)
    }

    /// All of them, each before those below it; its place is its number.
    pub fn all(&self) -> &[Node] {
        &self.0
    }

    /// The element of all metrics.
    pub fn xml(&self) -> String {
        let mut text = String::from("<metrics>\n");
        let mut open = 0;
        for (id, node) in self.0.iter().enumerate() {
            text.push_str(&"</metric>\n".repeat(open - node.depth));
            text.push_str(&node.begin(id));
            open = node.depth + 1;
        }
        text.push_str(&"</metric>\n".repeat(open));
        text.push_str("</metrics>\n");
        text
    }
}

impl Node {
    /// A metric of the profile by itself.
    fn of(profile: &Profile, index: usize, depth: usize) -> Node {
        let metric = profile.metrics()[index];
        Node { name: metric.name.clone(), description: "", depth, unit: metric.unit, parts: vec![index] }
    }

    /// Its element up to the metrics below it.
    fn begin(&self, id: usize) -> String {
        let unit = match self.unit {
            Unit::Nanoseconds => "sec",
            Unit::Count => "occ",
        };
        let mut text = format!("<metric id=\"{id}\" type=\"EXCLUSIVE\">\n");
        for (name, value) in [
            ("disp_name", self.name.as_str()),
            ("uniq_name", &self.name),
            ("dtype", "DOUBLE"),
            ("uom", unit),
            ("url", ""),
            ("descr", self.description),
        ] {
            text.push_str(&element(name, value));
        }
        text
    }
}

/// What ranks waited for: where each metric is that the profile has, and which it lacks.
struct Waits {
    places: FxHashMap<waits::Metric, usize>,
    /// Of the database, but not of the profile.
    missing: Vec<waits::Metric>,
}

impl Waits {
    fn of(profile: &Profile) -> Waits {
        let known = |name: &String| waits_metric(name);
        let places: FxHashMap<_, _> = (profile.metrics().iter().enumerate())
            .filter_map(|(place, metric)| Some((known(&metric.name)?, place)))
            .collect();
        let of_database = profile.database().metrics().iter().filter_map(|metric| known(&metric.name));
        let missing = of_database.filter(|metric| !places.contains_key(metric)).collect();
        Waits { places, missing }
    }

    /// Places of a metric and all below it that the profile has.
    fn parts(&self, metric: waits::Metric) -> Vec<usize> {
        let within = waits::Metric::all().filter(|part| part.is_within(metric));
        within.filter_map(|part| self.places.get(&part).copied()).collect()
    }

    /// Whether it is shown: there is something of it, and nothing of it is left out.
    fn is_shown(&self, metric: waits::Metric) -> bool {
        !self.parts(metric).is_empty() && !self.missing.iter().any(|missing| missing.is_within(metric))
    }

    /// Whether it is shown, and below nothing.
    fn is_top(&self, metric: waits::Metric) -> bool {
        let shown_above = metric.parent().is_some_and(|parent| self.is_shown(parent));
        (self.is_shown(metric) || self.places.contains_key(&metric)) && !shown_above
    }

    /// Adds a metric with those below it.
    fn add(&self, metric: waits::Metric, depth: usize, nodes: &mut Vec<Node>) {
        nodes.push(Node {
            name: metric_name(metric),
            description: metric.description(),
            depth,
            unit: Unit::Nanoseconds,
            parts: self.parts(metric),
        });
        let below = waits::Metric::all().filter(|part| part.parent() == Some(metric));
        below.filter(|part| self.is_shown(*part)).for_each(|part| self.add(part, depth + 1, nodes));
    }
}

/// Whether a metric is the sum of others, everywhere.
fn adds_up(profile: &Profile, sum: usize, parts: &[usize]) -> bool {
    let holds = |group: &Group| {
        let mut rest: FxHashMap<u32, f64> = group.costs(sum).iter().copied().collect();
        for (context, cost) in parts.iter().flat_map(|part| group.costs(*part)) {
            *rest.entry(*context).or_default() -= cost;
        }
        // Of nanoseconds.
        rest.values().all(|rest| rest.abs() < 0.5)
    };
    profile.groups().iter().all(holds)
}
