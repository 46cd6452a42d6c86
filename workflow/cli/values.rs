//! Values of options that have a form of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use falloff_postprocess::Location;

/// Parses a duration: seconds, or a number with s, m or h behind it.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, factor) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(n) if n > 0.0 && n * factor <= 1e9 => Ok(Duration::from_secs_f64(n * factor)),
        _ => Err(format!("`{text}` is no duration; use for example 90s, 10m or 2h")),
    }
}

/// Parses `OLD=NEW`.
pub fn path_map(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() => Ok((old.into(), new.into())),
        _ => Err(format!("`{text}` has no OLD=NEW")),
    }
}

/// Some of the locations of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Those of a rank.
    Rank(u32),
    /// Those of a process.
    Pid(u32),
}

impl Selection {
    /// Whether a location is one of them.
    pub fn holds(self, location: &Location) -> bool {
        match self {
            Selection::Rank(rank) => location.rank == Some(rank),
            Selection::Pid(pid) => location.pid == pid,
        }
    }
}

/// Parses `rank=K` or `pid=K`.
pub fn selection(text: &str) -> Result<Selection, String> {
    let parsed = text.split_once('=').and_then(|(what, number)| {
        let number = number.parse().ok()?;
        match what {
            "rank" => Some(Selection::Rank(number)),
            "pid" => Some(Selection::Pid(number)),
            _ => None,
        }
    });
    parsed.ok_or_else(|| format!("`{text}` names no location; use rank=K or pid=K"))
}

/// Parses a share in percent and gives it as percent.
pub fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is no share; use 0 to 100")),
    }
}

/// The first of `PREFIX-PROGRAM-1`, `-2` and so on in the current directory that is not there.
pub fn next_free(prefix: &str, program: &OsStr) -> PathBuf {
    let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
    let name: String =
        name.chars().map(|c| if c.is_alphanumeric() || "._-+".contains(c) { c } else { '_' }).collect();
    (1u64..)
        .map(|n| PathBuf::from(format!("{prefix}-{name}-{n}")))
        .find(|path| !path.exists())
        .unwrap_or_else(|| PathBuf::from(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("90").unwrap(), Duration::from_secs(90));
        assert_eq!(duration("1.5m").unwrap(), Duration::from_secs(90));
        for bad in ["", "m", "-1s", "nan", "1e300h", "ä"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn locations_are_named() {
        assert_eq!(selection("rank=3").unwrap(), Selection::Rank(3));
        assert!(selection("rank=x").is_err());
        assert!(selection("thread=1").is_err());
    }

    #[test]
    fn shares_are_in_percent() {
        assert_eq!(percent("0.5%").unwrap(), 0.5);
        assert!(percent("101").is_err());
        assert!(percent("nan").is_err());
    }

    #[test]
    fn names_of_directories_are_harmless() {
        let path = next_free("falloff", OsStr::new("/opt/my app;x"));
        assert_eq!(path, Path::new("falloff-my_app_x-1"));
    }
}
