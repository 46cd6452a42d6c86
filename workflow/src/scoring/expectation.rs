//! What a run is expected to cost at another processor count.

use serde::{Deserialize, Serialize};

/// How the problem grows with the processor count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// The whole problem keeps its size: the total work should stay the same.
    Strong,
    /// The problem of each processor keeps its size: the total work should grow with the processor count.
    Weak,
}

impl Scaling {
    /// The factor ρ by which total work is expected to grow from `base` to `at` processors: 1 for strong
    /// scaling, `at / base` for weak scaling.
    ///
    /// Coarfa et al., ICS'07, section 3: the expectation q·C(q) = p·C(p) of strong scaling is W(q) = W(p) in
    /// total work W = q·C; the expectation C(q) = C(p) of weak scaling is W(q) = (q/p)·W(p).
    ///
    /// ```
    /// use falloff_workflow::scoring::Scaling;
    /// assert_eq!(Scaling::Strong.rho(4, 16), 1.0);
    /// assert_eq!(Scaling::Weak.rho(4, 16), 4.0);
    /// ```
    pub fn rho(self, base: u32, at: u32) -> f64 {
        match self {
            Scaling::Strong => 1.0,
            Scaling::Weak => f64::from(at) / f64::from(base),
        }
    }

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Scaling::Strong => "strong",
            Scaling::Weak => "weak",
        }
    }
}
