//! One executed image of one process.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use super::identity::{Identity, base_name};
use super::object::Object;
use super::record::{Mapped, Sample};
use super::space::{ANONYMOUS, Mapping, Space};
use super::thread::Thread;
use crate::elf::Kind;

/// Who measures it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Nothing of it is mapped yet.
    Unknown,
    /// We.
    Ours,
    /// The preload, or nobody: we do not.
    Others,
}

/// An image.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub pid: u32,
    pub ppid: u32,
    pub identity: Identity,
    /// The executable, once it is mapped.
    pub path: Vec<u8>,
    pub whose: Whose,
    /// Began by a fork.
    pub forked: bool,
    /// Ended by the exec of another.
    pub replaced: bool,
    pub started_ns: u64,
    /// 0 while it runs.
    pub ended_ns: u64,
    /// What has been mapped, each once.
    pub modules: Vec<Rc<Mapping>>,
    pub space: Space,
    pub threads: Vec<Thread>,
    /// CPU time that its first thread has used in earlier images.
    pub before_ns: u64,
    /// CPU time of children where nobody saw them.
    pub children_ns: u64,
    /// CPU time that threads used for their own end.
    pub ends_ns: u64,
}

impl Image {
    /// An image that a process has just executed, by its first thread.
    pub(super) fn executed(pid: u32, ppid: u32, identity: Identity, name: Vec<u8>, started_ns: u64) -> Image {
        Image {
            pid,
            ppid,
            identity,
            path: Vec::new(),
            whose: Whose::Unknown,
            forked: false,
            replaced: false,
            started_ns,
            ended_ns: 0,
            modules: Vec::new(),
            space: Space::new(),
            threads: vec![Thread::new(pid, name, started_ns)],
            before_ns: 0,
            children_ns: 0,
            ends_ns: 0,
        }
    }

    /// The image of a forked child.
    pub(super) fn forked(&self, pid: u32, started_ns: u64) -> Image {
        Image {
            pid,
            ppid: self.pid,
            forked: true,
            started_ns,
            ended_ns: 0,
            threads: vec![Thread::new(pid, self.name(), started_ns)],
            before_ns: 0,
            ..self.clone()
        }
    }

    /// Name of the first thread.
    pub(super) fn name(&self) -> Vec<u8> {
        self.threads.first().map_or_else(Vec::new, |t| t.name.clone())
    }

    /// A thread, which begins if nothing was seen of it before.
    pub(super) fn thread(&mut self, tid: u32, now_ns: u64) -> &mut Thread {
        let place = self.place(tid, now_ns);
        &mut self.threads[place]
    }

    /// Takes a sample of a thread.
    pub(super) fn sampled(&mut self, tid: u32, now_ns: u64, sample: &Sample) {
        let place = self.place(tid, now_ns);
        self.threads[place].sampled(sample, &self.space);
    }

    /// Where a thread is in the list. Ids are used again: the last one is meant.
    fn place(&mut self, tid: u32, now_ns: u64) -> usize {
        self.threads.iter().rposition(|t| t.tid == tid).unwrap_or_else(|| {
            self.threads.push(Thread::new(tid, self.name(), now_ns));
            self.threads.len() - 1
        })
    }

    /// A thread begins, whose id may be that of one that has ended.
    pub(super) fn begins(&mut self, tid: u32, now_ns: u64) {
        self.threads.push(Thread::new(tid, self.name(), now_ns));
    }

    /// Takes notice of a mapping made at `mapped_ns` since 1970. The first one is of the executable: only programs of the names
    /// in `only` are measured, or all.
    pub(super) fn map(&mut self, mapped: &Mapped, mapped_ns: u64, only: &[String]) {
        let is_file = mapped.path.starts_with(b"/") && !mapped.path.starts_with(b"//");
        if !is_file && !mapped.path.starts_with(b"[vdso]") {
            self.space.clear(mapped.start, mapped.end);
            return;
        }
        if is_file && self.whose == Whose::Unknown {
            self.path = mapped.path.clone();
            self.whose = judge(&self.path, only);
        }
        // What others measure is not walked.
        if self.whose != Whose::Others {
            let object = Object::read(&mapped.path, mapped_ns);
            let known = self
                .modules
                .iter()
                .find(|m| m.object.path == object.path && m.object.build_id == object.build_id);
            let next = usize::from(ANONYMOUS) + 1 + self.modules.len();
            let index = known.map(|m| m.index).or_else(|| u16::try_from(next).ok());
            let mapping =
                Rc::new(Mapping::new(object, mapped, index.unwrap_or(falloff_format::node::UNLISTED_MODULE)));
            self.modules.push(Rc::clone(&mapping));
            self.space.map(mapping);
        }
    }

    /// Multiplies all CPU time.
    pub(super) fn scale(&mut self, by: u64, of: u64) {
        for thread in &mut self.threads {
            thread.booked_ns = thread.tree.scale(by, of);
        }
        self.before_ns = (u128::from(self.before_ns) * u128::from(by) / u128::from(of.max(1))) as u64;
    }

    /// Books CPU time that no thread has seen: a single one has used it itself.
    pub(super) fn book_ends(&mut self, ns: u64) {
        match self.threads.as_mut_slice() {
            [thread] => thread.book_unsampled(ns),
            _ => self.ends_ns = ns,
        }
    }

    /// Samples of all threads.
    pub(super) fn samples(&self) -> u64 {
        self.threads.iter().map(|t| t.samples).sum()
    }

    /// Whether it gets a measurement: a forked child only if it was seen at work.
    pub(super) fn is_kept(&self) -> bool {
        self.whose == Whose::Ours && (!self.forked || self.samples() > 0)
    }

    /// It has ended or is another now; what is mapped is of no use any more.
    pub(super) fn ended(mut self, now_ns: u64) -> Image {
        self.space = Space::new();
        if self.ended_ns == 0 {
            self.ended_ns = now_ns;
        }
        self
    }
}

/// Whether a program is ours: one without a loader, which no preload reaches.
fn judge(path: &[u8], only: &[String]) -> Whose {
    let named = only.is_empty() || only.iter().any(|name| base_name(path) == name.as_str());
    match Kind::of(Path::new(std::ffi::OsStr::from_bytes(path))) {
        Ok(Kind::Static) if named => Whose::Ours,
        _ => Whose::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_preload_reaches_is_not_ours() {
        assert_eq!(judge(b"/proc/self/exe", &[]), Whose::Others);
        assert_eq!(judge(b"/nowhere", &[]), Whose::Others);
    }

    #[test]
    fn threads_begin_when_they_are_seen() {
        let mut image = Image::executed(10, 1, Identity::default(), b"prog".to_vec(), 5);
        image.thread(11, 7).samples += 1;
        image.thread(11, 8).samples += 1;
        let threads: Vec<_> = image.threads.iter().map(|t| (t.tid, t.started_ns, t.samples)).collect();
        assert_eq!(threads, [(10, 5, 0), (11, 7, 2)]);
        let child = image.forked(12, 9);
        assert_eq!((child.pid, child.ppid, child.threads.len(), child.samples()), (12, 10, 1, 0));
        assert!(!child.is_kept());
    }
}
