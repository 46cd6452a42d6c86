//! How often a program does something, as a formula of problem size and processor count.

use std::fmt;

use crate::error::{Error, Result};
use crate::points::Scale;

/// A count of something that costs time: arithmetic operations, messages, bytes sent by a processor.
pub struct Column {
    name: String,
    formula: Box<dyn Fn(Scale) -> f64 + Send + Sync>,
    given: Option<f64>,
}

impl Column {
    /// A count with the name it is shown by; what one of it costs is to be fitted.
    pub fn new(name: impl Into<String>, formula: impl Fn(Scale) -> f64 + Send + Sync + 'static) -> Column {
        Column { name: name.into(), formula: Box::new(formula), given: None }
    }

    /// The same with a known cost of one of it, in the unit of the values: it is not fitted.
    pub fn given(self, cost: f64) -> Column {
        Column { given: Some(cost), ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What one of it costs, if that was given.
    pub(super) fn cost(&self) -> Option<f64> {
        self.given
    }

    /// The count at a scale.
    ///
    /// # Errors
    /// The formula gives no number, or a negative one.
    pub fn value(&self, scale: Scale) -> Result<f64> {
        let value = (self.formula)(scale);
        if value.is_finite() && value >= 0.0 {
            return Ok(value);
        }
        Err(Error::Column { name: self.name.clone(), scale: scale.to_string(), value })
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("name", &self.name).field("given", &self.given).finish_non_exhaustive()
    }
}
