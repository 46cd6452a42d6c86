//! Views as text for people.

use std::fmt::Write;

use falloff_format::Pseudo;

use super::health::{counted, health_lines, left_out_line};
use super::ratio::{RatioColumns, of_database};
use super::view::{Row, View, ViewKind};
use super::{Ratio, RowKind};
use crate::database::{Database, Metric, Unit};

/// Levels that are indented; deeper rows begin with their level instead.
const INDENTED: u32 = 40;
/// Share of the row above from which a child belongs to the hot path.
const HOT_SHARE: f64 = 0.5;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextOptions {
    /// Rows with less inclusive cost are left out, percent of the whole.
    pub threshold_percent: f64,
    /// Levels below the root that are shown.
    pub depth: Option<u32>,
    /// Longer names are cut, characters.
    pub name_width: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { threshold_percent: 0.5, depth: None, name_width: 100 }
    }
}

/// A view of one metric of a database with its header; `None` if the metric was not measured.
pub fn report(database: &Database, kind: ViewKind, metric: &str, options: &TextOptions) -> Option<String> {
    let view = of_database(database, kind, metric, |_| true)?;
    let metric = database.metric(metric)?;
    Some(format!("{}\n{}", header(database, &view, metric), table(&view, 0, metric, options)))
}

/// What was run, how complete the measurement is, what the view of the metric leaves out, and every warning.
pub fn header(database: &Database, view: &View, metric: &Metric) -> String {
    let mut text = String::new();
    let command = database.provenance().command.join(" ");
    if !command.is_empty() {
        text += &format!("{}\n", cut(&command, 200));
    }
    let health = health_lines(&database.health(), database.locations().len());
    for line in health.into_iter().chain(left_out_line(metric, view.left_out)) {
        text += &format!("{line}\n");
    }
    for warning in database.warnings() {
        text += &format!("warning: {warning}\n");
    }
    text
}

/// One column of a view as an aligned table, largest cost first.
pub fn table(view: &View, column: usize, metric: &Metric, options: &TextOptions) -> String {
    let Some(root) = view.rows.first() else { return String::new() };
    let total = root.inclusive.get(column).copied().unwrap_or(0.0);
    let name = &metric.name;
    if view.rows.iter().all(|r| r.inclusive.get(column).is_none_or(|v| *v == 0.0)) {
        return format!("no samples: nothing was charged to `{name}`\n");
    }
    let scale = Scale::of(metric.unit, total);
    let of_no_path = [Pseudo::Unsampled.name(), Pseudo::Unwatched.name()];
    if view
        .rows
        .iter()
        .filter(|r| r.exclusive.get(column).is_some_and(|v| *v != 0.0))
        .all(|r| of_no_path.contains(&r.name.as_str()))
    {
        let total = scale.with_unit(total);
        return format!(
            "no samples: all {total} of `{name}` were used between samples, so no call path is known\n"
        );
    }
    let mut text = format!("{} view of {name}, 100 % is {}\n", view.kind.word(), scale.with_unit(total));
    text += &format!(
        "{:>7} {:>12} {:>7} {:>12}",
        "incl %",
        scale.heading("incl"),
        "excl %",
        scale.heading("excl")
    );
    for columns in &view.ratios {
        text += &ratio_headings(columns.ratio).map(|heading| format!(" {heading}")).concat();
    }
    text.push('\n');
    let mut table = Table {
        view,
        column,
        total,
        scale,
        options,
        hot: hot_rows(view, column),
        hidden: 0,
        shown_cost: 0.0,
    };
    table.rows(&mut text);
    text += &table.footer();
    text
}

fn hot_rows(view: &View, column: usize) -> Vec<bool> {
    let mut hot = vec![false; view.rows.len()];
    // From below, and across the program's structure, the largest inclusive value says nothing new.
    if view.kind != ViewKind::Context {
        return hot;
    }
    for row in view.hot_path(column, HOT_SHARE) {
        hot[row as usize] = true;
    }
    hot
}

struct Table<'a> {
    view: &'a View,
    column: usize,
    total: f64,
    scale: Scale,
    options: &'a TextOptions,
    hot: Vec<bool>,
    /// Rows left out.
    hidden: u64,
    /// Exclusive cost of the rows shown, each part once.
    shown_cost: f64,
}

impl Table<'_> {
    fn rows(&mut self, text: &mut String) {
        let mut stack = vec![0];
        while let Some(id) = stack.pop() {
            let row = &self.view.rows[id as usize];
            self.row(text, row);
            if self.carries_own_cost(row) {
                self.shown_cost += self.exclusive(row);
            }
            let (mut below, hidden): (Vec<u32>, Vec<u32>) =
                self.view.children(id).partition(|child| self.is_shown(&self.view.rows[*child as usize]));
            self.hidden += hidden.iter().map(|c| u64::from(self.view.end(*c) - c)).sum::<u64>();
            below.sort_by(|a, b| {
                self.order(*a).partial_cmp(&self.order(*b)).unwrap_or(std::cmp::Ordering::Equal)
            });
            stack.extend(below);
        }
    }

    fn inclusive(&self, row: &Row) -> f64 {
        row.inclusive.get(self.column).copied().unwrap_or(0.0)
    }

    fn exclusive(&self, row: &Row) -> f64 {
        row.exclusive.get(self.column).copied().unwrap_or(0.0)
    }

    fn percent(&self, value: f64) -> f64 {
        if self.total == 0.0 { 0.0 } else { 100.0 * value / self.total }
    }

    fn is_shown(&self, row: &Row) -> bool {
        let deep = self.options.depth.is_some_and(|d| row.depth > d);
        !deep && self.percent(self.inclusive(row)).abs() >= self.options.threshold_percent
    }

    /// Ascending, so that the largest is taken from the stack first; equal rows keep the view's order.
    fn order(&self, id: u32) -> (f64, f64, std::cmp::Reverse<u32>) {
        let row = &self.view.rows[id as usize];
        let (inclusive, exclusive) = (self.inclusive(row), self.exclusive(row));
        match self.view.kind {
            ViewKind::Context => (inclusive, exclusive, std::cmp::Reverse(id)),
            ViewKind::Callers | ViewKind::Flat => (exclusive, inclusive, std::cmp::Reverse(id)),
        }
    }

    /// Whether the row's exclusive cost is in no other row that carries its own.
    fn carries_own_cost(&self, row: &Row) -> bool {
        match self.view.kind {
            ViewKind::Context => row.kind.is_frame(),
            ViewKind::Callers => row.depth == 1,
            ViewKind::Flat => row.kind.is_frame(),
        }
    }

    fn row(&self, text: &mut String, row: &Row) {
        let (inclusive, exclusive) = (self.inclusive(row), self.exclusive(row));
        let mark = if self.hot[row.id as usize] { '>' } else { ' ' };
        let indent = match row.depth {
            depth if depth <= INDENTED => "  ".repeat(depth as usize),
            depth => format!("{}[{depth}] ", "  ".repeat(INDENTED as usize)),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:>7.1} {:>12} {:>7.1} {:>12}{} {mark} {indent}{}",
            self.percent(inclusive),
            self.scale.number(inclusive),
            self.percent(exclusive),
            self.scale.number(exclusive),
            self.view.ratios.iter().map(|columns| ratio_cells(columns, row)).collect::<String>(),
            self.label(row),
        );
    }

    fn label(&self, row: &Row) -> String {
        let name = cut(&row.name, self.options.name_width);
        let file = row.file.as_deref().map(|f| f.rsplit('/').next().unwrap_or(f));
        let caller = self.view.kind == ViewKind::Callers && row.depth > 1;
        let line = if caller { row.call_line.or(row.line) } else { row.line };
        let inlined = if row.kind == RowKind::Inlined { " (inlined)" } else { "" };
        match (row.kind, file, line) {
            (RowKind::Function | RowKind::Inlined, Some(file), Some(line)) => {
                format!("{name}{inlined} at {file}:{line}")
            }
            (RowKind::Function | RowKind::Inlined, Some(file), None) => format!("{name}{inlined} at {file}"),
            (RowKind::Function | RowKind::Inlined, None, _) => match row.module.as_deref() {
                Some(module) if row.name.starts_with(module) => name,
                // `[jit]` and `[vdso]` have their brackets.
                Some(module) if module.starts_with('[') => format!("{name}{inlined} {module}"),
                Some(module) => format!("{name}{inlined} [{module}]"),
                None => name,
            },
            _ => name,
        }
    }

    fn footer(&self) -> String {
        let mut text = String::new();
        if self.hot.contains(&true) {
            text += "> hot path\n";
        }
        if self.hidden > 0 {
            let cost = self.total - self.shown_cost;
            text += &format!(
                "{} not shown ({}{}): {:.1} % of the cost\n",
                counted(self.hidden, "row", "rows"),
                format_args!("below {} %", self.options.threshold_percent),
                self.options.depth.map(|d| format!(" or deeper than {d}")).unwrap_or_default(),
                self.percent(cost).abs(),
            );
        }
        text
    }
}

/// Headings of a ratio's inclusive and exclusive column.
fn ratio_headings(ratio: &Ratio) -> [String; 2] {
    let unit = if ratio.factor == 100 { " %" } else { "" };
    ["incl", "excl"].map(|which| format!("{which} {}{unit}", ratio.name))
}

/// The inclusive and the exclusive value of a ratio under its headings; blank where there is none.
fn ratio_cells(columns: &RatioColumns, row: &Row) -> String {
    let cell = |(heading, values): (String, &Vec<f64>)| {
        let text = columns.of(values).map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        format!(" {text:>width$}", width = heading.chars().count())
    };
    ratio_headings(columns.ratio).into_iter().zip([&row.inclusive, &row.exclusive]).map(cell).collect()
}

/// How values of a table are written.
#[derive(Clone, Copy)]
struct Scale {
    factor: f64,
    decimals: usize,
    unit: &'static str,
}

impl Scale {
    fn of(unit: Unit, total: f64) -> Scale {
        match unit {
            Unit::Count => Scale { factor: 1.0, decimals: 0, unit: "" },
            Unit::Nanoseconds if total.abs() >= 1e9 => Scale { factor: 1e-9, decimals: 3, unit: "s" },
            Unit::Nanoseconds => Scale { factor: 1e-6, decimals: 3, unit: "ms" },
        }
    }

    fn number(self, value: f64) -> String {
        format!("{:.*}", self.decimals, value * self.factor)
    }

    fn with_unit(self, value: f64) -> String {
        format!("{} {}", self.number(value), self.unit).trim_end().to_owned()
    }

    fn heading(self, word: &str) -> String {
        if self.unit.is_empty() { word.to_owned() } else { format!("{word} [{}]", self.unit) }
    }
}

/// At most `width` characters, the last of them a sign that there were more; control characters become blanks.
fn cut(text: &str, width: usize) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut kept: String = characters.by_ref().take(width).collect();
    if characters.next().is_some() {
        kept.pop();
        kept.push('…');
    }
    kept
}
