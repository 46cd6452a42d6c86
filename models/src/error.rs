//! What can be wrong with numbers that somebody wants a law of.

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why numbers cannot be used, or an answer cannot be given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to look at.
    #[error("failed to use the observations: there are none")]
    Empty,
    /// A processor count or problem size that no run can have.
    #[error("failed to use the observations: {name} = {value} is no number of 1 or more")]
    Scale {
        /// `p` or `N`.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// Two observations of one scale.
    #[error("failed to use the observations: {scale} is given twice; put its repetitions together")]
    Twice {
        /// The scale, as it is printed.
        scale: String,
    },
    /// A value that is no cost.
    #[error("failed to use the observations at {scale}: {value} is no cost: 0, or from 1e-100 to 1e100")]
    Value {
        /// The scale, as it is printed.
        scale: String,
        /// What was given.
        value: f64,
    },
    /// A scale without any repetition.
    #[error("failed to use the observations at {scale}: there is no repetition")]
    NoValue {
        /// The scale, as it is printed.
        scale: String,
    },
    /// All values are zero.
    #[error("failed to use the observations: all of them are zero")]
    Zero,
    /// Too few different scales.
    #[error("failed to {action}: there are {have} different scales and it needs {need}")]
    TooFew {
        /// What was tried, as a verb.
        action: &'static str,
        /// Different scales given.
        have: usize,
        /// Different scales needed.
        need: usize,
    },
    /// The columns of a linear model cannot be told apart at the scales measured.
    #[error("failed to fit the columns {names}: they cannot be told apart at the scales measured")]
    Indistinct {
        /// Names of the columns.
        names: String,
    },
    /// A formula gave something that is no number.
    #[error("failed to evaluate the column `{name}` at {scale}: it gave {value}")]
    Column {
        /// Name of the column.
        name: String,
        /// The scale, as it is printed.
        scale: String,
        /// What came out.
        value: f64,
    },
    /// A parameter outside the range in which the formula means anything.
    #[error("failed to {action}: {name} = {value} must be {range}")]
    Range {
        /// What was tried, as a verb.
        action: &'static str,
        /// Name of the parameter.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
}
