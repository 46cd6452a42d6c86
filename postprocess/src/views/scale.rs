//! How values are written in tables.

use crate::database::Unit;

/// How values of a table are written.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    factor: f64,
    decimals: usize,
    unit: &'static str,
}

impl Scale {
    /// For values up to about this one.
    pub fn of(unit: Unit, total: f64) -> Scale {
        match unit {
            Unit::Count => Scale { factor: 1.0, decimals: 0, unit: "" },
            Unit::Nanoseconds if total.abs() >= 1e9 => Scale { factor: 1e-9, decimals: 3, unit: "s" },
            Unit::Nanoseconds => Scale { factor: 1e-6, decimals: 3, unit: "ms" },
        }
    }

    pub fn number(self, value: f64) -> String {
        format!("{:.*}", self.decimals, value * self.factor)
    }

    pub fn with_unit(self, value: f64) -> String {
        format!("{} {}", self.number(value), self.unit).trim_end().to_owned()
    }

    pub fn heading(self, word: &str) -> String {
        if self.unit.is_empty() { word.to_owned() } else { format!("{word} [{}]", self.unit) }
    }
}

/// A derived value: two decimals, or powers of ten where these say nothing.
pub(super) fn derived(value: f64) -> String {
    let size = value.abs();
    if size >= 1e7 || (size > 0.0 && size < 0.005) { format!("{value:.2e}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::derived;

    #[test]
    fn derived_values_stay_readable() {
        assert_eq!(
            [0.0, 1.5, -0.001, 1234567.0, 2e9].map(derived),
            ["0.00", "1.50", "-1.00e-3", "1234567.00", "2.00e9"]
        );
    }
}
