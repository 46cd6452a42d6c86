//! Scoring: how much of a run is excess work, for every call path, and how sure that is.
//!
//! Pure functions over columns of exclusive cost. [`Columns`] puts the runs of a sweep side by side over one
//! tree, [`ScoredView`] compares two scales in one of the views, [`ScaleSummary`] compares whole runs, [`steps`] goes from count
//! to count, [`Growth`] says what is expected, and [`Score`] is all of it: what a report shows.

mod columns;
mod compared;
mod divergence;
mod excess;
mod expectation;
mod growth;
mod health;
mod imbalance;
mod interval;
mod losses;
mod own_expectation;
mod rows;
mod scales;
mod score;
mod steps;

pub(crate) use columns::{Aligned, SECONDS_PER_NS, mean_period};
pub use columns::{Columns, Run, ScaleColumns};
pub use compared::{Compared, ComparedRun};
pub use divergence::{Divergence, DivergentPath};
pub use excess::{Class, excess, own_efficiency};
pub use expectation::Scaling;
pub use growth::Growth;
pub use health::RunHealth;
pub use imbalance::{Participants, imbalance};
pub(crate) use imbalance::{participant_hosts, participant_keys};
pub use interval::{Repeated, Uncertainty, q_values};
pub use losses::{Comparison, Loss, Losses};
pub use own_expectation::OwnExpectation;
pub use rows::{FALSE_FINDINGS, MIN_SAMPLES, ScoredRow, ScoredView};
pub use scales::{ScaleSummary, summarise};
pub(crate) use score::{PREEMPTED, TIME, check_metric};
pub use score::{Question, Score};
pub use steps::{Step, StepRow, steps};
