//! What bounds a speed-up, where it stops, and what a program will cost at scales not yet run.
//!
//! Pure mathematics over measured costs: [`Points`] are means over scales with what is known of their scatter. [`Waterfall`] and
//! [`PartialBounds`] say what bounds the speed-up of one run; [`Inflexion`], [`Turning`] and [`Advice`] where more processors
//! stop paying. [`Model`] finds the law of a cost among those of a [`Basis`], refuses what the data do not tell, and says which run
//! would tell more ([`NextRun`]); [`MachineModel`] takes counts given by formulas. [`Amdahl`], [`Gustafson`], [`karp_flatt`],
//! [`Scalability`] and [`isoefficiency`] are laws of whole programs; [`stray_runs`] and [`Split`] warn of data that do not fit together.
#![forbid(unsafe_code)]

mod bounds;
mod error;
mod inflexion;
mod interval;
mod laws;
mod linear;
mod machine;
mod notes;
mod points;
mod select;

pub use bounds::{PartTimes, PartialBounds, Step, Waterfall, partial_bound};
pub use error::{Error, Result};
pub use inflexion::{Advice, Growth, Inflexion, State, Turning, marginal_efficiency};
pub use interval::Interval;
pub use laws::{Amdahl, Gustafson, Scalability, isoefficiency, karp_flatt};
pub use machine::{Column, Cost, MachineModel, Part};
pub use notes::{Split, StrayRun, StrayScale, stray_runs};
pub use points::{Observation, Point, Points, Scale};
pub use select::{
    Basis, EXTRAPOLATION_MAX, Factor, Hypothesis, Model, NextRun, Pairs, Prediction, Refusal, Term,
    WIDTH_MAX, within_reach,
};
