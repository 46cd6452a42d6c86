//! The kernel's vDSO: the only module without a file. Ours serves if it is the same build.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// Bytes of the vDSO of this process.
pub(super) fn image() -> Option<Vec<u8>> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let range = maps.lines().find(|line| line.ends_with("[vdso]"))?.split(' ').next()?;
    let (start, end) = range.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let mut bytes = vec![0; usize::try_from(end.checked_sub(start)?).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_an_elf_file() {
        match super::image() {
            Some(bytes) => assert!(bytes.starts_with(b"\x7fELF")),
            None => assert!(!std::fs::read_to_string("/proc/self/maps").unwrap().contains("[vdso]")),
        }
    }
}
