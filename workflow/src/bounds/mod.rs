//! How the parts of a run bound its speed-up, and where their times stop falling with more processors.
//!
//! A [`Series`] has the times of one part over the counts of a sweep. A run is split into call paths that add up to it;
//! [`partial_bounds`] are those of one part, [`PathBounds`] those of every call path, with the waterfall 1/S = Σ 1/B over the parts. The
//! mathematics is that of `falloff-models`.

mod partial;
mod parts;
mod paths;
mod series;

pub use partial::{lasting, partial_bounds};
pub(crate) use parts::Parts;
pub(crate) use paths::Row;
pub use paths::{BoundsOf, PathBounds, RowBounds};
pub use series::Series;
pub(crate) use series::{from_beginning, observations};
