//! Sections that a program has marked: their times over the counts of a sweep, and how they bound its speed-up.
//!
//! [`RunSections`] is what the processes' main threads of one run spent in each section; [`Marked`] joins those of a sweep by label
//! path: a [`Section`] has its law, its bounds and where it stops falling, and their own times with the rest of the program add up to
//! the run, so that 1/S is the sum of 1/B. [`Grid`] has those of a sweep over processes and threads.

mod grid;
mod marked;
mod run;
mod section;

pub use grid::{Grid, GridRow};
pub use marked::{Beside, Marked};
pub use run::{Elsewhere, LabelPath, RunSections, Spent};
pub use section::{OwnTime, Section};
