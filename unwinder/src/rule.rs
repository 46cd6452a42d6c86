//! Signal context: yes
//!
//! A compact unwind rule: 31 bits that say exactly how to get from a frame to its caller, or that more work is needed.
//!
//! Layout: kind 3 bits, CFA offset / 8 16 bits, slot / 8 12 bits. Word 0 is no rule.

const CFA_BITS: u32 = 16;
const SLOT_BITS: u32 = 12;
const KIND_SHIFT: u32 = CFA_BITS + SLOT_BITS;
const CFA_MASK: u32 = (1 << CFA_BITS) - 1;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;

const KIND_SPECIAL: u32 = 0;
const KIND_STACK: u32 = 1;
const KIND_FRAME: u32 = 2;
const KIND_REALIGNED: u32 = 3;
const KIND_STUB: u32 = 4;
const KIND_LINK: u32 = 5;
const KIND_LINK_SAVED: u32 = 6;

const SIGNAL: u32 = 1;
const ROOT: u32 = 2;
const NO_CFI: u32 = 3;
const UNSUPPORTED: u32 = 4;
const SLOW: u32 = 5;

/// A packed rule; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule(u32);

/// What a rule says. `sp`, `fp`, `pc` and `link` are the callee's; `sp' = CFA` always.
///
/// With `pair`: `fp' = [CFA + slot]`, and the return address stands where
/// [`Arch::return_slot`](crate::Arch::return_slot) says. A slot of 0 means `fp' = fp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `CFA = sp + cfa`, pair at `slot`
    Stack { cfa: u64, slot: i64 },
    /// `CFA = fp + cfa`, pair at `slot`
    Frame { cfa: u64, slot: i64 },
    /// `CFA = [fp + offset]`, `fp' = [fp]`: a function that has realigned its stack
    Realigned { offset: i64 },
    /// `CFA = sp + 8 + (pc mod 16 >= threshold ? 8 : 0)`, `fp' = fp`: an entry of the procedure linkage table
    Stub { threshold: u64 },
    /// `CFA = sp + cfa`, `fp' = fp`, `pc' = link`
    Link { cfa: u64 },
    /// `CFA = sp + cfa`, `fp' = fp`, `pc' = [CFA + slot]`
    LinkSaved { cfa: u64, slot: i64 },
    /// All registers come from the `ucontext` on the stack.
    Signal,
    /// There is no caller.
    Root,
    /// No frame description, or one that cannot be read.
    NoCfi,
    /// A frame description that is understood but cannot be followed.
    Unsupported,
    /// A rule that does not fit in 31 bits or needs more registers.
    Slow,
}

impl Rule {
    /// [`Shape::NoCfi`]
    pub(crate) const NO_CFI: Self = Self(NO_CFI << SLOT_BITS);
    /// [`Shape::Slow`]
    pub(crate) const SLOW: Self = Self(SLOW << SLOT_BITS);

    /// Packs `shape`; `None` if an offset is not a multiple of eight or too large.
    pub(crate) fn pack(shape: Shape) -> Option<Self> {
        let (kind, cfa, slot) = match shape {
            Shape::Stack { cfa, slot } => (KIND_STACK, unsigned(cfa)?, signed(slot, SLOT_BITS)?),
            Shape::Frame { cfa, slot } => (KIND_FRAME, unsigned(cfa)?, signed(slot, SLOT_BITS)?),
            Shape::Realigned { offset } => (KIND_REALIGNED, signed(offset, CFA_BITS)?, 0),
            Shape::Stub { threshold } => (KIND_STUB, u32::try_from(threshold).ok()? & CFA_MASK, 0),
            Shape::Link { cfa } => (KIND_LINK, unsigned(cfa)?, 0),
            Shape::LinkSaved { cfa, slot } => (KIND_LINK_SAVED, unsigned(cfa)?, signed(slot, SLOT_BITS)?),
            Shape::Signal => (KIND_SPECIAL, SIGNAL, 0),
            Shape::Root => (KIND_SPECIAL, ROOT, 0),
            Shape::NoCfi => (KIND_SPECIAL, NO_CFI, 0),
            Shape::Unsupported => (KIND_SPECIAL, UNSUPPORTED, 0),
            Shape::Slow => (KIND_SPECIAL, SLOW, 0),
        };
        Some(Self(kind << KIND_SHIFT | cfa << SLOT_BITS | slot))
    }

    /// Packs `shape`, or [`Shape::Slow`] if it does not fit.
    pub(crate) fn pack_or_slow(shape: Shape) -> Self {
        Self::pack(shape).unwrap_or(Self::SLOW)
    }

    /// What the rule says.
    #[inline(always)]
    pub(crate) fn shape(self) -> Shape {
        let field = (self.0 >> SLOT_BITS) & CFA_MASK;
        let cfa = u64::from(field) << 3;
        let slot = i64::from((self.0 << (32 - SLOT_BITS)) as i32 >> (32 - SLOT_BITS)) << 3;
        match self.0 >> KIND_SHIFT {
            KIND_STACK => Shape::Stack { cfa, slot },
            KIND_FRAME => Shape::Frame { cfa, slot },
            KIND_REALIGNED => Shape::Realigned { offset: i64::from(field as u16 as i16) << 3 },
            KIND_STUB => Shape::Stub { threshold: u64::from(field) },
            KIND_LINK => Shape::Link { cfa },
            KIND_LINK_SAVED => Shape::LinkSaved { cfa, slot },
            _ => match field {
                SIGNAL => Shape::Signal,
                ROOT => Shape::Root,
                NO_CFI => Shape::NoCfi,
                UNSUPPORTED => Shape::Unsupported,
                _ => Shape::Slow,
            },
        }
    }

    /// The rule as a word of at most 31 bits.
    #[inline]
    pub(crate) fn to_bits(self) -> u32 {
        self.0
    }

    /// The rule in a word that [`to_bits`](Self::to_bits) gave; `None` for 0.
    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }
}

fn unsigned(offset: u64) -> Option<u32> {
    let scaled = offset >> 3;
    if offset & 7 == 0 && scaled <= u64::from(CFA_MASK) { u32::try_from(scaled).ok() } else { None }
}

fn signed(offset: i64, bits: u32) -> Option<u32> {
    let scaled = offset >> 3;
    let limit = 1i64 << (bits - 1);
    if offset & 7 != 0 || scaled < -limit || scaled >= limit {
        return None;
    }
    Some(scaled as u32 & if bits == SLOT_BITS { SLOT_MASK } else { CFA_MASK })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let shapes = [
            Shape::Stack { cfa: 0, slot: 0 },
            Shape::Stack { cfa: 8 * 65535, slot: -16 },
            Shape::Frame { cfa: 16, slot: -16384 },
            Shape::Frame { cfa: 16, slot: 16376 },
            Shape::Realigned { offset: -40 },
            Shape::Realigned { offset: 8 * 32767 },
            Shape::Realigned { offset: -8 * 32768 },
            Shape::Stub { threshold: 11 },
            Shape::Link { cfa: 32 },
            Shape::LinkSaved { cfa: 32, slot: -32 },
            Shape::Signal,
            Shape::Root,
            Shape::NoCfi,
            Shape::Unsupported,
            Shape::Slow,
        ];
        for shape in shapes {
            let rule = Rule::pack(shape).unwrap();
            assert_eq!(rule.shape(), shape);
            assert_eq!(Rule::pack_or_slow(shape), rule);
            assert!(rule.to_bits() != 0 && rule.to_bits() >> 31 == 0);
            assert_eq!(Rule::from_bits(rule.to_bits()), Some(rule));
        }
        assert_eq!(Rule::from_bits(0), None);
    }

    #[test]
    fn what_does_not_fit_is_slow() {
        let shapes = [
            Shape::Stack { cfa: 8 * 65536, slot: 0 },
            Shape::Stack { cfa: 12, slot: 0 },
            Shape::Stack { cfa: 16, slot: -12 },
            Shape::Stack { cfa: 16, slot: 16384 },
            Shape::Frame { cfa: u64::MAX, slot: 0 },
            Shape::Realigned { offset: 8 * 32768 },
        ];
        for shape in shapes {
            assert_eq!(Rule::pack_or_slow(shape).shape(), Shape::Slow);
        }
    }
}
