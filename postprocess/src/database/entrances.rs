//! Entrances for fuzzers into the database: tables in order but for some of their cells.

use std::path::Path;

use super::column::{Column, Kind};
use super::files::table_path;
use super::table::Table;
use super::v2;

/// Another value for a cell: see [`edit_table`].
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// Number of the column, counted round.
    pub column: u8,
    /// Number of the row, counted round.
    pub row: u16,
    /// The value; of a column of text, the number of the row whose text is taken. Odd ones are missing where that may be.
    pub value: u64,
}

/// Writes a table of a database again with some cells changed. Nothing happens if it cannot be read.
pub fn edit_table(from: &Path, to: &Path, name: &str, edits: &[Edit]) {
    let columns: &'static [(&'static str, Kind)] = v2::columns(name);
    let Ok(mut table) = Table::read(&table_path(from, name), columns) else { return };
    let mut all: Vec<&mut Column> = table.columns_mut().collect();
    let count = all.len().max(1);
    for edit in edits {
        if let Some(column) = all.get_mut(usize::from(edit.column) % count) {
            set(column, usize::from(edit.row), edit.value);
        }
    }
    // A disk that is full is no finding.
    let _ = table.write(&table_path(to, name));
}

fn set(column: &mut Column, row: usize, value: u64) {
    let rows = column.len();
    if rows == 0 {
        return;
    }
    let (row, other) = (row % rows, value as usize % rows);
    match column {
        Column::U32(all) => all[row] = value as u32,
        Column::U64(all) => all[row] = value,
        Column::I64(all) => all[row] = value as i64,
        Column::Flag(all) => all[row] = value & 1 == 1,
        Column::Text(all) => all[row] = all[other].clone(),
        Column::MaybeU32(all) => all[row] = (value & 1 == 0).then_some((value >> 1) as u32),
        Column::MaybeText(all) => all[row] = all[other].clone().filter(|_| value & 1 == 0),
    }
}
