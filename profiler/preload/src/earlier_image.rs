//! An image that this process executed before: its CPU time is in its own measurement file and must not be booked
//! a second time, though the thread's clock goes on through an exec.

use core::fmt::Write;

use falloff_format::Measurement;
use falloff_format::header::STATE_RUNNING;
use falloff_format::read::Record;
use falloff_format::records::THREAD_MAIN;

use crate::identity::Identity;
use crate::raw;
use crate::text::Text;

/// Loading takes less than this, so nothing needs to be looked for.
const LOADING_NS: u64 = 20_000_000;
const LISTING: usize = 64 << 10;

/// CPU time of the calling thread that an earlier image's file accounts for, of the `now_ns` it has used.
pub fn booked_ns(who: &Identity, now_ns: u64) -> u64 {
    if now_ns < LOADING_NS {
        return 0;
    }
    let mut mine = Text::<160>::new();
    mine.push(b"-");
    mine.push_file_safe(who.host.as_bytes());
    let _ = write!(mine, "-{}-", raw::getpid());
    // The rest of a name begins with the time, in hexadecimal of one length: the latest is the greatest.
    let mut latest = Text::<256>::new();
    let mut latest_time = 0;
    for_each_name(who, |name| {
        let length = mine.as_bytes().len();
        let at = name.windows(length).position(|w| w == mine.as_bytes()).map(|at| at + length);
        let time =
            at.and_then(|at| name.get(at..)?.split(|b| *b == b'-').next()).and_then(hexadecimal).unwrap_or(0);
        if time > latest_time {
            latest_time = time;
            latest = Text::new();
            latest.push(name);
        }
    });
    main_thread_ns(who, latest.as_bytes()).filter(|ns| *ns <= now_ns).unwrap_or(0)
}

fn hexadecimal(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(core::str::from_utf8(text).ok()?, 16).ok()
}

fn for_each_name(who: &Identity, mut see: impl FnMut(&[u8])) {
    let directory = who.options.directory;
    let Ok(fd) = raw::open(directory.as_c_str(), libc::O_RDONLY | libc::O_DIRECTORY, 0) else { return };
    if let Some(memory) = raw::map_private(LISTING) {
        // SAFETY: mapped just now with this length, used here only.
        let buffer = unsafe { core::slice::from_raw_parts_mut(memory, LISTING) };
        while let Ok(filled) = raw::list_directory(fd, buffer)
            && filled > 0
        {
            names(buffer.get(..filled).unwrap_or(&[]), &mut see);
        }
        // SAFETY: not used any more.
        unsafe { raw::unmap(memory, LISTING) };
    }
    raw::close(fd);
}

/// Walks the kernel's directory entries: inode 8, offset 8, length 2, type 1, name.
fn names(mut entries: &[u8], see: &mut impl FnMut(&[u8])) {
    while let Some(length) = entries.get(16..18).and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes) {
        let Some((entry, rest)) = entries.split_at_checked(usize::from(length).max(1)) else { return };
        see(entry.get(19..).and_then(|n| n.split(|b| *b == 0).next()).unwrap_or(&[]));
        entries = rest;
    }
}

/// CPU time that the main thread in a file has booked, if the process did not end in that image.
fn main_thread_ns(who: &Identity, name: &[u8]) -> Option<u64> {
    let mut path = Text::<1400>::new();
    path.push(who.options.directory.as_bytes());
    path.push(b"/");
    path.push(name);
    let fd = raw::open(path.as_c_str(), libc::O_RDONLY | libc::O_NOFOLLOW, 0).ok()?;
    let length = raw::file_length(fd).unwrap_or(0);
    let mapped = if length > 0 { raw::map_file(fd, 0, length) } else { None };
    raw::close(fd);
    // SAFETY: mapped for this length; the file's writer was this very process and is gone.
    let bytes = unsafe { core::slice::from_raw_parts(mapped?, length) };
    let booked = Measurement::parse(bytes).ok().filter(|m| m.header().state == STATE_RUNNING).and_then(|m| {
        let threads = m.records().filter_map(|r| if let Ok(Record::Thread(t)) = r { Some(t) } else { None });
        threads.filter(|t| t.flags & THREAD_MAIN != 0).map(|t| t.cpu_ns).max()
    });
    // SAFETY: mapped above, not used any more.
    unsafe { raw::unmap(bytes.as_ptr().cast_mut(), length) };
    booked
}
