//! Views as text for people.

use std::fmt::Write;

use falloff_format::Pseudo;

use super::column::{Column, Content};
use super::excerpt::{Excerpt, Step};
use super::health::{counted, health_lines, left_out_line};
use super::label::{cut, label};
use super::query::QueryError;
use super::scale::{Scale, derived};
use super::sheet::{Cell, Sheet};
use super::shown::{HOT_SHARE, Shown};
use super::spread::Values;
use super::view::{Row, ViewKind};
use crate::export::By;

/// Levels that are indented; deeper rows begin with their level instead.
const INDENTED: u32 = 40;
/// Groups that have columns of their own in text.
const GROUPS: usize = 16;
/// Longer names are cut, characters.
const NAME_WIDTH: usize = 100;

/// What was run, how complete the measurement is, what is left out of it, and every warning.
pub fn header(excerpt: &Excerpt) -> String {
    let database = excerpt.database();
    let mut text = String::new();
    let command = database.provenance().command.join(" ");
    if !command.is_empty() {
        text += &format!("{}\n", cut(&command, 200));
    }
    for operation in &database.provenance().history {
        text += &format!("{operation}\n");
    }
    let health = health_lines(&database.health(), database.locations().len());
    for line in health.into_iter().chain(left_out_line(excerpt.metrics()[0], excerpt.left_out())) {
        text += &format!("{line}\n");
    }
    for step in excerpt.steps() {
        let metric = &excerpt.metrics()[0].name;
        text += &format!("{} leaves {:.1} % of {metric}\n", option(step), step.left_percent);
    }
    for warning in database.warnings() {
        text += &format!("warning: {warning}\n");
    }
    text
}

fn option(step: &Step) -> String {
    cut(&format!("--{} {}", step.option, step.value), 200)
}

/// The view as an aligned table.
///
/// # Errors
/// [`QueryError::TooManyGroups`].
pub fn table(shown: &Shown) -> Result<String, QueryError> {
    let sheet = shown.sheet;
    if let Some(spread) = &sheet.spread
        && matches!(spread.values[0], Values::Each(_))
        && spread.labels.len() > GROUPS
    {
        return Err(QueryError::TooManyGroups { groups: spread.labels.len() });
    }
    if let Some(text) = nothing(sheet) {
        return Ok(text);
    }
    let scales = (0..sheet.excerpt.metrics().len()).map(|m| scale(sheet, m)).collect();
    let mut table = Table { shown, sheet, columns: Vec::new(), scales, hot: hot_rows(shown) };
    table.columns = text_columns(sheet).into_iter().map(|column| table.headed(column)).collect();
    let mut text = format!("{}\n{}\n", table.title(), table.headings());
    shown.rows.iter().for_each(|row| table.row(&mut text, &sheet.view.rows[*row as usize]));
    text += &table.footer();
    Ok(text)
}

fn scale(sheet: &Sheet, metric: usize) -> Scale {
    Scale::of(sheet.excerpt.metrics()[metric].unit, sheet.excerpt.base(metric))
}

/// Why there is nothing to show, if there is nothing.
fn nothing(sheet: &Sheet) -> Option<String> {
    let excerpt = sheet.excerpt;
    let names: Vec<String> = excerpt.metrics().iter().map(|m| format!("`{}`", m.name)).collect();
    let names = names.join(", ");
    if let Some(step) = excerpt.steps().iter().find(|step| step.empty) {
        return Some(format!("nothing to show: `{}` leaves no {names}\n", option(step)));
    }
    let any = |row: &Row| row.inclusive[..excerpt.metrics().len()].iter().any(|v| *v != 0.0);
    if !sheet.view.rows.iter().any(any) {
        if let Some(input) = excerpt.database().provenance().subtracted() {
            return Some(format!("no difference: {names} is the same in {} at every context\n", input.name));
        }
        return Some(format!("no samples: nothing was charged to {names}\n"));
    }
    let of_no_path = [Pseudo::Unsampled.name(), Pseudo::Unwatched.name()];
    let known = |row: &Row| {
        let own = row.exclusive[..excerpt.metrics().len()].iter().any(|v| *v != 0.0);
        own && !of_no_path.contains(&row.name.as_str())
    };
    let whole = scale(sheet, 0).with_unit(sheet.total(0));
    (!sheet.view.rows.iter().any(known)).then(|| {
        format!("no samples: all {whole} of {names} were used between samples, so no call path is known\n")
    })
}

/// Columns of text, the first metric's percentages before its values.
fn text_columns<'a>(sheet: &'a Sheet) -> Vec<&'a Column> {
    let find = |content: Content, inclusive: bool| {
        sheet.columns.iter().find(move |c| c.content == content && c.inclusive == inclusive)
    };
    let both = |content: Content| [true, false].into_iter().filter_map(move |side| find(content, side));
    let mut columns: Vec<&Column> = [true, false]
        .into_iter()
        .flat_map(|side| [find(Content::Percent(0), side), find(Content::Value(0), side)])
        .flatten()
        .collect();
    columns.extend((1..sheet.excerpt.metrics().len()).flat_map(|metric| both(Content::Value(metric))));
    columns.extend((0..sheet.excerpt.derived().len()).flat_map(|index| both(Content::Derived(index))));
    columns.extend(sheet.columns.iter().filter(|c| c.inclusive && is_spread(c.content)));
    columns
}

fn is_spread(content: Content) -> bool {
    !matches!(content, Content::Value(_) | Content::Percent(_) | Content::Derived(_))
}

/// Rows that get a mark.
fn hot_rows(shown: &Shown) -> Vec<bool> {
    let sheet = shown.sheet;
    let mut hot = vec![false; sheet.view.rows.len()];
    // From below, and across the program's structure, the largest inclusive value says nothing new.
    if sheet.view.kind == ViewKind::Context {
        let share = shown.options.hot_path.unwrap_or(HOT_SHARE);
        sheet.view.hot_path(0, share).iter().for_each(|row| hot[*row as usize] = true);
    }
    hot
}

/// A column with its heading.
struct Headed<'a> {
    column: &'a Column,
    heading: String,
    width: usize,
}

struct Table<'a> {
    shown: &'a Shown<'a>,
    sheet: &'a Sheet<'a>,
    columns: Vec<Headed<'a>>,
    /// Of each metric.
    scales: Vec<Scale>,
    hot: Vec<bool>,
}

impl<'a> Table<'a> {
    fn title(&self) -> String {
        let total = |metric: usize| self.scales[metric].with_unit(self.sheet.excerpt.base(metric));
        let names: Vec<&str> = self.sheet.excerpt.metrics().iter().map(|m| m.name.as_str()).collect();
        let further: Vec<String> =
            (1..names.len()).map(|metric| format!("; {} {}", names[metric], total(metric))).collect();
        let spread = self.sheet.spread.as_ref().map(|spread| {
            let groups = spread.labels.len() as u64;
            let groups = match spread.by {
                By::Rank => counted(groups, "rank", "ranks"),
                By::Thread => counted(groups, "thread", "threads"),
                By::Process => counted(groups, "process", "processes"),
                By::None => counted(groups, "group", "groups"),
            };
            format!("; incl {} over {groups}", names[0])
        });
        let kind = self.sheet.view.kind.word();
        format!(
            "{kind} view of {}, 100 % is {}{}{}{}",
            names[0],
            total(0),
            self.change(),
            further.concat(),
            spread.unwrap_or_default()
        )
    }

    /// What a difference is, beside what percentages are of.
    fn change(&self) -> String {
        let Some(input) = self.sheet.excerpt.database().provenance().subtracted() else {
            return String::new();
        };
        let change = self.sheet.total(0);
        let sign = if change > 0.0 { "+" } else { "" };
        format!(" of {}, the difference is {sign}{}", input.name, self.scales[0].with_unit(change))
    }

    fn headings(&self) -> String {
        let cells = self.columns.iter().map(|column| format!("{:>1$}", column.heading, column.width));
        cells.collect::<Vec<_>>().join(" ")
    }

    fn headed(&self, column: &'a Column) -> Headed<'a> {
        let heading = self.heading(column);
        let least = match column.content {
            Content::Percent(_) => 7,
            Content::Value(0) => 12,
            Content::Derived(_) | Content::ImbalancePercent => 0,
            _ => 10,
        };
        Headed { column, width: least.max(heading.chars().count()), heading }
    }

    fn heading(&self, column: &Column) -> String {
        let side = if column.inclusive { "incl" } else { "excl" };
        let excerpt = self.sheet.excerpt;
        match column.content {
            Content::Percent(_) => format!("{side} %"),
            Content::Value(0) => self.scales[0].heading(side),
            Content::Value(metric) => {
                self.scales[metric].heading(&format!("{side} {}", excerpt.metrics()[metric].name))
            }
            Content::Derived(index) => {
                let name = excerpt.derived()[index].derived().name();
                let percent = name.strip_suffix('%').map(|name| format!("{} %", name.trim_end()));
                format!("{side} {}", percent.as_deref().unwrap_or(name))
            }
            Content::Minimum => self.scales[0].heading("min"),
            Content::Mean => self.scales[0].heading("mean"),
            Content::Maximum => self.scales[0].heading("max"),
            Content::MaximumAt => "max at".into(),
            Content::ImbalancePercent => "imbalance %".into(),
            Content::Group(group) => {
                let label = self.sheet.spread.as_ref().and_then(|s| s.labels.get(group));
                self.scales[0].heading(label.map_or("", String::as_str))
            }
        }
    }

    fn cell(&self, row: &Row, column: &Column) -> String {
        let number = match self.sheet.cell(row, column) {
            Cell::Number(number) => number,
            Cell::Text(text) => return text.to_owned(),
            Cell::Nothing => return String::new(),
        };
        match column.content {
            Content::Percent(_) | Content::ImbalancePercent => format!("{number:.1}"),
            Content::Derived(_) => derived(number),
            Content::Value(metric) => self.scales[metric].number(number),
            _ => self.scales[0].number(number),
        }
    }

    fn row(&self, text: &mut String, row: &Row) {
        for Headed { column, width, .. } in &self.columns {
            // Writing to a string cannot fail.
            let _ = write!(text, "{:>width$} ", self.cell(row, column));
        }
        let mark = if self.hot[row.id as usize] { '>' } else { ' ' };
        let indent = match row.depth {
            depth if depth <= INDENTED => "  ".repeat(depth as usize),
            depth => format!("{}[{depth}] ", "  ".repeat(INDENTED as usize)),
        };
        let _ = writeln!(text, "{mark} {indent}{}", label(self.sheet.view.kind, row, NAME_WIDTH));
    }

    /// Whether the row's exclusive cost is in no other row that carries its own.
    fn carries_own_cost(&self, row: &Row) -> bool {
        match self.sheet.view.kind {
            ViewKind::Context | ViewKind::Flat => row.kind.is_frame(),
            ViewKind::Callers => row.depth == 1,
        }
    }

    fn footer(&self) -> String {
        let mut text = String::new();
        let Shown { options, rows, hidden, .. } = self.shown;
        if let Some(share) = options.hot_path {
            text += &format!("> hot path: down to where no row has {} % of the row above\n", 100.0 * share);
            return text;
        }
        if self.hot.contains(&true) {
            text += "> hot path\n";
        }
        if *hidden > 0 {
            let rows = rows.iter().map(|row| &self.sheet.view.rows[*row as usize]);
            let own: f64 = rows.filter(|row| self.carries_own_cost(row)).map(|row| row.exclusive[0]).sum();
            text += &format!(
                "{} not shown ({}{}): {:.1} % of the cost\n",
                counted(*hidden, "row", "rows"),
                format_args!("below {} %", options.threshold_percent),
                options.depth.map(|d| format!(" or deeper than {d}")).unwrap_or_default(),
                self.sheet.percent(0, self.sheet.total(0) - own).abs(),
            );
        }
        text
    }
}
