//! The calling context tree: what a context is, the tree in canonical order, building, joining and merging.

mod build;
mod merge;
mod scope;
mod tree;
mod unite;

pub use build::TreeBuilder;
pub(crate) use merge::{Called, Merged, Merger, THREAD_ROOT};
pub use scope::{Scope, ScopeKind};
pub use tree::{Context, Tree};
pub use unite::union;
pub(crate) use unite::{part, without};
