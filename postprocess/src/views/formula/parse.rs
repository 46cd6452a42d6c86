//! Formula texts to programs.
//!
//! `sum = product {(+|-) product}`, `product = factor {(*|/) factor}`,
//! `factor = {+|-} base [^ factor]`,
//! `base = number | name | ( sum ) | (min|max) ( sum {, sum} ) | (log2|sqrt) ( sum )`.

use super::program::{Formula, FormulaError, Op};
use super::token::{Placed, Token, tokens};

/// Brackets and exponents that may stand in each other.
const LEVELS: u32 = 64;

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<Formula, FormulaError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        end: text.chars().count(),
        ops: Vec::new(),
        names: Vec::new(),
    };
    parser.sum(0)?;
    match parser.peek() {
        None => Ok(Formula::new(parser.ops, parser.names)),
        Some((at, Token::Sign(')'))) => Err(FormulaError::new(at, "there is no `(` for this `)`")),
        Some((at, _)) => Err(FormulaError::new(at, "one of `+-*/` is missing")),
    }
}

struct Parser<'a> {
    tokens: Vec<Placed<'a>>,
    next: usize,
    /// Characters of the text.
    end: usize,
    ops: Vec<Op>,
    names: Vec<String>,
}

impl<'a> Parser<'a> {
    fn sum(&mut self, level: u32) -> Result<(), FormulaError> {
        self.product(level)?;
        while let Some(sign) = self.take(&['+', '-']) {
            self.product(level)?;
            self.ops.push(if sign == '+' { Op::Add } else { Op::Subtract });
        }
        Ok(())
    }

    fn product(&mut self, level: u32) -> Result<(), FormulaError> {
        self.factor(level)?;
        while let Some(sign) = self.take(&['*', '/']) {
            self.factor(level)?;
            self.ops.push(if sign == '*' { Op::Multiply } else { Op::Divide });
        }
        Ok(())
    }

    fn factor(&mut self, level: u32) -> Result<(), FormulaError> {
        let mut negative = false;
        while let Some(sign) = self.take(&['+', '-']) {
            negative ^= sign == '-';
        }
        let missing = "a metric, a number or `(` is missing";
        let (at, token) = self.peek().ok_or_else(|| FormulaError::new(self.end, missing))?;
        self.next += 1;
        match token {
            Token::Number(value) => self.ops.push(Op::Number(value)),
            Token::Name(name) => self.name(at, name, level)?,
            Token::Sign('(') => {
                self.bracket(at, level)?;
                self.close()?;
            }
            Token::Sign(_) => return Err(FormulaError::new(at, missing)),
        }
        if self.take(&['^']).is_some() {
            self.factor(deeper(at, level)?)?;
            self.ops.push(Op::Power);
        }
        if negative {
            self.ops.push(Op::Negate);
        }
        Ok(())
    }

    /// A metric, or a function if a bracket follows.
    fn name(&mut self, at: usize, name: &'a str, level: u32) -> Result<(), FormulaError> {
        if self.take(&['(']).is_none() {
            let known = self.names.iter().position(|n| n == name);
            let index = known.unwrap_or(self.names.len());
            if known.is_none() {
                self.names.push(name.to_owned());
            }
            self.ops.push(Op::Value(index));
            return Ok(());
        }
        let (function, most): (fn(u32) -> Op, u32) = match name {
            "min" => (Op::Min, u32::MAX),
            "max" => (Op::Max, u32::MAX),
            "log2" => (|_| Op::Log2, 1),
            "sqrt" => (|_| Op::SquareRoot, 1),
            _ => {
                let reason = format!("there is no function `{name}`; there are min, max, log2 and sqrt");
                return Err(FormulaError::new(at, reason));
            }
        };
        let mut arguments = 1;
        self.bracket(at, level)?;
        while arguments < most && self.take(&[',']).is_some() {
            self.bracket(at, level)?;
            arguments += 1;
        }
        self.close()?;
        self.ops.push(function(arguments));
        Ok(())
    }

    /// What stands in a bracket that is open.
    fn bracket(&mut self, at: usize, level: u32) -> Result<(), FormulaError> {
        self.sum(deeper(at, level)?)
    }

    fn close(&mut self) -> Result<(), FormulaError> {
        let at = self.peek().map_or(self.end, |(at, _)| at);
        self.take(&[')']).map(drop).ok_or_else(|| FormulaError::new(at, "`)` is missing"))
    }

    fn peek(&self) -> Option<Placed<'a>> {
        self.tokens.get(self.next).copied()
    }

    /// The next word if it is one of these signs.
    fn take(&mut self, signs: &[char]) -> Option<char> {
        match self.peek() {
            Some((_, Token::Sign(sign))) if signs.contains(&sign) => {
                self.next += 1;
                Some(sign)
            }
            _ => None,
        }
    }
}

/// The level within.
fn deeper(at: usize, level: u32) -> Result<u32, FormulaError> {
    let reason = || format!("more than {LEVELS} brackets or exponents stand in each other");
    if level == LEVELS { Err(FormulaError::new(at, reason())) } else { Ok(level + 1) }
}
