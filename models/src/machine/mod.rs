//! Two parameters: time over problem size and processor count, from counts given by formulas and costs of the machine.

mod column;
mod model;

pub use column::Column;
pub use model::{Cost, MachineModel, Part};
