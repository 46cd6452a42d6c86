//! The metric `time`: what a thread spends running, waiting and ready to run.

use super::metric::{Metric, Unit, Value};
use super::rational::common_divisor;
use super::sorter::summed;
use crate::sections::SectionValue;

/// Name of the sum.
pub(crate) const TIME: &str = "time";
/// Name of the CPU time.
pub(crate) const CPU: &str = "cpu";
/// What the sum consists of.
pub(crate) const PARTS: [&str; 3] = [CPU, "blocked", "preempted"];

/// Metrics and values with `time` = `cpu` + `blocked` + `preempted`, if all three are there; as they are otherwise.
///
/// `metrics` and `values` are in canonical order and stay so; [`super::reduce`] is left to the caller. A `time` that is there is made anew, so that the sum of
/// joined values is the sum of their parts.
pub(crate) fn with_time(metrics: Vec<Metric>, values: Vec<Value>) -> (Vec<Metric>, Vec<Value>) {
    if !has_parts(&metrics) {
        return (metrics, values);
    }
    let is_part = |metric: &Metric| PARTS.iter().any(|part| is(metric, part));
    let Some(divisor) = common_divisor(metrics.iter().filter(|m| is_part(m)).map(|m| m.divisor)) else {
        return (metrics, values);
    };
    let time = Metric { divisor, ..Metric::new(Unit::Nanoseconds, TIME) };
    let mut with: Vec<Metric> = metrics.iter().filter(|m| !is(m, TIME)).cloned().collect();
    with.push(time.clone());
    with.sort();
    let place = |metric: &Metric| with.iter().position(|m| m == metric).map(|at| at as u32);
    let places: Vec<Option<u32>> =
        metrics.iter().map(|m| if is(m, TIME) { None } else { place(m) }).collect();
    // What values of the parts are multiplied by.
    let factors: Vec<Option<i64>> =
        metrics.iter().map(|m| is_part(m).then(|| (divisor / m.divisor) as i64)).collect();
    let sum = place(&time).unwrap_or_default();
    let mut all = Vec::with_capacity(values.len() * 2);
    for group in values.chunk_by(|a, b| (a.context, a.location) == (b.context, b.location)) {
        let first = all.len();
        all.extend(group.iter().filter_map(|v| Some(Value { metric: places[v.metric as usize]?, ..*v })));
        let parts =
            group.iter().filter_map(|v| Some(v.exclusive.saturating_mul(factors[v.metric as usize]?)));
        let exclusive = parts.fold(0i64, i64::saturating_add);
        if exclusive != 0 {
            all.push(Value { metric: sum, exclusive, ..group[0] });
        }
        all[first..].sort_unstable();
    }
    (with, all)
}

/// Values of sections with `time`, as [`with_time`] makes it; the metrics are those that the values have.
pub(crate) fn with_time_in_sections(metrics: Vec<Metric>, values: Vec<SectionValue>) -> Vec<SectionValue> {
    let as_value = |v: SectionValue| Value {
        context: v.context,
        location: v.section,
        metric: v.metric,
        exclusive: v.exclusive,
    };
    let values = summed(values.into_iter().map(as_value).collect());
    let of_section = |v: Value| SectionValue {
        section: v.location,
        context: v.context,
        metric: v.metric,
        exclusive: v.exclusive,
    };
    let mut values: Vec<SectionValue> = with_time(metrics, values).1.into_iter().map(of_section).collect();
    values.sort_unstable();
    values
}

/// The metrics without `time` where [`with_time`] makes it anew.
pub(super) fn without_time(mut metrics: Vec<Metric>) -> Vec<Metric> {
    if has_parts(&metrics) {
        metrics.retain(|m| !is(m, TIME));
    }
    metrics
}

fn has_parts(metrics: &[Metric]) -> bool {
    PARTS.iter().all(|part| metrics.iter().any(|m| is(m, part)))
}

fn is(metric: &Metric, name: &str) -> bool {
    metric.unit == Unit::Nanoseconds && metric.name == name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(unit: Unit, name: &str) -> Metric {
        Metric::new(unit, name)
    }

    fn value(context: u32, metric: u32, exclusive: i64) -> Value {
        Value { context, location: 0, metric, exclusive }
    }

    #[test]
    fn it_is_the_sum_of_its_parts_and_stands_in_order() {
        let ns = Unit::Nanoseconds;
        let metrics = vec![
            metric(ns, "blocked"),
            metric(ns, "cpu"),
            metric(ns, "preempted"),
            metric(ns, "zzz"),
            // Of another unit, so none of the parts.
            metric(Unit::Count, "blocked"),
        ];
        let values = vec![value(1, 0, 5), value(1, 1, 7), value(1, 3, 100), value(1, 4, 1), value(2, 4, 3)];
        let (metrics, values) = with_time(metrics, values);
        let names: Vec<&str> = metrics.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["blocked", "cpu", "preempted", "time", "zzz", "blocked"]);
        let expected = [
            value(1, 0, 5),
            value(1, 1, 7),
            value(1, 3, 12),
            value(1, 4, 100),
            value(1, 5, 1),
            value(2, 5, 3),
        ];
        assert_eq!(values, expected);
        assert_eq!(with_time(metrics.clone(), values.clone()), (metrics, values));
    }

    #[test]
    fn without_all_parts_there_is_no_time() {
        let metrics = vec![metric(Unit::Nanoseconds, "blocked"), metric(Unit::Nanoseconds, "cpu")];
        assert_eq!(with_time(metrics.clone(), vec![value(1, 0, 5)]), (metrics, vec![value(1, 0, 5)]));
    }
}
