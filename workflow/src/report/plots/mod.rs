//! Figures of a sweep as SVG: speed-up, efficiency, and excess by cause over the processor counts.
//!
//! Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart; lines differ in their marks too.

pub(crate) mod axes;
pub(crate) mod canvas;
mod figures;
mod lines;
mod stacks;

pub use figures::figures;
