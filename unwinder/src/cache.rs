//! Signal context: yes
//!
//! The rules found so far, by program counter. An entry is one atomic word that holds the whole of its key and its rule,
//! so threads share the cache without locks and an answer is exact or absent, never another address's.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::rule::Rule;

/// Entries of the usual cache: 128 KiB.
pub const CACHE_LENGTH: usize = 1 << INDEX_BITS;

const INDEX_BITS: u32 = 14;
const RULE_BITS: u32 = 31;
/// Bits of a key: a tag of 33 beside the rule, and the index.
const KEY_BITS: u32 = 64 - RULE_BITS + INDEX_BITS;

/// A cache over memory of the caller's, all zero at first.
///
/// It belongs to one list of modules: publish another list with another cache.
#[derive(Clone, Copy, Debug)]
pub struct Cache<'a> {
    entries: &'a [AtomicU64],
}

impl<'a> Cache<'a> {
    /// A cache over `entries`; `None` unless their number is a power of two and at least [`CACHE_LENGTH`] (the tag has no
    /// room for the index bits that a shorter one would leave over).
    pub fn new(entries: &'a [AtomicU64]) -> Option<Self> {
        if entries.len().is_power_of_two() && entries.len() >= CACHE_LENGTH {
            Some(Self { entries })
        } else {
            None
        }
    }

    /// The rule stored for `key`.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<Rule> {
        let word = self.entries.get(self.index(key))?.load(Ordering::Relaxed);
        if word >> RULE_BITS == key >> INDEX_BITS {
            Rule::from_bits(word as u32 & (u32::MAX >> 1))
        } else {
            None
        }
    }

    /// Stores the rule for `key`, in place of whatever shares its entry. Keys of more than 47 bits are not stored.
    #[inline]
    pub(crate) fn put(&self, key: u64, rule: Rule) {
        if key >> KEY_BITS != 0 {
            return;
        }
        if let Some(entry) = self.entries.get(self.index(key)) {
            let word = (key >> INDEX_BITS) << RULE_BITS | u64::from(rule.to_bits());
            // Relaxed: the word is complete in itself and publishes nothing else.
            entry.store(word, Ordering::Relaxed);
        }
    }

    #[inline]
    fn index(&self, key: u64) -> usize {
        key as usize & self.entries.len().wrapping_sub(1)
    }
}

const _: () = assert!(size_of::<[AtomicU64; 2]>() == 16);
const _: () = assert!(KEY_BITS == 47);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Shape;
    use std::vec::Vec;

    fn memory(length: usize) -> Vec<AtomicU64> {
        (0..length).map(|_| AtomicU64::new(0)).collect()
    }

    fn rule(key: u64) -> Rule {
        Rule::pack(Shape::Stack { cfa: (key.wrapping_mul(0x9e37_79b9) >> 7 & 0xffff) << 3, slot: 0 }).unwrap()
    }

    #[test]
    fn lengths() {
        assert!(Cache::new(&memory(CACHE_LENGTH)).is_some());
        assert!(Cache::new(&memory(CACHE_LENGTH * 4)).is_some());
        assert!(Cache::new(&memory(CACHE_LENGTH / 2)).is_none());
        assert!(Cache::new(&memory(CACHE_LENGTH + 1)).is_none());
        assert!(Cache::new(&[]).is_none());
    }

    #[test]
    fn exact_under_collisions() {
        for length in [CACHE_LENGTH, CACHE_LENGTH * 2] {
            let entries = memory(length);
            let cache = Cache::new(&entries).unwrap();
            assert_eq!(cache.get(0), None, "an empty entry is no rule for address 0");
            let keys = (0..47).map(|bit| (1u64 << bit) | 5).chain([5, (1 << 47) - 1]);
            for key in keys.clone() {
                cache.put(key, rule(key));
                assert_eq!(cache.get(key), Some(rule(key)));
                for other in keys.clone().filter(|other| *other != key) {
                    assert!(cache.get(other).is_none_or(|found| found == rule(other)));
                }
            }
        }
    }

    #[test]
    fn long_keys_stay_out() {
        let entries = memory(CACHE_LENGTH);
        let cache = Cache::new(&entries).unwrap();
        for key in [1u64 << 47, u64::MAX, 1 << 63] {
            cache.put(key, rule(1));
            assert_eq!(cache.get(key), None);
        }
        assert!(entries.iter().all(|entry| entry.load(Ordering::Relaxed) == 0));
    }

    #[test]
    fn threads_never_see_a_wrong_rule() {
        let entries = memory(CACHE_LENGTH);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let cache = Cache::new(&entries).unwrap();
                scope.spawn(move || {
                    let mut hits = 0;
                    let mut state = thread + 1;
                    for _ in 0..400_000 {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        // 64 keys on each of 16 entries.
                        let key = (state >> 40 & 63) << 20 | (state >> 50 & 15);
                        match cache.get(key) {
                            Some(found) => {
                                assert_eq!(found, rule(key));
                                hits += 1;
                            }
                            None => cache.put(key, rule(key)),
                        }
                    }
                    assert!(hits > 0);
                });
            }
        });
    }
}
