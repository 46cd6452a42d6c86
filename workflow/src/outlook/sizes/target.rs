//! What is asked about: a processor count, a problem size, or both.

use std::str::FromStr;

use falloff_models::Scale;

/// A scale that is to be predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// Processor count; the largest measured if it is not said.
    pub processors: Option<u32>,
    /// Problem size; the largest measured if it is not said.
    pub size: Option<f64>,
}

impl Target {
    /// What is meant where `largest` has the largest size and count that were measured.
    ///
    /// ```
    /// use falloff_models::Scale;
    /// use falloff_workflow::outlook::Target;
    /// let largest = Scale { n: 1000.0, p: 8.0 };
    /// let both: Target = "p=16,N=2000".parse().unwrap();
    /// assert_eq!(both.scale(largest), Scale { n: 2000.0, p: 16.0 });
    /// let count: Target = "64".parse().unwrap();
    /// assert_eq!(count.scale(largest), Scale { n: 1000.0, p: 64.0 });
    /// ```
    pub fn scale(self, largest: Scale) -> Scale {
        Scale { p: self.processors.map_or(largest.p, f64::from), n: self.size.unwrap_or(largest.n) }
    }

    fn set(&mut self, part: &str) -> Option<()> {
        match part.split_once('=') {
            Some(("N", size)) if self.size.is_none() => {
                self.size = Some(size.parse().ok().filter(|size: &f64| size.is_finite() && *size >= 1.0)?);
            }
            None | Some(("p", _)) if self.processors.is_none() => {
                let count = part.strip_prefix("p=").unwrap_or(part);
                self.processors = Some(count.parse().ok().filter(|count| *count >= 1)?);
            }
            _ => return None,
        }
        Some(())
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let mut target = Target::default();
        let all = text.split(',').try_for_each(|part| target.set(part.trim()));
        all.map(|()| target).ok_or_else(|| {
            format!("`{text}` is no target; use for example 1024 or p=1024, or p=16,N=2000 over sizes")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_a_count_or_a_size() {
        let read = |text: &str| text.parse::<Target>().ok().map(|t| (t.processors, t.size));
        assert_eq!(read("1024"), Some((Some(1024), None)));
        assert_eq!(read("p=1024"), Some((Some(1024), None)));
        assert_eq!(read("N=1e6"), Some((None, Some(1e6))));
        assert_eq!(read("N=2000, p=16"), Some((Some(16), Some(2000.0))));
        for wrong in ["", "0", "p=", "p=1.5", "N=0", "N=nan", "n=4", "p=4,p=8", "4,N=2,N=3", "p=4,"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
