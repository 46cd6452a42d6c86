//! Values that depend on the processor count: `size={1:100,2:126,4:159}` or `size=100*n`.

use std::collections::BTreeMap;

use falloff_postprocess::views::Formula;

/// A name in braces in the program's arguments, and its value at each processor count.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    name: String,
    value: Value,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// One for each count.
    Table(BTreeMap<u32, String>),
    /// A formula of `n`.
    Formula(Formula),
    /// The same at every count.
    Text(String),
}

/// Names that mean something already.
const TAKEN: [&str; 3] = ["n", "run", "command"];

impl Argument {
    /// Reads `NAME=VALUE`: a table in braces, a formula of `n`, or any other text.
    ///
    /// ```
    /// use falloff_workflow::template::Argument;
    /// let size = Argument::parse("size={1:100, 4:159}").unwrap();
    /// assert_eq!(size.replace("--size {size}", 4), "--size 159");
    /// let cells = Argument::parse("cells=1000*n").unwrap();
    /// assert_eq!(cells.replace("{cells}", 3), "3000");
    /// ```
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn parse(text: &str) -> Result<Argument, String> {
        let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` has no NAME=VALUE"))?;
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(word) || TAKEN.contains(&name) {
            return Err(format!(
                "`{name}` cannot be the name of an argument; use letters, digits, `_` and `-`"
            ));
        }
        Ok(Argument { name: name.to_owned(), value: Value::parse(value)? })
    }

    /// Its value at a processor count, if it has one there.
    pub fn at(&self, n: u32) -> Option<String> {
        match &self.value {
            Value::Table(values) => values.get(&n).cloned(),
            Value::Text(text) => Some(text.clone()),
            Value::Formula(formula) => formula.of(&[f64::from(n)]).map(|v| v.to_string()),
        }
    }

    /// The counts of `scales` at which it has no value.
    pub fn missing(&self, scales: &[u32]) -> Vec<u32> {
        scales.iter().copied().filter(|n| self.at(*n).is_none()).collect()
    }

    /// The name, without braces.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text with the value in place of the name in braces.
    pub fn replace(&self, text: &str, n: u32) -> String {
        text.replace(&format!("{{{}}}", self.name), &self.at(n).unwrap_or_default())
    }
}

impl Value {
    fn parse(text: &str) -> Result<Value, String> {
        if let Some(table) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            let entry = |item: &str| -> Result<(u32, String), String> {
                let wrong = || format!("`{item}` is no N:VALUE");
                let (n, value) = item.split_once(':').ok_or_else(wrong)?;
                Ok((n.trim().parse().map_err(|_| wrong())?, value.trim().to_owned()))
            };
            return table.split(',').map(entry).collect::<Result<_, _>>().map(Value::Table);
        }
        match Formula::parse(text) {
            Ok(formula) if *formula.names() == ["n"] => Ok(Value::Formula(formula)),
            _ => Ok(Value::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_the_count() {
        let size = Argument::parse("size={1:100,2:126,4:159}").unwrap();
        assert!(size.missing(&[1, 2, 4]).is_empty());
        assert_eq!(size.missing(&[1, 8]), [8]);
        let half = Argument::parse("h=(n+1)/2").unwrap();
        assert_eq!((half.replace("{h}", 1), half.replace("{h}", 2)), ("1".into(), "1.5".into()));
        let file = Argument::parse("in=data/large.txt").unwrap();
        assert_eq!(file.replace("-i {in} {other}", 7), "-i data/large.txt {other}");
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in ["size", "=3", "n=4", "a b=1", "size={1}", "size={x:1}"] {
            assert!(Argument::parse(wrong).is_err(), "{wrong}");
        }
    }
}
