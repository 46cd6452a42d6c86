//! What the processes' own clocks say of the CPU time that was sampled.
//!
//! perf's clock also runs while a hypervisor has taken the processor away, which a process's own does not; and it sees nothing of
//! what the kernel does before a thread's first look, after its last, and before a program's exec.

use super::image::{Image, Whose};

/// CPU time, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// Of the program's own process; 0 if not known.
    pub own_ns: u64,
    /// Of the processes that it, or one of them, has waited for.
    pub waited_ns: u64,
}

/// Less than this of the others' time is not all of it: somebody did not wait for them.
const SURE_PERCENT: u64 = 80;

/// Makes the booked time true: of the program's process `root`, and of the others as far as they are known.
pub(super) fn correct(images: &mut [Image], root: u32, truth: Truth) {
    if truth.own_ns == 0 {
        return;
    }
    let booked = |images: &[Image], own: bool| -> u64 {
        images.iter().filter(|i| (i.pid == root) == own).flat_map(|i| &i.threads).map(|t| t.booked_ns).sum()
    };
    let (own_ns, others_ns) = (booked(images, true), booked(images, false));
    if truth.waited_ns < others_ns && truth.waited_ns * 100 >= others_ns * SURE_PERCENT {
        images.iter_mut().filter(|i| i.pid != root).for_each(|i| i.scale(truth.waited_ns, others_ns));
    }
    if truth.own_ns < own_ns {
        images.iter_mut().filter(|i| i.pid == root).for_each(|i| i.scale(truth.own_ns, own_ns));
    } else if let Some(last) =
        images.iter_mut().rfind(|i| i.pid == root && i.whose == Whose::Ours && !i.replaced)
    {
        last.book_ends(truth.own_ns - own_ns);
    }
    // What the children have used unseen cannot be told from what others measure, if there are such.
    let all_ours = images.iter().all(|i| i.whose == Whose::Ours);
    if let Some(first) = images.iter_mut().find(|i| i.pid == root).filter(|_| all_ours) {
        first.children_ns += truth.waited_ns.saturating_sub(others_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::super::identity::Identity;
    use super::*;

    fn images() -> Vec<Image> {
        let mut images: Vec<Image> =
            [10, 11].map(|pid| Image::executed(pid, 1, Identity::default(), Vec::new(), 1)).into();
        for (image, used_ns) in images.iter_mut().zip([1_000_000, 2_000_000]) {
            image.whose = Whose::Ours;
            image.threads[0].used_ns = Some(used_ns);
            image.threads[0].settle(0);
        }
        images
    }

    fn corrected(own_ns: u64, waited_ns: u64) -> Vec<u64> {
        let mut images = images();
        correct(&mut images, 10, Truth { own_ns, waited_ns });
        images.iter().map(|i| i.threads[0].booked_ns).collect()
    }

    #[test]
    fn time_that_was_stolen_is_taken_away() {
        assert_eq!(corrected(900_000, 1_900_000), [900_000, 1_900_000]);
        // Children that nobody has waited for.
        assert_eq!(corrected(1_000_000, 0), [1_000_000, 2_000_000]);
    }

    #[test]
    fn time_that_nobody_saw_is_added() {
        assert_eq!(corrected(5_000_000, 3_000_000), [5_000_000, 2_000_000]);
        let mut images = images();
        images[0].thread(12, 1);
        correct(&mut images, 10, Truth { own_ns: 5_000_000, waited_ns: 0 });
        assert_eq!((images[0].threads[0].booked_ns, images[0].ends_ns), (1_000_000, 4_000_000));
        assert_eq!(images[0].children_ns, 0);
        correct(&mut images, 10, Truth { own_ns: 1, waited_ns: 2_500_000 });
        assert_eq!(images[0].children_ns, 500_000);
        images[1].whose = Whose::Others;
        correct(&mut images, 10, Truth { own_ns: 1, waited_ns: 2_500_000 });
        assert_eq!(images[0].children_ns, 500_000);
    }
}
