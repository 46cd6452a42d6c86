//! Some of the locations of a run, by rank, process, host or thread.

use std::fmt;

use crate::database::Location;

/// Locations that are looked at: `rank=0-3,8`, `pid=4711`, `host=node1,node2` or `thread=worker*`.
///
/// ```
/// use falloff_postprocess::{Location, views::Selection};
/// let selection: Selection = "rank=0-3,8".parse().unwrap();
/// assert!(selection.holds(&Location { rank: Some(2), ..Location::default() }));
/// assert!(!selection.holds(&Location { rank: Some(4), ..Location::default() }));
/// assert!(!selection.holds(&Location::default()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    text: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Rank(Vec<(u32, u32)>),
    Pid(Vec<(u32, u32)>),
    Host(Vec<String>),
    Thread(Vec<String>),
}

/// A text that names no locations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no location; use rank=K, rank=0-3,8, pid=K, host=NAME or thread=NAME")]
pub struct SelectionError(String);

impl Selection {
    /// Whether a location is one of them.
    pub fn holds(&self, location: &Location) -> bool {
        let within =
            |ranges: &[(u32, u32)], n| ranges.iter().any(|(first, last)| (*first..=*last).contains(&n));
        match &self.what {
            What::Rank(ranges) => location.rank.is_some_and(|rank| within(ranges, rank)),
            What::Pid(ranges) => within(ranges, location.pid),
            What::Host(names) => names.iter().any(|name| fits(name, &location.host)),
            What::Thread(names) => names.iter().any(|name| fits(name, &location.thread)),
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Selection, SelectionError> {
        let what = text.split_once('=').and_then(|(what, values)| match what {
            "rank" => numbers(values).map(What::Rank),
            "pid" => numbers(values).map(What::Pid),
            "host" => names(values).map(What::Host),
            "thread" => names(values).map(What::Thread),
            _ => None,
        });
        let what = what.ok_or_else(|| SelectionError(text.into()))?;
        Ok(Selection { text: text.into(), what })
    }
}

/// A name, or the beginning of one if the pattern ends in `*`.
fn fits(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |beginning| name.starts_with(beginning))
}

/// `0-3,8`.
fn numbers(text: &str) -> Option<Vec<(u32, u32)>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some((first, last))
    };
    text.split(',').map(range).collect()
}

fn names(text: &str) -> Option<Vec<String>> {
    text.split(',').map(|name| (!name.is_empty()).then(|| name.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, location: &Location) -> bool {
        text.parse::<Selection>().unwrap().holds(location)
    }

    #[test]
    fn locations_are_named_in_four_ways() {
        let location = Location {
            rank: Some(3),
            pid: 77,
            host: "node2".into(),
            thread: "pool-1".into(),
            ..Location::default()
        };
        for text in ["rank=3", "rank=0,2-4", "pid=70-80", "host=node1,node2", "host=n*", "thread=pool-*"] {
            assert!(holds(text, &location), "{text}");
        }
        for text in ["rank=4", "rank=0-2,4-9", "pid=3", "host=node", "host=*2", "thread=pool"] {
            assert!(!holds(text, &location), "{text}");
        }
        for text in ["rank", "rank=", "rank=x", "rank=3-1", "rank=1,", "node=1", "host=", "pid=-1"] {
            assert!(text.parse::<Selection>().is_err(), "{text}");
        }
    }
}
