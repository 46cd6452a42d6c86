//! A count that costs time, as the user writes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use falloff_models::{Column, Scale};
use falloff_postprocess::views::Formula;

use super::counted::Counted;

/// The processor count in formulas.
const PROCESSORS: &str = "p";
/// The problem size in formulas.
pub(super) const SIZE: &str = "N";

/// A count that costs time, `NAME=FORMULA`.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    name: String,
    text: String,
    formula: Formula,
}

/// What one of a count is known to cost, `NAME=SECONDS`.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Name of the term.
    pub name: String,
    /// Seconds of a processor for one.
    pub seconds: f64,
}

impl Term {
    /// Reads `NAME=FORMULA`.
    ///
    /// ```
    /// use falloff_workflow::outlook::Term;
    /// let operations = Term::parse("operations=2*N^3/(3*p)").unwrap();
    /// assert_eq!((operations.name(), operations.text()), ("operations", "2*N^3/(3*p)"));
    /// assert!(Term::parse("2*N^3").is_err());
    /// ```
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn parse(text: &str) -> Result<Term, String> {
        let (name, formula) = named(text, "NAME=FORMULA")?;
        let parsed =
            Formula::parse(formula).map_err(|error| format!("`{formula}` is no formula: {error}"))?;
        Ok(Term { name: name.into(), text: formula.into(), formula: parsed })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its formula.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it goes by the problem size.
    pub(super) fn is_of_size(&self) -> bool {
        self.formula.names().iter().any(|name| name == SIZE)
    }

    /// Names in the formula that are no scale: metrics.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &String> {
        self.formula.names().iter().filter(|name| ![PROCESSORS, SIZE].contains(&name.as_str()))
    }

    /// The count as a column of a model; `counted` has its metrics.
    pub(super) fn column(&self, given: &[Given], counted: &BTreeMap<String, Arc<Counted>>) -> Column {
        let (formula, counted) = (self.formula.clone(), counted.clone());
        let count = move |at: Scale| {
            let value = |name: &String| match name.as_str() {
                PROCESSORS => Some(at.p),
                SIZE => Some(at.n),
                _ => counted.get(name)?.at(at).ok(),
            };
            let values: Option<Vec<f64>> = formula.names().iter().map(value).collect();
            values.and_then(|values| formula.of(&values)).unwrap_or(f64::NAN)
        };
        let column = Column::new(&self.name, count);
        match given.iter().find(|given| given.name == self.name) {
            Some(known) => column.given(known.seconds),
            None => column,
        }
    }
}

impl Given {
    /// Reads `NAME=SECONDS`.
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn parse(text: &str) -> Result<Given, String> {
        let (name, seconds) = named(text, "NAME=SECONDS")?;
        match seconds.parse() {
            Ok(seconds) if seconds >= 0.0 && f64::is_finite(seconds) => {
                Ok(Given { name: name.into(), seconds })
            }
            _ => Err(format!("`{seconds}` is no cost in seconds; use for example {name}=1e-9")),
        }
    }
}

fn named<'a>(text: &'a str, form: &str) -> Result<(&'a str, &'a str), String> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    parts.ok_or_else(|| format!("`{text}` has no {form}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_terms() {
        for wrong in ["N^3", "=N", "a=", "a=N^", "a=(p"] {
            assert!(Term::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["1e-9", "a=", "a=-1", "a=inf", "=1"] {
            assert!(Given::parse(wrong).is_err(), "{wrong}");
        }
    }
}
