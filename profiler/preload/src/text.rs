//! Signal context: yes. Text in fixed buffers: file names, numbers, C strings.

use core::ffi::{CStr, c_char};
use core::fmt;

/// A byte string of at most `N` bytes. What does not fit is cut off.
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    /// Nothing.
    pub const fn new() -> Self {
        Text { bytes: [0; N], len: 0 }
    }

    /// What is in it.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    /// Appends as much as fits.
    pub fn push(&mut self, more: &[u8]) {
        for byte in more {
            // The last byte stays zero, so that the text is a C string at any time.
            if self.len + 1 < N {
                self.bytes[self.len] = *byte;
                self.len += 1;
            }
        }
    }

    /// Appends with everything that is awkward in a file name made `_`.
    pub fn push_file_safe(&mut self, more: &[u8]) {
        for byte in more {
            let safe = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-');
            self.push(&[if safe { *byte } else { b'_' }]);
        }
    }

    /// As a C string, up to the first zero byte.
    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.push(s.as_bytes());
        Ok(())
    }
}

/// A C string's bytes; empty for a null pointer.
///
/// # Safety
/// `pointer` is null or a C string that stays as it is while the result lives.
pub unsafe fn c_bytes<'a>(pointer: *const c_char) -> &'a [u8] {
    if pointer.is_null() {
        return &[];
    }
    // SAFETY: not null, and a C string by contract.
    unsafe { CStr::from_ptr(pointer) }.to_bytes()
}

/// Last part of a path.
pub fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// A decimal number, or `None` for anything else.
pub fn decimal(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text).ok()?.parse().ok()
}
