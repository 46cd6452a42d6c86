//! One thread of a process, as its samples show it.

use falloff_format::records::{PARTIAL_REASONS, PartialReason};
use falloff_format::{Frame as FormatFrame, Pseudo};
use unwinder::{End, Frame};

use super::record::Sample;
use super::space::Space;
use super::tree::Tree;

/// Frames of the longest path: as many words as are copied of a stack.
const FRAMES_MAX: usize = 4096;

/// A thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub tid: u32,
    pub name: Vec<u8>,
    pub started_ns: u64,
    /// 0 while it runs.
    pub ended_ns: u64,
    pub tree: Tree,
    pub samples: u64,
    /// CPU time that samples stand for, of those too that have no path.
    pub sampled_ns: u64,
    /// CPU time in the tree.
    pub booked_ns: u64,
    /// CPU time as the kernel has counted it at the thread's end, with that of earlier images.
    pub used_ns: Option<u64>,
    /// Samples that found no room.
    pub lost: u64,
    /// Samples without registers.
    pub unready: u64,
    pub partial: [u64; PARTIAL_REASONS],
    pub truncated: u64,
}

impl Thread {
    /// A thread that begins.
    pub(super) fn new(tid: u32, name: Vec<u8>, started_ns: u64) -> Thread {
        Thread { tid, name, started_ns, ..Thread::default() }
    }

    /// Takes a sample.
    pub(super) fn sampled(&mut self, sample: &Sample, space: &Space) {
        self.sampled_ns += sample.period_ns;
        let mut frames = [Frame::default(); FRAMES_MAX];
        let walked = space.walk(sample, &mut frames).filter(|(path, _)| !path.is_empty());
        let Some((path, end)) = walked else {
            self.unready += 1;
            return;
        };
        let root = match end {
            End::Root => None,
            End::Truncated => Some(Pseudo::Truncated),
            _ => Some(Pseudo::Partial),
        };
        let frames = path.iter().rev().map(|frame| space.frame(frame));
        self.tree.charge(root.map(FormatFrame::pseudo).into_iter().chain(frames), [1, sample.period_ns]);
        self.samples += 1;
        self.booked_ns += sample.period_ns;
        self.count(end);
    }

    fn count(&mut self, end: End) {
        let reason = match end {
            End::Root => return,
            End::Truncated => {
                self.truncated += 1;
                return;
            }
            End::NoModule => PartialReason::NoModule,
            End::NoCfi => PartialReason::NoCfi,
            End::BadRead => PartialReason::BadRead,
            End::NotAdvancing => PartialReason::NotAdvancing,
            End::Unsupported => PartialReason::Unsupported,
        };
        self.partial[reason as usize] += 1;
    }

    /// Books what no sample covers of the CPU time that it has used, of which other images account for `before_ns`.
    pub(super) fn settle(&mut self, before_ns: u64) {
        let own_ns = self.used_ns.unwrap_or(0).saturating_sub(before_ns);
        self.book_unsampled(own_ns.saturating_sub(self.booked_ns));
    }

    /// Books CPU time without a path.
    pub(super) fn book_unsampled(&mut self, ns: u64) {
        if ns > 0 {
            self.tree.charge([FormatFrame::pseudo(Pseudo::Unsampled)], [0, ns]);
            self.booked_ns += ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_time_is_booked() {
        let mut thread = Thread::new(7, b"prog".to_vec(), 1);
        let sample = Sample { period_ns: 100, registers: None, stack: vec![] };
        thread.sampled(&sample, &Space::new());
        let code = Sample { registers: Some([0x1000; super::super::registers::COUNT]), ..sample };
        thread.sampled(&code, &Space::new());
        assert_eq!((thread.samples, thread.unready, thread.sampled_ns, thread.booked_ns), (1, 1, 200, 100));
        assert_eq!(thread.partial[PartialReason::NoModule as usize], 1);
        thread.used_ns = Some(1000);
        thread.settle(300);
        assert_eq!(thread.booked_ns, 700);
        let unsampled =
            thread.tree.nodes().iter().find(|n| n.frame == FormatFrame::pseudo(Pseudo::Unsampled));
        assert_eq!(unsampled.unwrap().values, [0, 600]);
    }
}
