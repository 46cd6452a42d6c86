//! The calling context tree of one thread.

use std::collections::HashMap;

use falloff_format::Frame;
use falloff_format::write::Node;

/// Values of a node: samples and CPU time.
pub(super) const METRICS: usize = 2;
/// The second of them.
const CPU: usize = 1;

/// A tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    places: HashMap<(Option<usize>, Frame), usize>,
}

impl Tree {
    /// Charges the innermost frame of a path, which begins with the outermost.
    pub(super) fn charge(&mut self, path: impl IntoIterator<Item = Frame>, values: [u64; METRICS]) {
        let mut parent = None;
        for frame in path {
            let place = *self.places.entry((parent, frame)).or_insert_with(|| {
                self.nodes.push(Node { parent, frame, section: 0, values: vec![0; METRICS] });
                self.nodes.len() - 1
            });
            parent = Some(place);
        }
        if let Some(node) = parent.and_then(|p| self.nodes.get_mut(p)) {
            node.values.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }

    /// Multiplies all CPU time; gives the sum.
    pub(super) fn scale(&mut self, by: u64, of: u64) -> u64 {
        let times = self.nodes.iter_mut().filter_map(|node| node.values.get_mut(CPU));
        times
            .map(|ns| {
                *ns = (u128::from(*ns) * u128::from(by) / u128::from(of.max(1))) as u64;
                *ns
            })
            .sum()
    }

    /// The nodes, callers before those that they call.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_share_their_callers() {
        let mut tree = Tree::default();
        let frame = |offset| Frame::new(2, offset);
        tree.charge([frame(1), frame(2)], [1, 5]);
        tree.charge([frame(1), frame(3)], [1, 5]);
        tree.charge([frame(1), frame(2)], [1, 5]);
        tree.charge([], [1, 5]);
        let found: Vec<_> = tree.nodes().iter().map(|n| (n.parent, n.frame, n.values[1])).collect();
        assert_eq!(found, [(None, frame(1), 0), (Some(0), frame(2), 10), (Some(0), frame(3), 5)]);
        assert_eq!(tree.scale(9, 10), 9 + 4);
    }
}
