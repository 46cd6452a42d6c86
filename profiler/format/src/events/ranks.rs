//! Lists of ranks: most are ranges or have a stride.

use super::varint::{put, take, unzigzag, zigzag};

/// Writes an ordered list of ranks as runs: first rank (as a difference to the end of the run before), stride, length. Gives
/// its length in bytes, `None` if it does not fit. Seven bytes for a range of less than 16,384 ranks.
///
/// ```
/// use falloff_format::events::{Ranks, encode_ranks};
/// let mut bytes = [0; 16];
/// let length = encode_ranks([0, 2, 4, 6, 7].into_iter(), &mut bytes).unwrap();
/// assert_eq!(length, 6);
/// assert!(Ranks::new(&bytes[..length]).eq([0, 2, 4, 6, 7]));
/// ```
pub fn encode_ranks(ranks: impl Iterator<Item = u32>, out: &mut [u8]) -> Option<usize> {
    let (mut at, mut last) = (0, 0i64);
    let mut run: Option<Run> = None;
    for rank in ranks.map(i64::from) {
        run = Some(match run {
            Some(Run { first, length: 1, .. }) => Run { first, stride: rank - first, length: 2 },
            Some(run) if rank == run.last() + run.stride => Run { length: run.length + 1, ..run },
            Some(run) => {
                run.put(&mut last, out, &mut at)?;
                Run { first: rank, stride: 0, length: 1 }
            }
            None => Run { first: rank, stride: 0, length: 1 },
        });
    }
    if let Some(run) = run {
        run.put(&mut last, out, &mut at)?;
    }
    Some(at)
}

/// Ranks at equal distances.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: i64,
    stride: i64,
    length: u64,
}

impl Run {
    fn last(&self) -> i64 {
        self.first + self.stride * (self.length as i64 - 1)
    }

    fn put(&self, last: &mut i64, out: &mut [u8], at: &mut usize) -> Option<()> {
        put(out, at, zigzag(self.first - *last))?;
        put(out, at, zigzag(self.stride))?;
        put(out, at, self.length)?;
        *last = self.last();
        Some(())
    }
}

/// Reads what [`encode_ranks`] wrote; ends where it is damaged.
#[derive(Clone, Copy, Debug)]
pub struct Ranks<'a> {
    bytes: &'a [u8],
    at: usize,
    next: i64,
    stride: i64,
    left: u64,
}

impl<'a> Ranks<'a> {
    /// Over the bytes of a list.
    pub fn new(bytes: &'a [u8]) -> Ranks<'a> {
        Ranks { bytes, at: 0, next: 0, stride: 0, left: 0 }
    }
}

impl Iterator for Ranks<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.left == 0 {
            // Where the run before has ended, one stride back.
            let last = self.next.checked_sub(self.stride)?;
            self.next = last.checked_add(unzigzag(take(self.bytes, &mut self.at)?))?;
            self.stride = unzigzag(take(self.bytes, &mut self.at)?);
            self.left = Some(take(self.bytes, &mut self.at)?).filter(|left| *left > 0)?;
        }
        let rank = u32::try_from(self.next).ok()?;
        (self.next, self.left) = (self.next.checked_add(self.stride)?, self.left - 1);
        Some(rank)
    }
}

/// Reads a row of numbers that were written one by one ([`put`]); ends where it is damaged.
pub fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let mut at = 0;
    core::iter::from_fn(move || take(bytes, &mut at))
}
