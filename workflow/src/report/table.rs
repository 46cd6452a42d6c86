//! Aligned columns.

/// Blanks before each column.
const GAP: usize = 2;
/// Characters that the last column has at least.
const LEAST_ROOM: usize = 24;

/// Rows of cells; all columns but the last are aligned to the right.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a row of headings.
    pub fn new(headings: &[&str]) -> Table {
        Table { rows: vec![headings.iter().map(|h| (*h).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The rows as lines without their ends, headings first.
    pub fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let mut text = String::new();
            for (c, cell) in row.iter().enumerate() {
                text.extend(std::iter::repeat_n(' ', GAP));
                if c + 1 < widths.len() {
                    text.extend(std::iter::repeat_n(' ', widths[c] - cell.chars().count()));
                }
                text.push_str(cell);
            }
            text.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }

    /// Adds a last column; `cell` gives each row's for the room that is left of `width` characters.
    pub fn with_last(mut self, width: usize, heading: &str, cell: impl Fn(usize, usize) -> String) -> Table {
        let before: usize = self.widths().iter().map(|w| w + GAP).sum();
        let room = width.saturating_sub(before + GAP).max(LEAST_ROOM);
        for (index, row) in self.rows.iter_mut().enumerate() {
            row.push(index.checked_sub(1).map_or(heading.to_owned(), |row| cell(row, room)));
        }
        self
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest =
            |c: usize| self.rows.iter().filter_map(|row| row.get(c)).map(|t| t.chars().count()).max();
        (0..columns).map(|c| widest(c).unwrap_or(0)).collect()
    }
}

/// A fraction in percent with one decimal and no sign on zero.
pub(crate) fn percent(fraction: f64) -> String {
    let text = format!("{:.1}", 100.0 * fraction);
    if text == "-0.0" { "0.0".into() } else { text }
}

/// A fraction and its half width, both in percent.
pub(crate) fn with_width(fraction: f64, half_width: f64) -> String {
    format!("{:>5} ± {:<5}", percent(fraction), percent(half_width))
}

/// Seconds with as many decimals as their size needs.
pub(crate) fn seconds(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["n", "name"]);
        table.row(vec!["1024".into(), "main".into()]);
        assert_eq!(table.lines(), ["     n  name", "  1024  main"]);
    }

    #[test]
    fn the_last_column_gets_what_is_left() {
        let mut table = Table::new(&["number"]);
        table.row(vec!["1".into()]);
        let lines = table.with_last(40, "name", |row, room| format!("row {row} has {room}")).lines();
        assert_eq!(lines, ["  number  name", "       1  row 0 has 30"]);
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(percent(-0.0004), "0.0");
        assert_eq!(percent(-0.004), "-0.4");
        assert_eq!(with_width(0.364, 0.003), " 36.4 ± 0.3  ");
    }
}
