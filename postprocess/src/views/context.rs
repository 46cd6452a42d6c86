//! The calling context view: the tree as it is.

use super::view::{Costs, View, ViewKind};
use crate::cct::Tree;

pub(super) fn build(tree: &Tree, costs: &Costs) -> View {
    View::of_tree(ViewKind::Context, tree, &costs.inclusive, &costs.exclusive)
}
