//! Views as CSV: one line a row, fields named as in JSON.

use std::io::{self, Write};

use super::column::{Column, Content};
use super::sheet::{Cell, Sheet};
use super::shown::Shown;
use super::view::Row;

/// Fields that say what a row is.
const ABOUT: [&str; 9] = ["id", "parent", "depth", "kind", "name", "module", "file", "line", "call_line"];

/// Writes a view: a line with the names of the fields, then the rows. Empty fields are what is not known or not defined.
///
/// # Errors
/// Those of `out`.
pub fn write(mut out: impl Write, shown: &Shown) -> io::Result<()> {
    let Shown { sheet, rows, .. } = shown;
    let names = ABOUT.into_iter().chain(sheet.columns.iter().map(|c| c.field.as_str()));
    line(&mut out, names.map(quoted))?;
    for row in rows {
        let row = &sheet.view.rows[*row as usize];
        line(&mut out, about(row).into_iter().chain(sheet.columns.iter().map(|c| value(sheet, row, c))))?;
    }
    Ok(())
}

fn about(row: &Row) -> [String; 9] {
    let text = |text: &Option<String>| text.as_deref().map(quoted).unwrap_or_default();
    let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
    [
        row.id.to_string(),
        number(row.parent),
        row.depth.to_string(),
        row.kind.word().into(),
        quoted(&row.name),
        text(&row.module),
        text(&row.file),
        number(row.line),
        number(row.call_line),
    ]
}

fn value(sheet: &Sheet, row: &Row, column: &Column) -> String {
    match (sheet.cell(row, column), column.content) {
        // Four digits are more than any share is sure of.
        (Cell::Number(value), Content::Percent(_) | Content::ImbalancePercent) => format!("{value:.4}"),
        (Cell::Number(value), _) => value.to_string(),
        (Cell::Text(text), _) => quoted(text),
        (Cell::Nothing, _) => String::new(),
    }
}

pub(super) fn line(out: &mut impl Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    let mut separator = "";
    for field in fields {
        write!(out, "{separator}{field}")?;
        separator = ",";
    }
    writeln!(out)
}

/// A field of CSV, quoted where it must be (RFC 4180).
///
/// ```
/// use falloff_postprocess::views::csv::quoted;
/// assert_eq!(quoted("main"), "main");
/// assert_eq!(quoted("f(int, \"x\")"), "\"f(int, \"\"x\"\")\"");
/// ```
pub fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
