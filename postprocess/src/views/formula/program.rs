//! A formula that can be worked out.

use super::parse::parse;

/// A step: it takes its operands from a stack and leaves its result there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Number(f64),
    /// The value of a name, by its index.
    Value(usize),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Log2,
    SquareRoot,
    /// The smallest of so many.
    Min(u32),
    /// The largest of so many.
    Max(u32),
}

/// A formula over named values: `+ - * / ^`, brackets, `min(…)`, `max(…)`, `log2(…)`, `sqrt(…)`, and numbers, behind which n, u, m, k, M, G or T may
/// stand (1e-9 to 1e12). A minus between two characters of a name belongs to the name.
///
/// ```
/// use falloff_postprocess::views::Formula;
/// let formula = Formula::parse("100 * cache-misses / cache-references").unwrap();
/// assert_eq!(formula.names(), ["cache-misses", "cache-references"]);
/// assert_eq!(formula.of(&[3.0, 200.0]), Some(1.5));
/// assert_eq!(formula.of(&[3.0, 0.0]), None);
/// let error = Formula::parse("instructions/").unwrap_err();
/// assert_eq!(error.to_string(), "a metric, a number or `(` is missing (character 14)");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    ops: Vec<Op>,
    names: Vec<String>,
}

/// Why a text is no formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (character {})", at + 1)]
pub struct FormulaError {
    at: usize,
    reason: String,
}

impl FormulaError {
    pub(super) fn new(at: usize, reason: impl Into<String>) -> FormulaError {
        FormulaError { at, reason: reason.into() }
    }
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// Says what is wrong and where.
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        parse(text)
    }

    pub(super) fn new(ops: Vec<Op>, names: Vec<String>) -> Formula {
        Formula { ops, names }
    }

    /// Names that occur, each once.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The result for these values of [`Formula::names`]; `None` if it is no finite number, as after a division by 0.
    pub fn of(&self, values: &[f64]) -> Option<f64> {
        let mut stack: Vec<f64> = Vec::with_capacity(8);
        for op in &self.ops {
            let result = match *op {
                Op::Number(value) => value,
                Op::Value(index) => *values.get(index)?,
                Op::Negate => -stack.pop()?,
                Op::Log2 => stack.pop()?.log2(),
                Op::SquareRoot => stack.pop()?.sqrt(),
                Op::Min(count) => fold(&mut stack, count, f64::min)?,
                Op::Max(count) => fold(&mut stack, count, f64::max)?,
                Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Power => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    match op {
                        Op::Add => left + right,
                        Op::Subtract => left - right,
                        Op::Multiply => left * right,
                        Op::Power => left.powf(right),
                        _ => left / right,
                    }
                }
            };
            // What went over infinity on its way would come back as a number that means nothing.
            stack.push(Some(result).filter(|r| r.is_finite())?);
        }
        stack.pop()
    }
}

/// Takes so many values.
fn fold(stack: &mut Vec<f64>, count: u32, of: fn(f64, f64) -> f64) -> Option<f64> {
    let first = stack.len().checked_sub(count as usize)?;
    stack.drain(first..).reduce(of)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> Option<f64> {
        let formula = Formula::parse(text).unwrap();
        let known = [("a", 2.0), ("b", 5.0), ("zero", 0.0), ("x-y", 7.0)];
        let value = |name: &String| known.iter().find(|(n, _)| n == name).unwrap().1;
        formula.of(&formula.names().iter().map(value).collect::<Vec<_>>())
    }

    #[test]
    fn products_bind_closer_and_both_go_from_the_left() {
        assert_eq!(value("1 + 2*3"), Some(7.0));
        assert_eq!(value("100 - a - b"), Some(93.0));
        assert_eq!(value("100/a/b"), Some(10.0));
        assert_eq!(value("(1+2)*-a"), Some(-6.0));
        assert_eq!(value("--a + -(b)"), Some(-3.0));
        assert_eq!(value("max(a, b, min(9, x-y)) * 1k"), Some(7000.0));
        assert_eq!(value("x-y - x-y"), Some(0.0));
    }

    #[test]
    fn powers_bind_closest_and_go_from_the_right() {
        assert_eq!(value("a*b^2"), Some(50.0));
        assert_eq!(value("-a^2"), Some(-4.0));
        assert_eq!(value("a^3^a"), Some(512.0));
        assert_eq!(value("a^-1"), Some(0.5));
        assert_eq!(value("b^1.5/sqrt(b)"), Some(5.0));
        assert_eq!(value("log2(4*a)"), Some(3.0));
        assert_eq!(value("log2(zero)"), None);
        assert_eq!(value("sqrt(-a)"), None);
        assert!(Formula::parse(&"a^".repeat(100_000)).is_err());
        assert!(Formula::parse("log2(a, b)").is_err());
    }

    #[test]
    fn what_is_no_number_is_empty() {
        assert_eq!(value("a/zero"), None);
        assert_eq!(value("zero/zero"), None);
        assert_eq!(value("1/(1/zero)"), None);
        assert_eq!(value("min(a/zero, 1)"), None);
        assert_eq!(value("1e300*1e300"), None);
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        let texts =
            ["", " ", "a+", "a b", "(a", "a)", "a,b", "*a", "min()", "min(a,)", "avg(a)", "a%b", "3x", "()"];
        let errors = texts.map(|text| match Formula::parse(text) {
            Ok(_) => format!("{text}: fine"),
            Err(error) => format!("{text}: {error}"),
        });
        insta::assert_snapshot!("formula_errors", errors.join("\n"));
        assert!(Formula::parse(&"(".repeat(100_000)).is_err());
        assert!(Formula::parse(&"min(".repeat(100_000)).is_err());
        assert_eq!(value(&format!("{}a", "-".repeat(100_000))), Some(2.0));
        assert_eq!(value(&format!("0{}", "+a".repeat(100_000))), Some(200_000.0));
    }

    /// An expression as text, all brackets written, and its value for the values of `v0`, `v1` and `v2`.
    fn expression() -> impl Strategy<Value = (String, [f64; 3], f64)> {
        let values = prop::array::uniform3(-100i32..100).prop_map(|v| v.map(f64::from));
        let tree = values.prop_flat_map(|values| {
            let leaf = prop_oneof![
                (0u32..1000).prop_map(|n| (n.to_string(), f64::from(n))),
                (0usize..3).prop_map(move |i| (format!("v{i}"), values[i])),
            ];
            let tree = leaf.prop_recursive(5, 40, 3, |below| {
                prop_oneof![
                    (below.clone(), below.clone(), 0usize..4).prop_map(|((a, x), (b, y), op)| {
                        let value = [x + y, x - y, x * y, x / y][op];
                        (format!("({a} {} {b})", ["+", "-", "*", "/"][op]), value)
                    }),
                    below.clone().prop_map(|(a, x)| (format!("-{a}"), -x)),
                    (below.clone(), below).prop_map(|((a, x), (b, y))| {
                        // A part that is no number makes the whole none, which `max` of floats does not.
                        let value = if x.is_finite() && y.is_finite() { x.max(y) } else { f64::NAN };
                        (format!("max({a},{b})"), value)
                    }),
                ]
            });
            (tree, Just(values))
        });
        tree.prop_map(|((text, value), values)| (text, values, value))
    }

    proptest! {
        #[test]
        fn formulas_mean_what_they_say((text, values, expected) in expression()) {
            let formula = Formula::parse(&text).unwrap();
            let given: Vec<f64> =
                formula.names().iter().map(|n| values[n[1..].parse::<usize>().unwrap()]).collect();
            match formula.of(&given) {
                Some(value) => prop_assert_eq!(value, expected),
                // Also where a division by 0 came out as a finite number in the end.
                None => prop_assert!(text.contains('/') || !expected.is_finite()),
            }
        }

        #[test]
        fn no_text_is_too_much(text in "[ a-z0-9.+*/(),%ä-]{0,40}") {
            if let Ok(formula) = Formula::parse(&text) {
                formula.of(&vec![1.0; formula.names().len()]);
                prop_assert!(formula.names().is_empty() || formula.of(&[]).is_none());
            }
        }

        #[test]
        fn no_characters_are_too_strange(text in any::<String>()) {
            let _ = Formula::parse(&text);
        }
    }
}
