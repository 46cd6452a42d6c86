//! Where a time stops falling, and how many processors are worth using.

mod advice;
mod state;
mod turning;

pub use advice::{Advice, marginal_efficiency};
pub use state::{Inflexion, State};
pub use turning::{Growth, Turning};
