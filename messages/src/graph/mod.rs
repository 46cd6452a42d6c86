//! The graph of a run's calls in the formats of other programs: a window of it as [`dot()`] and [`graphml()`], all of it as [`perfetto()`].
//!
//! Every call is two nodes, its beginning and its end (Sottile, Chandu and Bader, IPDPS 2006). Edges go forwards: through a call,
//! from call to call of a thread, along messages from the beginning of a send to the end of what completes the receive, and in
//! collective operations from the beginnings of all to one node, and from there to their ends.

mod dot;
mod graphml;
mod perfetto;
#[cfg(test)]
mod tests;
mod walk;
mod window;

pub use dot::dot;
pub use graphml::graphml;
pub use perfetto::perfetto;
pub use walk::{Error, Written};
pub use window::{Window, WindowError};
