//! What a sweep says of processor counts at which nobody ran the program.
//!
//! [`Outlook`] has all of it: for the [`Whole`] run and for every [`Part`] of it a [`Forecast`] from a series of measured times,
//! how the part bounds the speed-up and where its time stops falling; [`Laws`] of the whole run; and [`Note`]s on data that do not fit
//! together. [`Marked`] has the sections that the program has marked, [`sizes`] the same over problem sizes; a [`LinearForm`] is made
//! of counts that the user knows. The mathematics is that of `falloff-models`.

mod answer;
mod counted;
mod forecast;
mod laws;
mod note;
mod part;
mod sections;
pub mod sizes;
mod standing;
mod term;
mod terms;
mod whole;

pub use answer::{Asked, Outlook, Question};
pub use forecast::{Forecast, Prediction};
pub use laws::{Held, Isoefficiency, Laws};
pub use note::{Fact, Note};
pub use part::{Part, Place};
pub use sections::{
    Beside, Elsewhere, Grid, GridRow, LabelPath, Marked, OwnTime, RunSections, Section, Spent,
};
pub use sizes::{SizeAsked, SizeOutlook, SizedSweep, Target};
pub use standing::Standing;
pub use term::{Given, Term};
pub use terms::{AskedTerms, Explained, LinearForm};
pub use whole::{EFFICIENCY, MARGINAL, Whole, Worthwhile};
