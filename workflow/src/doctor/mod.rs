//! What can be measured on this machine: asked for, tried, and told with what would enable the rest.

mod checks;
mod examination;
mod json;
mod text;
mod trial;

pub use checks::{Check, Topic, Verdict, checks};
pub use examination::{EventAccess, Examination, LauncherFound};
pub use json::json;
pub use text::text;
pub use trial::{Trial, TrialResult};
