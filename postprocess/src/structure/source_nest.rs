//! Loops of the source, of each of which a compiler may have made several.

use rustc_hash::FxHashMap;

/// Loops in each other; deeper ones count as part of those. No source comes near.
const DEEPEST: u32 = 64;

/// How the loops of the source lie in each other, and which of them each machine loop is a copy of.
#[derive(Debug, Default)]
pub(crate) struct SourceNest {
    nodes: Vec<Node>,
    children: FxHashMap<(Option<u32>, u32), u32>,
    of_machine: Vec<Option<u32>>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// What tells the loop from others.
    place: u32,
    parent: Option<u32>,
    depth: u32,
}

impl SourceNest {
    /// Of machine loops with their parents, which come first, and the places in the source that they have come from.
    ///
    /// A loop within another one of the same place is part of it. A copy that lies outside some of the loops that are
    /// around another copy, since one round of those was peeled off, is put into them.
    pub fn new(loops: impl Iterator<Item = (Option<u32>, u32)> + Clone) -> SourceNest {
        let mut nest = SourceNest::default();
        let mut nodes: Vec<Option<u32>> = Vec::new();
        let mut deepest: FxHashMap<u32, u32> = FxHashMap::default();
        for (parent, place) in loops.clone() {
            let node = nest.child(parent.and_then(|p| nodes[p as usize]), place);
            nodes.push(node);
            if let Some(node) = node.filter(|node| nest.nodes[*node as usize].place == place) {
                let known = deepest.entry(place).or_insert(node);
                if nest.nodes[node as usize].depth > nest.nodes[*known as usize].depth {
                    *known = node;
                }
            }
        }
        for (parent, place) in loops {
            let plain = nest.child(parent.and_then(|p| nest.of_machine[p as usize]), place);
            let other = deepest.get(&place).copied();
            let within = plain.zip(other).is_some_and(|(plain, other)| nest.adds_loops(plain, other));
            nest.of_machine.push(if within { other } else { plain });
        }
        nest
    }

    /// Places of the loops of the source around the code of a machine loop, innermost first.
    pub fn around(&self, machine_loop: u32) -> impl Iterator<Item = u32> + '_ {
        self.above(self.of_machine[machine_loop as usize]).map(|node| self.nodes[node as usize].place)
    }

    fn above(&self, node: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(node, |node| self.nodes[*node as usize].parent)
    }

    fn child(&mut self, parent: Option<u32>, place: u32) -> Option<u32> {
        let depth = parent.map_or(0, |p| self.nodes[p as usize].depth + 1);
        if depth >= DEEPEST || self.above(parent).any(|node| self.nodes[node as usize].place == place) {
            return parent;
        }
        let next = self.nodes.len() as u32;
        let node = *self.children.entry((parent, place)).or_insert(next);
        if node == next {
            self.nodes.push(Node { place, parent, depth });
        }
        Some(node)
    }

    /// Whether two nodes are of one place and the loops around the second are those around the first and more.
    fn adds_loops(&self, node: u32, other: u32) -> bool {
        let place = |node: u32| self.nodes[node as usize].place;
        let mut wanted = self.above(Some(node)).map(place).peekable();
        for place in self.above(Some(other)).map(place) {
            wanted.next_if_eq(&place);
        }
        let more = self.nodes[other as usize].depth > self.nodes[node as usize].depth;
        more && place(node) == place(other) && wanted.peek().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each loop the places around it, outermost first.
    fn nests(loops: &[(Option<u32>, u32)]) -> Vec<Vec<u32>> {
        let nest = SourceNest::new(loops.iter().copied());
        let around = |l: u32| {
            let mut places: Vec<u32> = nest.around(l).collect();
            places.reverse();
            places
        };
        (0..loops.len() as u32).map(around).collect()
    }

    #[test]
    fn copies_are_one_loop() {
        // A vector loop and the loop for what remains, both in an outer one.
        assert_eq!(nests(&[(None, 5), (Some(0), 6), (Some(0), 6)]), [vec![5], vec![5, 6], vec![5, 6]]);
    }

    #[test]
    fn a_loop_within_itself_is_one() {
        assert_eq!(nests(&[(None, 5), (Some(0), 5), (Some(1), 6)]), [vec![5], vec![5], vec![5, 6]]);
    }

    #[test]
    fn what_was_peeled_off_is_put_back() {
        // i(j(k) k): the last round of j has its own copy of k.
        let found = nests(&[(None, 1), (Some(0), 2), (Some(1), 3), (Some(0), 3)]);
        assert_eq!(found, [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 3]]);
        // Not if the loops around the other copy are others.
        let found = nests(&[(None, 1), (Some(0), 3), (None, 4), (Some(2), 5), (Some(3), 3)]);
        assert_eq!(found[1], [1, 3]);
    }

    #[test]
    fn no_nest_is_too_deep() {
        let chain: Vec<(Option<u32>, u32)> = (0..1000).map(|l: u32| (l.checked_sub(1), l)).collect();
        assert_eq!(nests(&chain)[999].len(), DEEPEST as usize);
    }
}
