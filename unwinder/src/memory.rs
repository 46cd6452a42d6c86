//! Signal context: yes
//!
//! How the walker reads the application's stack: through a trait, so that the one place that decides which addresses
//! are safe is the caller's.

/// Reads 64-bit words of the application's stacks.
///
/// The walker asks for any address that a frame's rules lead to, aligned or not; an implementation answers `None`
/// unless all eight bytes are safe to read. Rules may look below the stack pointer, into the red zone
/// ([`Arch::RED_ZONE`](crate::Arch::RED_ZONE)).
pub trait Memory {
    /// The word at `address`, or `None` if it must not be read.
    fn read(&mut self, address: u64) -> Option<u64>;

    /// The word at `address` if that takes but a few instructions; for any other [`read`](Self::read) is asked.
    #[inline(always)]
    fn read_near(&mut self, address: u64) -> Option<u64> {
        self.read(address)
    }

    /// Whether a frame with this stack pointer lies where only the code that starts the program or the thread can: a
    /// walk that cannot go on there, for want of a description, has reached its root.
    fn is_start(&self, _sp: u64) -> bool {
        false
    }
}

/// A copy of a stretch of stack, lowest address first.
#[derive(Clone, Copy, Debug)]
pub struct StackCopy<'a> {
    address: u64,
    words: &'a [u64],
}

impl<'a> StackCopy<'a> {
    /// `words` as they stood at `address`, which is a multiple of eight.
    pub const fn new(address: u64, words: &'a [u64]) -> Self {
        Self { address, words }
    }
}

impl Memory for StackCopy<'_> {
    #[inline]
    fn read(&mut self, address: u64) -> Option<u64> {
        // Rotated, an odd address or one below the first becomes an index beyond the end.
        let index = address.wrapping_sub(self.address).rotate_right(3);
        self.words.get(usize::try_from(index).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stay_inside() {
        let mut stack = StackCopy::new(0x1000, &[1, 2]);
        assert_eq!(stack.read(0x1000), Some(1));
        assert_eq!(stack.read(0x1008), Some(2));
        assert_eq!(stack.read(0x1010), None);
        assert_eq!(stack.read(0x1004), None);
        assert_eq!(stack.read(0xff8), None);
        assert_eq!(stack.read(u64::MAX), None);
    }
}
