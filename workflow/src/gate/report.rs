//! The verdict as text, JSON, JUnit XML and Markdown.

use serde::Serialize;

use super::verdict::{Decision, Outcome, Subject, Verdict};
use crate::report::escape::xml;
use crate::report::table::{Table, percent, seconds, with_width};

const SCHEMA: &str = "falloff.check";
const VERSION: u32 = 1;
/// Repetitions from which nobody would make them.
const MOST_REPETITIONS: u32 = 10_000;
/// Call paths that text and Markdown list.
const PATHS: usize = 10;

/// What was compared.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The base sweep.
    pub base: String,
    /// The new sweep.
    pub new: String,
    /// The metric.
    pub metric: String,
}

impl Decision {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Decision::Ok => "ok",
            Decision::Regression => "regression",
            Decision::Inconclusive => "inconclusive",
        }
    }
}

fn headline(verdict: &Verdict) -> String {
    match (verdict.decision, verdict.repetitions_needed) {
        (Decision::Ok, _) => "OK: no growth of the limit or more".into(),
        (Decision::Regression, _) => {
            let count = verdict.outcomes.iter().filter(|o| o.regression).count();
            format!("REGRESSION: {count} of {} tests", verdict.outcomes.len())
        }
        (Decision::Inconclusive, Some(needed)) if needed > MOST_REPETITIONS => {
            "INCONCLUSIVE: the limit is smaller than any number of repetitions would tell; choose a larger one".into()
        }
        (Decision::Inconclusive, needed) => format!(
            "INCONCLUSIVE: growth of the limit can neither be found nor excluded; about {} repetitions of each sweep would tell",
            needed.unwrap_or_default()
        ),
    }
}

fn name(subject: &Subject) -> String {
    match subject {
        Subject::Run { processors } => format!("whole run at n = {processors}"),
        Subject::Path { processors, names } => format!("{} at n = {processors}", names.join(" > ")),
    }
}

fn state(outcome: &Outcome) -> &'static str {
    match (outcome.regression, outcome.open) {
        (true, _) => "REGRESSION",
        (_, true) => "open",
        _ => "ok",
    }
}

/// What text and Markdown list: whole runs, what is wrong at its deepest, then the largest changes.
fn listed(verdict: &Verdict) -> Vec<&Outcome> {
    let runs = verdict.outcomes.iter().filter(|o| matches!(o.subject, Subject::Run { .. }));
    let culprits = verdict.culprits();
    let open = verdict.outcomes.iter().filter(|o| o.open && matches!(o.subject, Subject::Path { .. }));
    let paths = culprits.into_iter().chain(open).take(PATHS);
    runs.chain(paths).collect()
}

/// For people.
pub fn text(verdict: &Verdict, compared: &Compared) -> String {
    let mut table = Table::new(&["change %", "limit %", "base s", "new s", "q", "", ""]);
    for outcome in listed(verdict) {
        table.row(vec![
            with_width(outcome.change.change, outcome.change.half_width),
            percent(outcome.limit),
            seconds(outcome.change.base),
            seconds(outcome.change.new),
            format!("{:.3}", outcome.q_value),
            state(outcome).into(),
            name(&outcome.subject),
        ]);
    }
    format!(
        "{}\n  base {}, new {}, metric {} summed over all threads; changes in percent of the base's whole run\n\n{}\n",
        headline(verdict),
        compared.base,
        compared.new,
        compared.metric,
        table.lines().join("\n")
    )
}

/// For a comment on a change.
pub fn markdown(verdict: &Verdict, compared: &Compared) -> String {
    let mut out = format!(
        "**{}**\n\n`{}` against `{}`, metric `{}`\n\n| change % | limit % | base s | new s | | what |\n| --- | --- | --- | --- | --- | --- |\n",
        headline(verdict),
        compared.new,
        compared.base,
        compared.metric
    );
    for outcome in listed(verdict) {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        out += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            with_width(outcome.change.change, outcome.change.half_width).trim(),
            percent(outcome.limit),
            seconds(outcome.change.base),
            seconds(outcome.change.new),
            state(outcome),
            cell(&name(&outcome.subject))
        );
    }
    out
}

/// For a build server: one test case for each test; what is open is skipped.
pub fn junit(verdict: &Verdict, compared: &Compared) -> String {
    let count = |which: fn(&Outcome) -> bool| verdict.outcomes.iter().filter(|o| which(o)).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"falloff check\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
        verdict.outcomes.len(),
        count(|o| o.regression),
        count(|o| o.open)
    );
    for outcome in &verdict.outcomes {
        let change = format!(
            "{} % of the run, limit {} %",
            with_width(outcome.change.change, outcome.change.half_width).trim(),
            percent(outcome.limit)
        );
        let body = match (outcome.regression, outcome.open) {
            (true, _) => format!("<failure message=\"{}\"/>", xml(&change)),
            (_, true) => format!("<skipped message=\"{}\"/>", xml(&format!("not enough data: {change}"))),
            _ => String::new(),
        };
        out += &format!(
            "  <testcase classname=\"{}\" name=\"{}\">{body}</testcase>\n",
            xml(&compared.metric),
            xml(&name(&outcome.subject))
        );
    }
    out + "</testsuite>\n"
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    decision: &'static str,
    base: &'a str,
    new: &'a str,
    metric: &'a str,
    repetitions_needed: Option<u32>,
    tests: Vec<TestJson<'a>>,
}

#[derive(Serialize)]
struct TestJson<'a> {
    processors: u32,
    path: Option<&'a [String]>,
    change_percent: f64,
    change_half_width_percent: f64,
    limit_percent: f64,
    base_seconds: f64,
    new_seconds: f64,
    p_value: f64,
    q_value: f64,
    regression: bool,
    open: bool,
}

/// As JSON: `falloff.check`, version 1.
pub fn json(verdict: &Verdict, compared: &Compared) -> serde_json::Result<String> {
    serde_json::to_string(&Document {
        schema: SCHEMA,
        version: VERSION,
        decision: verdict.decision.word(),
        base: &compared.base,
        new: &compared.new,
        metric: &compared.metric,
        repetitions_needed: verdict.repetitions_needed,
        tests: verdict
            .outcomes
            .iter()
            .map(|o| TestJson {
                processors: o.subject.processors(),
                path: o.subject.names(),
                change_percent: 100.0 * o.change.change,
                change_half_width_percent: 100.0 * o.change.half_width,
                limit_percent: 100.0 * o.limit,
                base_seconds: o.change.base,
                new_seconds: o.change.new,
                p_value: o.change.p_value,
                q_value: o.q_value,
                regression: o.regression,
                open: o.open,
            })
            .collect(),
    })
}
