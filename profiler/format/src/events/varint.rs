//! Numbers in as few bytes as they need: seven bits a byte, the lowest first, the top bit set in all but the last byte.

/// Longest number, bytes.
pub const VARINT_MAX: usize = 10;

/// Writes a number at `*at` and moves on; `None` if there is no room.
///
/// ```
/// let (mut bytes, mut at) = ([0; 4], 0);
/// falloff_format::events::put(&mut bytes, &mut at, 300).unwrap();
/// assert_eq!((&bytes[..at], falloff_format::events::take(&bytes, &mut 0)), (&[0xac, 2][..], Some(300)));
/// ```
pub fn put(out: &mut [u8], at: &mut usize, mut number: u64) -> Option<()> {
    loop {
        let rest = number >> 7;
        let more = if rest == 0 { 0 } else { 0x80 };
        *out.get_mut(*at)? = number as u8 & 0x7f | more;
        *at += 1;
        if rest == 0 {
            return Some(());
        }
        number = rest;
    }
}

/// Reads a number at `*at` and moves on; `None` if it is cut short or too large.
#[inline]
pub fn take(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    if first < 0x80 {
        *at += 1;
        return Some(first.into());
    }
    match bytes.get(*at..).and_then(|rest| rest.first_chunk()) {
        Some(next) => take_of_eight(u64::from_le_bytes(*next), at).or_else(|| take_bytewise(bytes, at)),
        None => take_bytewise(bytes, at),
    }
}

/// A number that ends within eight bytes, which are here as one, the first the lowest.
#[inline]
fn take_of_eight(eight: u64, at: &mut usize) -> Option<u64> {
    let ends = !eight & 0x8080_8080_8080_8080;
    if ends == 0 {
        return None;
    }
    let bits = ends.trailing_zeros();
    *at += bits as usize / 8 + 1;
    // Its bytes without their top bits; then neighbours are joined, each time twice as many bits.
    let sevens = eight & (u64::MAX >> (63 - bits)) & 0x7f7f_7f7f_7f7f_7f7f;
    let pairs = sevens & 0x007f_007f_007f_007f | (sevens & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    Some(fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4)
}

/// A number of any length, or what is left of one.
fn take_bytewise(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..VARINT_MAX as u32).map(|n| 7 * n) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// A difference as a number that is small if the difference is: 0, -1, 1, -2 become 0, 1, 2, 3.
pub fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

/// The other way round.
#[inline]
pub fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_byte_by_byte(
            shift in 0..64_u32, number in any::<u64>(), behind in proptest::collection::vec(any::<u8>(), 0..12)
        ) {
            let (mut bytes, mut length) = ([0; VARINT_MAX], 0);
            put(&mut bytes, &mut length, number >> shift).unwrap();
            let all = [&bytes[..length], &behind].concat();
            let (mut at, mut bytewise) = (0, 0);
            prop_assert_eq!(take(&all, &mut at), Some(number >> shift));
            prop_assert_eq!(take_bytewise(&all, &mut bytewise), Some(number >> shift));
            prop_assert_eq!((at, bytewise), (length, length));
        }

        #[test]
        fn any_bytes_are_read_as_byte_by_byte(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0x80..=0xff_u8], 0..14)) {
            prop_assert_eq!(take(&bytes, &mut 0), take_bytewise(&bytes, &mut 0));
        }
    }
}
