//! What can be measured: the clocks, the events of perf, and how they are asked for.

mod cache;
mod selection;
mod spec;
mod table;

pub use falloff_format::limits::EVENTS_MAX;
pub use selection::{CAREFUL_RATE_HZ, Selection};
pub use spec::{EventSpec, Measure, RATE_HZ_MAX, SpecError, rate_hz};
pub use table::{DEFAULT_RATE_HZ, Event, PerfEvent, Sampling, known_events};
