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
pub fn take(bytes: &[u8], at: &mut usize) -> Option<u64> {
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
pub fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
