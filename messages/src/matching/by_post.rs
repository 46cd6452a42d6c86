//! Values by the number of an operation, of which the oldest mostly go first.

use std::collections::VecDeque;

/// Few values, in the order of their posts: what comes has mostly a greater number than what is there.
pub(super) struct ByPost<T>(VecDeque<(u64, T)>);

impl<T> ByPost<T> {
    pub fn new() -> ByPost<T> {
        ByPost(VecDeque::new())
    }

    /// Puts a value in the place of one with the same number, if there is one.
    pub fn insert(&mut self, post: u64, value: T) {
        if self.0.back().is_none_or(|&(last, _)| last < post) {
            return self.0.push_back((post, value));
        }
        match self.find(post) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (post, value)),
        }
    }

    pub fn get(&self, post: u64) -> Option<&T> {
        self.find(post).ok().map(|place| &self.0[place].1)
    }

    pub fn remove(&mut self, post: u64) -> Option<T> {
        let place = self.find(post).ok()?;
        self.0.remove(place).map(|(_, value)| value)
    }

    fn find(&self, post: u64) -> Result<usize, usize> {
        match self.0.front() {
            Some(&(first, _)) if first == post => Ok(0),
            _ => self.0.binary_search_by_key(&post, |&(post, _)| post),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((0..12_u64, any::<bool>()), 0..60)) {
            let (mut ours, mut map) = (ByPost::new(), BTreeMap::new());
            for (number, (post, is_new)) in steps.into_iter().enumerate() {
                prop_assert_eq!(ours.get(post), map.get(&post));
                if is_new {
                    ours.insert(post, number);
                    map.insert(post, number);
                } else {
                    prop_assert_eq!(ours.remove(post), map.remove(&post));
                }
            }
        }
    }
}
