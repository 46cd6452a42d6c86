//! Where the call paths of two scales part.

use super::excess::Class;
use super::rows::ScoredView;

/// A call path that runs at one of the scales only, while the path above it runs at both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DivergentPath {
    /// Row of the context view.
    pub row: u32,
    /// New or vanished.
    pub class: Class,
    /// Its inclusive excess: positive if new, negative or zero if vanished.
    pub excess: f64,
}

/// All of them, with the shares of the run that they make up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Divergence {
    /// Excess of all new paths together, as a fraction of the run at the compared scale.
    pub new: f64,
    /// Excess of all vanished paths together, negative or zero.
    pub vanished: f64,
    /// The paths, the largest excess in size first.
    pub paths: Vec<DivergentPath>,
}

impl Divergence {
    /// Finds the divergent paths of a scored context view.
    ///
    /// The excess of the path above a divergence holds its new and its vanished parts together, so an operation
    /// that merely goes another way at another scale is judged there.
    pub fn of(view: &ScoredView) -> Divergence {
        let mut found = Divergence::default();
        for row in &view.rows {
            let above = row.parent.map_or(Class::Common, |p| view.rows[p as usize].class);
            if row.class == Class::Common || above != Class::Common {
                continue;
            }
            let excess = row.inclusive.excess;
            match row.class {
                Class::New => found.new += excess,
                _ => found.vanished += excess,
            }
            found.paths.push(DivergentPath { row: row.id, class: row.class, excess });
        }
        found.paths.sort_by(|a, b| b.excess.abs().total_cmp(&a.excess.abs()).then(a.row.cmp(&b.row)));
        found
    }
}
