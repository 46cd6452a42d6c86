//! Pairing of things that have places in a source file: the closest first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Those of both sides at one line.
#[derive(Default)]
struct Place {
    left: VecDeque<usize>,
    right: VecDeque<usize>,
}

impl Place {
    fn is_empty(&self) -> bool {
        self.left.is_empty() && self.right.is_empty()
    }
}

/// Pairs of one of each side, one to one, as many as there can be.
///
/// The pair with the smallest distance goes first, among equals that with the smallest lines; those of one line are taken
/// in the order in which they come. What has no line is paired last, in order. Exchanging the sides exchanges the members
/// of every pair and nothing else, and leaving out what has found no partner leaves the pairs as they are.
pub(super) fn closest(left: &[Option<i64>], right: &[Option<i64>]) -> Vec<(usize, usize)> {
    let mut places: BTreeMap<i64, Place> = BTreeMap::new();
    let (mut left_without, mut right_without) = (VecDeque::new(), VecDeque::new());
    for (at, line) in left.iter().enumerate() {
        line.map_or(&mut left_without, |l| &mut places.entry(l).or_default().left).push_back(at);
    }
    for (at, line) in right.iter().enumerate() {
        line.map_or(&mut right_without, |l| &mut places.entry(l).or_default().right).push_back(at);
    }
    let mut pairs = Vec::new();
    for place in places.values_mut() {
        pair(&mut pairs, &mut place.left, &mut place.right);
    }
    // From here on a line has members of one side at most, and the closest of two sides are neighbours.
    places.retain(|_, p| !p.is_empty());
    let mut heap = BinaryHeap::new();
    let neighbours: Vec<i64> = places.keys().copied().collect();
    heap.extend(neighbours.windows(2).filter_map(|w| candidate(&places, w[0], w[1])));
    while let Some(Reverse((_, low, high))) = heap.pop() {
        if !places.contains_key(&low) || !places.contains_key(&high) {
            continue;
        }
        let mut a = places.remove(&low).unwrap_or_default();
        let mut b = places.remove(&high).unwrap_or_default();
        pair(&mut pairs, &mut a.left, &mut b.right);
        pair(&mut pairs, &mut b.left, &mut a.right);
        // At least one of the two is used up, which makes others neighbours.
        places.extend([(low, a), (high, b)].into_iter().filter(|(_, p)| !p.is_empty()));
        let (below, above) = (places.range(..=low).next_back(), places.range(high..).next());
        if let (Some((below, _)), Some((above, _))) = (below, above) {
            heap.extend(candidate(&places, *below, *above));
        }
    }
    let mut rest = |side: fn(&mut Place) -> &mut VecDeque<usize>, without: VecDeque<usize>| {
        places.values_mut().flat_map(|p| std::mem::take(side(p))).chain(without).collect::<VecDeque<_>>()
    };
    pair(&mut pairs, &mut left_without, &mut right_without);
    let mut left = rest(|p| &mut p.left, left_without);
    let mut right = rest(|p| &mut p.right, right_without);
    pair(&mut pairs, &mut left, &mut right);
    pairs
}

/// Distance and lines of two neighbours, the best first; `None` if they are of one side.
fn candidate(places: &BTreeMap<i64, Place>, low: i64, high: i64) -> Option<Reverse<(u64, i64, i64)>> {
    let is_left = |line| places.get(&line).map(|p| !p.left.is_empty());
    (is_left(low) != is_left(high)).then(|| Reverse((high.abs_diff(low), low, high)))
}

fn pair(pairs: &mut Vec<(usize, usize)>, left: &mut VecDeque<usize>, right: &mut VecDeque<usize>) {
    let both = left.len().min(right.len());
    pairs.extend(left.drain(..both).zip(right.drain(..both)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(left: &[i64], right: &[i64]) -> Vec<(i64, i64)> {
        let some = |lines: &[i64]| lines.iter().map(|l| Some(*l)).collect::<Vec<_>>();
        closest(&some(left), &some(right)).into_iter().map(|(a, b)| (left[a], right[b])).collect()
    }

    #[test]
    fn the_closest_go_together() {
        assert_eq!(pairs(&[10, 20], &[21, 30]), [(20, 21), (10, 30)]);
        assert_eq!(pairs(&[10], &[30, 11, 9]), [(10, 9)]);
        assert_eq!(pairs(&[], &[1]), []);
        assert_eq!(closest(&[None, Some(3)], &[None, None]), [(0, 0), (1, 1)]);
        // Three at one line and two at another: in order.
        assert_eq!(closest(&[Some(1); 3], &[Some(2); 2]), [(0, 0), (1, 1)]);
    }

    /// The rule as it is told, tried on all pairs.
    fn by_all_pairs(left: &[i64], right: &[i64]) -> Vec<(usize, usize)> {
        let mut all: Vec<_> = (0..left.len())
            .flat_map(|a| (0..right.len()).map(move |b| (a, b)))
            .map(|(a, b)| (left[a].abs_diff(right[b]), left[a].min(right[b]), left[a], a, b))
            .collect();
        all.sort();
        let (mut used_left, mut used_right) = (vec![false; left.len()], vec![false; right.len()]);
        let mut pairs = Vec::new();
        for (.., a, b) in all {
            if !used_left[a] && !used_right[b] {
                (used_left[a], used_right[b]) = (true, true);
                pairs.push((a, b));
            }
        }
        pairs
    }

    proptest! {
        #[test]
        fn it_is_what_trying_all_pairs_gives(
            left in prop::collection::vec(0i64..30, 0..12),
            right in prop::collection::vec(0i64..30, 0..12),
        ) {
            let some = |lines: &[i64]| lines.iter().map(|l| Some(*l)).collect::<Vec<_>>();
            let sorted = |mut pairs: Vec<(usize, usize)>| { pairs.sort(); pairs };
            let found = sorted(closest(&some(&left), &some(&right)));
            prop_assert_eq!(&found, &sorted(by_all_pairs(&left, &right)));
            let exchanged = closest(&some(&right), &some(&left)).into_iter().map(|(b, a)| (a, b)).collect();
            prop_assert_eq!(found, sorted(exchanged));
        }
    }
}
