//! Labels as sections have them: cut to what a section keeps, with a hash that stands for them.

use core::ffi::c_char;

use falloff_format::sections::{LABEL_LEN, label_hash};

use crate::raw;
use crate::text::c_bytes;

const PAGE: usize = 4096;

/// A label: no zero byte, less than [`LABEL_LEN`] bytes.
#[derive(Clone, Copy)]
pub struct Label<'a> {
    /// Its text.
    pub bytes: &'a [u8],
    /// Its hash.
    pub hash: u64,
}

impl<'a> Label<'a> {
    /// A text as a label.
    pub fn new(text: &'a [u8]) -> Label<'a> {
        let bytes = text.get(..LABEL_LEN - 1).unwrap_or(text);
        Label { bytes, hash: label_hash(bytes) }
    }

    /// A C string as a label; null is the empty one.
    ///
    /// # Safety
    /// `text` is null or a C string that stays as it is while the result lives.
    pub unsafe fn of_c(text: *const c_char) -> Label<'a> {
        // SAFETY: by contract.
        Label::new(unsafe { c_bytes(text) })
    }
}

/// A text that may not be there: what a pointer leads to that a caller may not have passed at all.
pub struct Doubtful([u8; LABEL_LEN]);

impl Doubtful {
    /// Copies what is at the pointer: where the program's file has constants, as it is; else by a system call that fails
    /// where a touch would fault.
    pub fn read(pointer: *const c_char) -> Doubtful {
        let mut bytes = [0; LABEL_LEN];
        if is_constant(pointer as usize, LABEL_LEN) {
            // SAFETY: mapped and readable as long as the program runs.
            return Doubtful(unsafe { pointer.cast::<[u8; LABEL_LEN]>().read_unaligned() });
        }
        let (start, pid) = (pointer as usize, raw::getpid());
        let here = (PAGE - start % PAGE).min(LABEL_LEN);
        let (first, second) = bytes.split_at_mut(here);
        let is_there = start >= PAGE && raw::read_memory(pid, start, first);
        // Where a text ends before the page does, nothing is read of the next.
        if is_there && !first.contains(&0) && !second.is_empty() {
            raw::read_memory(pid, start + here, second);
        }
        Doubtful(bytes)
    }

    /// The label, if it looks like one: one or more printable bytes, and a zero behind them.
    pub fn label(&self) -> Option<Label<'_>> {
        let text = self.0.get(..self.0.iter().position(|b| *b == 0)?)?;
        let printable = |byte: &u8| *byte >= b' ' && *byte != 0x7f;
        (!text.is_empty() && text.iter().all(printable)).then(|| Label::new(text))
    }
}

/// Whether bytes lie in a segment of the program's file that nobody writes to.
fn is_constant(start: usize, length: usize) -> bool {
    // SAFETY: getauxval only reads what the kernel left.
    let auxiliary = |kind| unsafe { libc::getauxval(kind) } as usize;
    let (table, count) = (auxiliary(libc::AT_PHDR), auxiliary(libc::AT_PHNUM));
    if table == 0 {
        return false;
    }
    // SAFETY: the kernel says that the program headers are mapped there.
    let headers = unsafe { core::slice::from_raw_parts(table as *const libc::Elf64_Phdr, count) };
    let Some(own) = headers.iter().find(|h| h.p_type == libc::PT_PHDR) else { return false };
    let bias = table.wrapping_sub(own.p_vaddr as usize);
    headers.iter().any(|h| {
        let from = bias.wrapping_add(h.p_vaddr as usize);
        let is_read_only = h.p_flags & (libc::PF_R | libc::PF_W) == libc::PF_R;
        h.p_type == libc::PT_LOAD
            && is_read_only
            && from <= start
            && start.saturating_add(length) <= from.saturating_add(h.p_filesz as usize)
    })
}
