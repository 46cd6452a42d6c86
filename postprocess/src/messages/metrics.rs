//! Names of the metrics that a log gives.

use falloff_messages::waits;

use crate::database::{Metric, Unit};

/// Metric of every run whose calls of MPI were logged: how often MPI was called.
pub const CALLS: &str = "mpi-calls";
/// Bytes that a rank gave: sent, put, or given to collective operations.
pub(super) const SENT: &str = "mpi-bytes-sent";
/// Bytes that a rank got.
pub(super) const RECEIVED: &str = "mpi-bytes-received";

/// Metrics whose values say where a thread computed, the best first.
const SAMPLED: [&str; 2] = ["cpu", "samples"];

/// Of these metrics the one whose values say where a thread computed.
pub(super) fn sampled(metrics: &[Metric]) -> Option<&Metric> {
    SAMPLED.iter().find_map(|name| metrics.iter().find(|metric| metric.name == *name))
}

/// A metric of waiting as databases name it.
pub(super) fn of_waits(metric: waits::Metric) -> Metric {
    Metric::new(Unit::Nanoseconds, metric_name(metric))
}

/// The name of a metric of waiting in databases: that for people, as one word.
pub(crate) fn metric_name(metric: waits::Metric) -> String {
    match metric {
        // `time` is what samples measure.
        waits::Metric::Time => "mpi-span".into(),
        other => other.name().to_lowercase().replace(", ", "-").replace(' ', "-"),
    }
}

/// The metric of waiting that has this name in databases.
pub(crate) fn waits_metric(name: &str) -> Option<waits::Metric> {
    waits::Metric::all().find(|metric| metric_name(*metric) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_that_tell_metrics_apart() {
        let names: std::collections::BTreeSet<String> = waits::Metric::all().map(metric_name).collect();
        assert_eq!(names.len(), waits::Metric::all().count());
        for name in &names {
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{name}");
        }
        assert!(names.contains("wrong-order-same-source"));
        assert!(waits::Metric::all().all(|metric| waits_metric(&metric_name(metric)) == Some(metric)));
        assert_eq!(waits_metric("time"), None);
    }
}
