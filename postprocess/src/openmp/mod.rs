//! OpenMP: putting the paths of worker threads under the parallel region that they work for.

mod graft;
mod paths;
mod role;
mod share;
mod survey;
#[cfg(test)]
mod tests;

pub(crate) use graft::graft;
