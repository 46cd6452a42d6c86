//! Formulas over metrics, such as `100*blocked/time`: reading them and working them out.

mod parse;
mod program;
mod token;

pub use program::{Formula, FormulaError};
