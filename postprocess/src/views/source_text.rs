//! A source file with the cost of its lines, as text for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::scale::Scale;
use super::source::{LineCost, Source};

/// Lines shown above and below one with cost.
const AROUND: u32 = 3;

/// The text of a source file.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    /// Its lines; `None` if it could not be read.
    pub lines: Option<Vec<String>>,
    /// What is to be said about it: that it cannot be read, that it was changed.
    pub notes: Vec<String>,
}

impl SourceText {
    pub(super) fn line(&self, line: u32) -> Option<&str> {
        self.lines.as_ref()?.get((line as usize).checked_sub(1)?).map(String::as_str)
    }
}

/// The lines whose own cost, or the cost of what they call, is at least this share of the whole in a metric, percent, with some
/// lines around them; the whole file if it is 0.
pub fn table(source: &Source, text: &SourceText, threshold_percent: f64) -> String {
    let columns = columns(source);
    let costs: BTreeMap<u32, &LineCost> = source.lines().iter().map(|cost| (cost.line, cost)).collect();
    let mut out = format!("{}\n", title(source));
    text.notes.iter().for_each(|note| out += &format!("{note}\n"));
    // Writing to a string cannot fail.
    for column in &columns {
        let _ = write!(out, "{:>7} {:>width$} ", column.percent, column.heading, width = column.width);
    }
    out += "  line\n";
    let gap = columns.iter().map(|c| c.width + 9).sum::<usize>() + 6;
    let (shown, hidden) = shown(source, text, threshold_percent);
    for (index, line) in shown.iter().enumerate() {
        if index > 0 && shown[index - 1] + 1 < *line {
            let _ = writeln!(out, "{:>gap$}", "...");
        }
        for column in &columns {
            let value = costs.get(line).map_or(0.0, |cost| (column.of)(cost)[column.metric]);
            let [percent, number] = match value {
                0.0 => [String::new(), String::new()],
                _ => [format!("{:.1}", source.percent(column.metric, value)), column.scale.number(value)],
            };
            let _ = write!(out, "{percent:>7} {number:>width$} ", width = column.width);
        }
        let code: String = text.line(*line).unwrap_or_default().replace('\t', "    ");
        let code: String = code.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = writeln!(out, "{}", format!("{line:>6}  {code}").trim_end());
    }
    if hidden > 0 {
        out += &format!("lines with cost that are not shown (below {threshold_percent} %): {hidden}\n");
    }
    out
}

/// A part of a line's cost.
type Part = fn(&LineCost) -> &Vec<f64>;

/// A percentage and a value.
struct Column {
    metric: usize,
    of: Part,
    scale: Scale,
    percent: String,
    heading: String,
    width: usize,
}

fn columns(source: &Source) -> Vec<Column> {
    let sides: [(&str, Part); 2] = [("excl", |c| &c.exclusive), ("calls", |c| &c.calls)];
    let mut columns = Vec::new();
    for (metric, about) in source.excerpt.metrics().iter().enumerate() {
        let scale = Scale::of(about.unit, source.total(metric));
        for (word, of) in sides {
            let words = if metric == 0 { word.to_owned() } else { format!("{word} {}", about.name) };
            let heading = scale.heading(&words);
            let width = heading.chars().count().max(12);
            columns.push(Column { metric, of, scale, percent: format!("{word} %"), heading, width });
        }
    }
    columns
}

fn title(source: &Source) -> String {
    let metric = source.excerpt.metrics()[0];
    let (base, own) = (source.excerpt.base(0), source.own_total(0));
    let scale = Scale::of(metric.unit, base);
    format!(
        "source file {}, 100 % is {} of {}; {:.1} % is of its own lines",
        source.file(),
        scale.with_unit(base),
        metric.name,
        source.percent(0, own)
    )
}

/// The lines that are shown, in order, and how many with cost are not.
fn shown(source: &Source, text: &SourceText, threshold_percent: f64) -> (Vec<u32>, usize) {
    let large = |cost: &LineCost| {
        let share = |metric: usize, values: &[f64]| source.percent(metric, values[metric]).abs();
        let largest = |metric| share(metric, &cost.exclusive).max(share(metric, &cost.calls));
        (0..source.excerpt.metrics().len()).any(|metric| largest(metric) >= threshold_percent)
    };
    let costly: Vec<u32> = source.lines().iter().filter(|cost| large(cost)).map(|cost| cost.line).collect();
    let end = text.lines.as_ref().map_or(0, |lines| lines.len() as u32);
    let mut lines: Vec<u32> = if threshold_percent == 0.0 {
        (1..=end).chain(costly).collect()
    } else {
        let around = |line: &u32| line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND).min(end);
        costly.iter().flat_map(around).chain(costly.iter().copied()).collect()
    };
    lines.sort_unstable();
    lines.dedup();
    let hidden = source.lines().iter().filter(|cost| lines.binary_search(&cost.line).is_err()).count();
    (lines, hidden)
}
