//! Makes images of processes out of records.

use std::collections::BTreeMap;

use super::identity::Identity;
use super::image::{Image, Whose};
use super::record::{Record, What};
use super::truth::{Truth, correct};

/// What is known of a program and all that it has started.
pub(super) struct Observer {
    /// The program's own process.
    root: u32,
    /// What the program begins with.
    identity: Identity,
    /// Names of the programs that are measured; all if there are none.
    only: Vec<String>,
    /// Time since 1970 at 0 of `CLOCK_MONOTONIC`, ns.
    epoch_ns: u64,
    /// By process id, also those that have ended as long as the id is not used again.
    current: BTreeMap<u32, Image>,
    /// Images that others have replaced, in their order.
    earlier: Vec<Image>,
}

impl Observer {
    /// Of a program that is about to begin as process `root`.
    pub(super) fn new(root: u32, identity: Identity, only: Vec<String>, epoch_ns: u64) -> Observer {
        Observer { root, identity, only, epoch_ns, current: BTreeMap::new(), earlier: Vec::new() }
    }

    /// Takes the next record.
    pub(super) fn apply(&mut self, record: Record) {
        let Record { time_ns, pid, tid, what } = record;
        match what {
            What::Named { name, exec: true } => return self.executed(pid, name, time_ns),
            What::Forked { parent } if parent != pid => return self.forked(parent, pid, time_ns),
            What::Lost(count) => {
                // Of a process that is not known, the first one has to answer.
                let known = if self.current.contains_key(&pid) { (pid, tid) } else { (self.root, self.root) };
                if let Some(image) = self.current.get_mut(&known.0) {
                    image.thread(known.1, time_ns).lost += count;
                }
                return;
            }
            _ => {}
        }
        let Some(image) = self.current.get_mut(&pid) else { return };
        match what {
            What::Mapped(mapped) => image.map(&mapped, self.epoch_ns + time_ns, &self.only),
            What::Sampled(sample) => image.sampled(tid, time_ns, &sample),
            What::Named { name, .. } => image.thread(tid, time_ns).name = name,
            What::Forked { .. } => image.begins(tid, time_ns),
            What::Ended => {
                image.thread(tid, time_ns).ended_ns = time_ns;
                if image.threads.iter().all(|t| t.ended_ns != 0) {
                    image.ended_ns = time_ns;
                }
            }
            What::Used(ns) => {
                let used = &mut image.thread(tid, time_ns).used_ns;
                *used = Some(used.unwrap_or(0) + ns);
            }
            What::Lost(_) => {}
        }
    }

    fn executed(&mut self, pid: u32, name: Vec<u8>, now_ns: u64) {
        let Some(mut old) = self.current.remove(&pid) else {
            let identity = self.identity.renewed(pid);
            let image = Image::executed(pid, std::process::id(), identity, name, now_ns);
            self.current.insert(pid, image);
            return;
        };
        let mut image = Image::executed(pid, old.ppid, old.identity.renewed(pid), name, now_ns);
        // An exec leaves one thread, which goes on with its counts.
        let thread = old.thread(pid, now_ns);
        image.thread(pid, now_ns).used_ns = thread.used_ns.take();
        image.before_ns = old.before_ns + old.thread(pid, now_ns).sampled_ns;
        old.threads.iter_mut().filter(|t| t.ended_ns == 0).for_each(|t| t.ended_ns = now_ns);
        old.replaced = true;
        self.earlier.push(old.ended(now_ns));
        self.current.insert(pid, image);
    }

    fn forked(&mut self, parent: u32, pid: u32, now_ns: u64) {
        let Some(child) = self.current.get(&parent).map(|p| p.forked(pid, now_ns)) else { return };
        // The id of a process that is gone.
        if let Some(gone) = self.current.insert(pid, child) {
            self.earlier.push(gone.ended(now_ns));
        }
    }

    /// Books what no sample covers of the CPU time that all have used, by perf's clock and in truth, and gives the images that
    /// are ours, each with who measures the images that its process has executed later.
    pub(super) fn finish(mut self, used_ns: u64, truth: Truth) -> Vec<(Image, Vec<Whose>)> {
        let mut images = self.earlier;
        images.extend(std::mem::take(&mut self.current).into_values());
        spread(&mut images, used_ns);
        for image in &mut images {
            let (pid, before_ns) = (image.pid, image.before_ns);
            for thread in &mut image.threads {
                thread.settle(if thread.tid == pid { before_ns } else { 0 });
            }
        }
        correct(&mut images, self.root, truth);
        give_to_parents(&mut images);
        let later = |from: usize, pid| {
            images[from + 1..].iter().filter(move |i| i.pid == pid).map(|i| i.whose).collect()
        };
        let kept: Vec<(usize, Vec<Whose>)> = images
            .iter()
            .enumerate()
            .filter(|(_, i)| i.is_kept())
            .map(|(n, i)| (n, later(n, i.pid)))
            .collect();
        let mut later = kept.into_iter().peekable();
        images
            .into_iter()
            .enumerate()
            .filter_map(|(n, image)| later.next_if(|(kept, _)| *kept == n).map(|(_, later)| (image, later)))
            .collect()
    }
}

/// Of each thread that ends, the kernel says what it has used; of the one that ends up with the events that were opened, and of
/// those that run on, it says nothing. What the others leave of the sum is theirs.
fn spread(images: &mut [Image], used_ns: u64) {
    let said: u64 = images.iter().flat_map(|i| &i.threads).filter_map(|t| t.used_ns).sum();
    let mut left_ns = used_ns.saturating_sub(said);
    let mut silent: Vec<_> = images
        .iter_mut()
        .filter(|image| !image.replaced)
        .flat_map(|image| {
            let (pid, before_ns) = (image.pid, image.before_ns);
            image.threads.iter_mut().map(move |t| (if t.tid == pid { before_ns } else { 0 }, t))
        })
        .filter(|(_, thread)| thread.used_ns.is_none())
        .collect();
    for (before_ns, thread) in &mut silent {
        let seen_ns = *before_ns + thread.sampled_ns;
        thread.used_ns = Some(seen_ns);
        left_ns = left_ns.saturating_sub(seen_ns);
    }
    // The one that was seen most has most that was not seen.
    if let Some((_, thread)) = silent.iter_mut().max_by_key(|(_, thread)| thread.sampled_ns) {
        thread.used_ns = thread.used_ns.map(|ns| ns + left_ns);
    }
}

/// Children that ended before any sample get no measurement of their own: their time goes to who started them.
fn give_to_parents(images: &mut [Image]) {
    let mut of_process: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    images.iter().enumerate().for_each(|(place, image)| of_process.entry(image.pid).or_default().push(place));
    for child in 0..images.len() {
        if images[child].whose != Whose::Ours || images[child].is_kept() {
            continue;
        }
        let used_ns: u64 = images[child].threads.iter().map(|t| t.booked_ns).sum();
        let mut known = Some(child);
        while let Some(place) = known.filter(|place| !images[*place].is_kept()) {
            // The image of the parent at that time.
            let (parent, begun_ns) = (images[place].ppid, images[place].started_ns);
            let candidates = of_process.get(&parent).into_iter().flatten().copied();
            known =
                candidates.filter(|p| images[*p].started_ns < begun_ns).max_by_key(|p| images[*p].started_ns);
        }
        if let Some(place) = known {
            images[place].children_ns += used_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Sample;
    use super::*;

    const MS: u64 = 1_000_000;
    /// Not known: nothing is corrected.
    const TRUTH: Truth = Truth { own_ns: 0, waited_ns: 0 };

    fn record(time_ns: u64, pid: u32, tid: u32, what: What) -> Record {
        Record { time_ns, pid, tid, what }
    }

    fn sample() -> What {
        let registers = Some([0x1000; super::super::registers::COUNT]);
        What::Sampled(Sample { period_ns: 5 * MS, registers, stack: vec![] })
    }

    fn exec() -> What {
        What::Named { name: b"prog".to_vec(), exec: true }
    }

    fn observe(records: Vec<Record>, used_ns: u64) -> Vec<Image> {
        let mut observer = Observer::new(10, Identity::default(), Vec::new(), 0);
        for record in records {
            observer.apply(record);
            observer.current.values_mut().for_each(|i| i.whose = Whose::Ours);
        }
        observer.finish(used_ns, TRUTH).into_iter().map(|(image, _)| image).collect()
    }

    fn booked(image: &Image) -> Vec<u64> {
        image.threads.iter().map(|t| t.booked_ns).collect()
    }

    #[test]
    fn what_one_thread_is_silent_about_is_its_own() {
        let images = observe(
            vec![
                record(1, 10, 10, exec()),
                record(2, 10, 11, What::Forked { parent: 10 }),
                record(3, 10, 11, sample()),
                record(4, 10, 10, sample()),
                record(5, 10, 11, What::Ended),
                record(5, 10, 11, What::Used(4 * MS)),
                record(5, 10, 11, What::Used(3 * MS)),
                record(6, 10, 10, What::Ended),
            ],
            20 * MS,
        );
        assert_eq!(images.len(), 1);
        assert_eq!(booked(&images[0]), [13 * MS, 7 * MS]);
        assert_eq!(images[0].ended_ns, 6);
    }

    #[test]
    fn children_that_were_never_seen_are_their_parents() {
        let images = observe(
            vec![
                record(1, 10, 10, exec()),
                record(2, 10, 10, sample()),
                record(3, 12, 12, What::Forked { parent: 10 }),
                record(4, 13, 13, What::Forked { parent: 12 }),
                record(5, 13, 13, What::Used(2 * MS)),
                record(6, 12, 12, What::Used(MS)),
                record(7, 14, 14, What::Forked { parent: 10 }),
                record(8, 14, 14, sample()),
                record(9, 14, 14, What::Used(6 * MS)),
            ],
            20 * MS,
        );
        let found: Vec<_> = images.iter().map(|i| (i.pid, i.children_ns, booked(i))).collect();
        assert_eq!(found, [(10, 3 * MS, vec![11 * MS]), (14, 0, vec![6 * MS])]);
    }

    #[test]
    fn an_exec_begins_another_image_of_the_same_thread() {
        let images = observe(
            vec![
                record(1, 10, 10, exec()),
                record(2, 10, 10, sample()),
                record(3, 10, 10, exec()),
                record(4, 10, 10, sample()),
                record(5, 99, 99, sample()),
                record(6, 99, 99, What::Lost(2)),
            ],
            12 * MS,
        );
        let found: Vec<_> = images.iter().map(|i| (i.started_ns, i.before_ns, booked(i))).collect();
        assert_eq!(found, [(1, 0, vec![5 * MS]), (3, 5 * MS, vec![7 * MS])]);
        assert_eq!(images[1].threads[0].lost, 2);
    }
}
