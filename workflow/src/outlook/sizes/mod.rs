//! What sweeps of one program at several problem sizes say of sizes and processor counts at which nobody ran it.
//!
//! [`SizeOutlook`] has all of it: for the whole run and for every [`SizePart`] of it a [`Surface`], the time over problem size N and
//! processor count p. A [`SizedSweep`] is what it is made of, a [`Target`] what it is asked.

mod answer;
mod joined;
mod part;
mod surface;
mod target;

pub use answer::{SizeAsked, SizeOutlook, SizeQuestion};
pub use joined::{Joined, SizedSweep};
pub use part::SizePart;
pub use surface::Surface;
pub use target::Target;
