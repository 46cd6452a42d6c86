//! `metrics/default.yaml`: what viewers show, and how they compute it.

use super::cells::Scope;
use super::contents::Column;
use super::section::ascii;
use super::statistics::Statistic;

/// hpcviewer reads at most 1000 references; with all statistics a metric has 29.
const MOST_WITH_STATISTICS: usize = 30;

/// Scopes that viewers show: inclusive, exclusive of loops within loops, exclusive.
const SHOWN: [Scope; 3] = [Scope::Execution, Scope::LexAware, Scope::Function];

/// The document. Sums are shown; means, deviations and extremes can be, unless there are very many metrics.
pub(super) fn text(metrics: &[Column]) -> String {
    let full = metrics.len() <= MOST_WITH_STATISTICS;
    let statistics = if full { &Statistic::ALL[..] } else { &[Statistic::Sum][..] };
    let mut lines = vec!["version: 0".to_owned(), "inputs:".to_owned()];
    for (place, metric) in metrics.iter().enumerate() {
        for scope in SHOWN {
            for statistic in statistics {
                lines.extend([
                    format!("  - &{}", anchor(place, scope, *statistic)),
                    format!("    metric: {}", quoted(&metric.name)),
                    format!("    scope: {}", scope.name()),
                    format!("    formula: {}", quoted(statistic.formula())),
                    format!("    combine: {}", statistic.combine().1),
                ]);
            }
        }
    }
    lines.push("roots:".into());
    for (place, metric) in metrics.iter().enumerate() {
        lines.extend([
            format!("  - name: {}", quoted(&metric.name)),
            format!("    description: {}", quoted(&metric.description)),
            "    variants:".into(),
        ]);
        let sum = |scope| format!("*{}", anchor(place, scope, Statistic::Sum));
        lines.extend(variant("Sum", "[number, percent]", sum, &[("custom", Scope::LexAware), STANDARD]));
        if full {
            for (name, formula) in VARIANTS {
                let of_scope = |scope| formula(&|statistic| format!("*{}", anchor(place, scope, statistic)));
                lines.extend(variant(name, "[number, hidden]", of_scope, &[STANDARD]));
            }
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The formula of exclusive values that all views can use.
const STANDARD: (&str, Scope) = ("standard", Scope::Function);

/// A formula over statistics, given how each of them is referred to.
type Formula = fn(&dyn Fn(Statistic) -> String) -> String;

/// What is computed besides the sum.
const VARIANTS: [(&str, Formula); 5] = [
    ("Mean", mean),
    ("StdDev", deviation),
    ("CfVar", |of| format!("{{\"/\": [{}, {}]}}", deviation(of), mean(of))),
    ("Min", |of| of(Statistic::Min)),
    ("Max", |of| of(Statistic::Max)),
];

fn mean(of: &dyn Fn(Statistic) -> String) -> String {
    format!("{{\"/\": [{}, {}]}}", of(Statistic::Sum), of(Statistic::Count))
}

/// The square root of the mean square without the square of the mean.
fn deviation(of: &dyn Fn(Statistic) -> String) -> String {
    let square = format!("{{\"/\": [{}, {}]}}", of(Statistic::Squares), of(Statistic::Count));
    format!("{{\"sqrt\": [{{\"-\": [{square}, {{\"^\": [{}, 2]}}]}}]}}", mean(of))
}

fn variant(
    name: &str,
    render: &str,
    formula: impl Fn(Scope) -> String,
    exclusive: &[(&str, Scope)],
) -> Vec<String> {
    let mut lines = vec![
        format!("      {name}:"),
        format!("        render: {render}"),
        "        formula:".into(),
        "          inclusive:".into(),
        format!("            standard: {}", formula(Scope::Execution)),
        "          exclusive:".into(),
    ];
    lines.extend(exclusive.iter().map(|(key, scope)| format!("            {key}: {}", formula(*scope))));
    lines
}

fn anchor(metric: usize, scope: Scope, statistic: Statistic) -> String {
    let statistic = match statistic {
        Statistic::Min => "min",
        Statistic::Max => "max",
        Statistic::Count => "count",
        Statistic::Squares => "squares",
        Statistic::Sum => "sum",
    };
    format!("m{metric}-{statistic}-{}", scope.name())
}

/// A string in double quotes, whatever it holds.
fn quoted(text: &str) -> String {
    serde_json::Value::from(ascii(text)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_metric() {
        let metric = |name: &str| Column { name: name.into(), description: "what \"it\" is\\".into() };
        insta::assert_snapshot!("taxonomy", text(&[metric("REALTIME (sec)")]));
        let many = vec![metric("x"); MOST_WITH_STATISTICS + 1];
        assert!(text(&many).matches('*').count() < 1000);
        assert!(text(&many[1..]).matches(" *").count() + text(&many[1..]).matches("[*").count() < 1000);
    }
}
