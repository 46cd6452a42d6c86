//! Expectations of some call paths: `solve=N^3/p`.

use falloff_postprocess::views::{Formula, Pattern};

use crate::template::Argument;

/// What some call paths, with all that they call, are expected to cost.
///
/// The formula gives the cost of each of `p` processes. `p` is the processor count; further names are the values of
/// arguments at that count, and `n` is `N` where there is an argument of that name. What strong scaling expects is `1/p`,
/// what weak scaling expects `1`.
#[derive(Clone, Debug)]
pub struct OwnExpectation {
    text: String,
    pattern: Pattern,
    formula: Formula,
}

/// The processor count in formulas.
const PROCESSORS: &str = "p";
/// The problem size in formulas, and the argument that gives it.
const SIZE: (&str, &str) = ("n", "N");

impl OwnExpectation {
    /// Reads `PATTERN=FORMULA`.
    ///
    /// ```
    /// use falloff_workflow::scoring::OwnExpectation;
    /// use falloff_workflow::template::Argument;
    /// let solve = OwnExpectation::parse("^solve=N^3/p").unwrap();
    /// let size = Argument::parse("N={1:100,8:200}").unwrap();
    /// // Eight times the work on eight processes.
    /// assert_eq!(solve.total(1, &[size.clone()]), Ok(1e6));
    /// assert_eq!(solve.total(8, &[size]), Ok(8e6));
    /// assert!(OwnExpectation::parse("solve").is_err());
    /// ```
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn parse(text: &str) -> Result<OwnExpectation, String> {
        let (pattern, formula) = text
            .rsplit_once('=')
            .filter(|(pattern, _)| !pattern.is_empty())
            .ok_or_else(|| format!("`{text}` has no PATTERN=FORMULA"))?;
        let formula = Formula::parse(formula).map_err(|e| format!("`{formula}` is no formula: {e}"))?;
        let pattern = pattern.parse().map_err(|e: falloff_postprocess::views::PatternError| e.to_string())?;
        Ok(OwnExpectation { text: text.to_owned(), pattern, formula })
    }

    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is about a function of this name.
    pub fn is_of(&self, function: &str) -> bool {
        self.pattern.is_in(function)
    }

    /// The cost of all processes together at a processor count, `p` times the formula, in units of its own.
    ///
    /// # Errors
    /// What is missing, or that the result is no number or negative, as a sentence.
    pub fn total(&self, processors: u32, arguments: &[Argument]) -> Result<f64, String> {
        let values: Vec<f64> = self
            .formula
            .names()
            .iter()
            .map(|name| {
                value(name, processors, arguments).ok_or_else(|| {
                    format!("`{}` has `{name}`, which has no number at {processors}", self.text)
                })
            })
            .collect::<Result<_, _>>()?;
        let wrong = || format!("`{}` expects no cost that there can be at {processors}", self.text);
        let total = f64::from(processors) * self.formula.of(&values).ok_or_else(wrong)?;
        if total >= 0.0 && total.is_finite() { Ok(total) } else { Err(wrong()) }
    }
}

/// What a name of a formula stands for.
fn value(name: &str, processors: u32, arguments: &[Argument]) -> Option<f64> {
    let of = |wanted: &str| {
        let argument = arguments.iter().rev().find(|a| a.name() == wanted)?;
        argument.at(processors)?.parse::<f64>().ok()
    };
    match name {
        PROCESSORS => Some(f64::from(processors)),
        _ if name == SIZE.0 => of(SIZE.1),
        _ => of(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_of_counts_and_arguments() {
        let arguments = ["N=100*n", "steps=20", "in=data.txt"].map(|text| Argument::parse(text).unwrap());
        let total = |text: &str, p| OwnExpectation::parse(text).unwrap().total(p, &arguments);
        assert_eq!(total("f=n*steps/p", 4), Ok(8000.0));
        assert_eq!(total("f=log2(p)", 1), Ok(0.0));
        assert_eq!(total("operator==1", 2), Ok(2.0));
        assert_eq!(total("f=1/m", 4), Err("`f=1/m` has `m`, which has no number at 4".into()));
        assert!(total("f=in", 1).is_err() && total("f=1/log2(p)", 1).is_err() && total("f=-p", 1).is_err());
        for wrong in ["f", "=p", "f=", "f=p^", "(=p"] {
            assert!(OwnExpectation::parse(wrong).is_err(), "{wrong}");
        }
    }
}
