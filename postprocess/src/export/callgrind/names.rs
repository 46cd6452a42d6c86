//! Names with their numbers: a name is written where it occurs first, its number alone thereafter.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::export::text::one_line;

/// Stands for what has no name.
const UNKNOWN: &str = "???";

/// Names of one kind: objects, files or functions. What has its own number is told apart by its key: functions of several
/// files may have one name.
pub(super) struct Names<T> {
    numbers: FxHashMap<T, u32>,
}

impl<T: std::hash::Hash + Eq> Names<T> {
    /// None yet.
    pub fn new() -> Names<T> {
        Names { numbers: FxHashMap::default() }
    }

    /// `(number) name`, or `(number)` if it has been written before.
    pub fn text(&mut self, key: T, name: &str) -> String {
        let next = self.numbers.len() as u32 + 1;
        match self.numbers.entry(key) {
            Entry::Occupied(number) => format!("({})", number.get()),
            Entry::Vacant(free) => {
                format!("({}) {}", free.insert(next), clean(name))
            }
        }
    }
}

/// A text that keeps to its line, without blanks around it.
pub(super) fn clean(text: &str) -> String {
    match one_line(text).trim() {
        "" => UNKNOWN.to_owned(),
        text => text.to_owned(),
    }
}

/// The name of an event, which ends at a blank and which options separate by commas.
pub(super) fn event(metric: &str, group: &str) -> String {
    let name = if group.is_empty() { metric.to_owned() } else { format!("{metric}@{group}") };
    name.chars().map(|c| if c.is_whitespace() || c.is_control() || c == ',' { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_once() {
        let mut names = Names::new();
        assert_eq!(names.text(7, "main"), "(1) main");
        assert_eq!(names.text(9, "(anonymous)::f\n"), "(2) (anonymous)::f");
        assert_eq!(names.text(7, "main"), "(1)");
        assert_eq!(names.text(8, ""), "(3) ???");
        assert_eq!(event("L1-dcache,loads", "rank 0"), "L1-dcache_loads@rank_0");
    }
}
