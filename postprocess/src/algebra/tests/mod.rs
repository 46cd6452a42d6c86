//! Laws and examples of the operations.

mod laws;
mod matching;
mod random;
mod reports;
