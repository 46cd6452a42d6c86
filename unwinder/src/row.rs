//! Signal context: yes
//!
//! One row of the unwind table: how to find the CFA and three registers of the caller at one address.

use crate::entry::Span;

/// Columns followed by one run of the interpreter.
pub(crate) const WIDTH: usize = 3;

/// How the canonical frame address is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CfaRule {
    /// Nothing has defined it.
    Undefined,
    /// `register + offset`
    Register(u16, i64),
    /// The value of an expression.
    Expression(Span),
}

/// How the caller's value of a register is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterRule {
    /// No instruction has spoken of the register.
    Unspecified,
    /// It cannot be recovered; for the return address: there is no caller.
    Undefined,
    /// It is unchanged.
    SameValue,
    /// Saved at `CFA + offset`
    Offset(i64),
    /// Equal to `CFA + offset`
    ValueOffset(i64),
    /// Held by another register.
    Register(u16),
    /// Saved at the address an expression yields.
    Expression(Span),
    /// Equal to what an expression yields.
    ValueExpression(Span),
}

/// A row restricted to the CFA and [`WIDTH`] columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) cfa: CfaRule,
    pub(crate) rules: [RegisterRule; WIDTH],
}

impl Row {
    /// The row before any instruction.
    pub(crate) const EMPTY: Self =
        Self { cfa: CfaRule::Undefined, rules: [RegisterRule::Unspecified; WIDTH] };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_small() {
        // The interpreter keeps ten of them on the stack of a signal handler.
        assert!(size_of::<Row>() <= 72);
    }
}
