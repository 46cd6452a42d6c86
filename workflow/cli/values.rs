//! Values of options that have a form of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use falloff_workflow::replay::Parameter;
use regex::Regex;

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

/// Parses a share in percent and gives it as percent.
pub fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is no share; use 0 to 100")),
    }
}

/// Parses a share, given as a fraction of 1 or in percent, and gives the fraction.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, whole) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    match number.parse::<f64>() {
        Ok(value) if (0.0..=whole).contains(&value) => Ok(value / whole),
        _ => Err(format!("`{text}` is no share; use for example 0.5 or 50%")),
    }
}

/// A sweep, and the size of its problem where that is given.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOf {
    /// The size in front of `=`.
    pub size: Option<f64>,
    /// Its directory.
    pub dir: PathBuf,
}

/// Parses `DIR` or `SIZE=DIR`; what has no number in front of `=` is a directory.
pub fn sweep_of(text: &str) -> Result<SweepOf, String> {
    let sized = text.split_once('=').and_then(|(size, dir)| Some((size.parse::<f64>().ok()?, dir)));
    match sized {
        None => Ok(SweepOf { size: None, dir: text.into() }),
        Some((size, dir)) if size.is_finite() && size >= 1.0 && !dir.is_empty() => {
            Ok(SweepOf { size: Some(size), dir: dir.into() })
        }
        Some(_) => {
            Err(format!("`{text}` is no SIZE=DIR: a number of 1 or more, then the directory of its sweep"))
        }
    }
}

/// A pattern of names, and how many times faster what matches is to be.
#[derive(Clone, Debug)]
pub struct Times {
    /// What names are searched for.
    pub pattern: Regex,
    /// How many times.
    pub factor: f64,
}

impl Times {
    /// Parses `PATTERN=TIMES`.
    pub fn parse(text: &str) -> Result<Times, String> {
        let wrong = || format!("`{text}` is no PATTERN=TIMES; use for example '^solve$=2'");
        let (pattern, factor) = text.rsplit_once('=').ok_or_else(wrong)?;
        let factor: f64 = factor.parse().map_err(|_| wrong())?;
        if pattern.is_empty() || !(factor > 0.0 && factor.is_finite()) {
            return Err(wrong());
        }
        Ok(Times { pattern: Regex::new(pattern).map_err(|error| error.to_string())?, factor })
    }
}

/// Parses `PARAMETER=V,V,...`.
pub fn varied(text: &str) -> Result<(Parameter, Vec<f64>), String> {
    let wrong = || format!("`{text}` is no PARAMETER=V,V,...; use for example latency=500,1000,5000");
    let (parameter, values) = text.split_once('=').ok_or_else(wrong)?;
    let parameter = parameter.parse().map_err(|error: falloff_workflow::Error| error.to_string())?;
    let values: Result<Vec<f64>, _> = values.split(',').map(str::parse).collect();
    match values {
        Ok(values) if values.iter().all(|value: &f64| *value >= 0.0 && value.is_finite()) => {
            Ok((parameter, values))
        }
        _ => Err(wrong()),
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
    fn shares_are_in_percent() {
        assert_eq!(percent("0.5%").unwrap(), 0.5);
        assert!(percent("101").is_err());
        assert!(percent("nan").is_err());
        assert_eq!((share("0.25").unwrap(), share("25%").unwrap()), (0.25, 0.25));
        assert!(share("2").is_err());
    }

    #[test]
    fn sweeps_may_have_a_size() {
        let read = |text: &str| sweep_of(text).map(|sweep| (sweep.size, sweep.dir.display().to_string()));
        assert_eq!(read("1e3=runs/large"), Ok((Some(1000.0), "runs/large".into())));
        for plain in ["scaling", "./2=two", "a=b"] {
            assert_eq!(read(plain), Ok((None, plain.into())));
        }
        assert!(read("0=a").is_err() && read("2=").is_err() && read("nan=a").is_err());
    }

    #[test]
    fn names_of_directories_are_harmless() {
        let path = next_free("falloff", OsStr::new("/opt/my app;x"));
        assert_eq!(path, Path::new("falloff-my_app_x-1"));
    }
}
