//! A run or a sweep as one HTML file that needs neither server nor network.
//!
//! The file carries a small program for the browser (`workflow/page`) and the data: the tree of calling contexts with columns of
//! exclusive values, of which the program makes every view, as `docs/page.md` describes. [`Page`] puts both together.

mod block;
mod document;
mod profile;
mod program;
mod same_path;
mod sections;
mod sources;
mod spread;
mod sweep;
mod timeline;
mod tree;

pub use document::Page;
pub use profile::profile;
pub use sources::SourceTexts;
pub use sweep::{Sweep, sweep};
pub use timeline::{MOST_CALLS, TimelineOf};
