//! Sections: phases that a program has marked, entered together by the members of a communicator. What they are, how long
//! each location was in them, when the members of each instance came and went, and what each context cost in them.

mod check;
mod collect;
mod instance;
mod json;
mod model;
mod text;
mod times;

pub use check::Disagreement;
pub(crate) use collect::{Collector, Places};
pub use instance::{Instance, InstanceTimes};
pub use json::write as write_json;
pub(crate) use model::summed;
pub use model::{Checkpoint, Communicator, Dwell, Member, Section, SectionValue, Sections};
pub use text::table as text_table;
pub use times::{SectionTimes, Together};
