//! When the members of a collective operation are through, by the trees of messages that make it up.
//!
//! Every function takes the times at which members enter, by place, and gives those at which they leave. All of it is sums and
//! maxima, so that a delay of a member delays nobody by more than itself.

/// What a message of a round costs: the overhead of each side, and when it arrives after it was sent.
pub(super) struct Hop<F: Fn(usize, u32, u64) -> i64> {
    pub overhead: i64,
    /// By the place of the receiver, the round, and how many times the bytes of one member it carries.
    pub flight: F,
}

/// How many rounds it takes to reach all.
pub(super) fn rounds(members: usize) -> u32 {
    members.next_power_of_two().trailing_zeros()
}

/// The dissemination barrier (Hensgen, Finkel and Manber 1988): in round r, each tells the one 2^r places on.
pub(super) fn dissemination<F: Fn(usize, u32, u64) -> i64>(
    times: &mut [i64],
    scratch: &mut Vec<i64>,
    hop: &Hop<F>,
) {
    let count = times.len();
    for round in 0..rounds(count) {
        let far = 1 << round;
        scratch.clear();
        scratch.extend_from_slice(times);
        for (place, time) in times.iter_mut().enumerate() {
            let from = if place >= far { place - far } else { place + count - far };
            *time = scratch[place].max(scratch[from] + (hop.flight)(place, round, 1)) + 2 * hop.overhead;
        }
    }
}

/// Recursive doubling: in round r, those whose places differ by 2^r exchange. Where the number is no power of two, the places
/// beyond give to others before, and get from them after (Thakur, Rabenseifner and Gropp 2005).
pub(super) fn doubling<F: Fn(usize, u32, u64) -> i64>(
    times: &mut [i64],
    scratch: &mut Vec<i64>,
    hop: &Hop<F>,
) {
    let even = if times.len().is_power_of_two() { times.len() } else { times.len().next_power_of_two() / 2 };
    let rest = times.len() - even;
    for place in 0..rest {
        let given = times[even + place] + hop.overhead + (hop.flight)(place, 0, 1);
        times[place] = times[place].max(given) + hop.overhead;
    }
    let all = rounds(even);
    for round in 0..all {
        let far = 1 << round;
        scratch.clear();
        scratch.extend_from_slice(&times[..even]);
        for (place, time) in times[..even].iter_mut().enumerate() {
            let arrival = scratch[place ^ far] + (hop.flight)(place, round + 1, 1);
            *time = scratch[place].max(arrival) + 2 * hop.overhead;
        }
    }
    for place in 0..rest {
        times[place] += hop.overhead;
        let got = times[place] + (hop.flight)(even + place, all + 1, 1);
        times[even + place] = (times[even + place] + hop.overhead).max(got) + hop.overhead;
    }
}

/// The binomial tree towards a root: when the root has all. With `gathers`, what is sent grows by what was received.
pub(super) fn binomial<F: Fn(usize, u32, u64) -> i64>(
    times: &mut [i64],
    root: usize,
    gathers: bool,
    hop: &Hop<F>,
) -> i64 {
    let count = times.len();
    let place = |relative: usize| (relative + root) % count;
    for round in 0..rounds(count) {
        let far = 1 << round;
        for relative in (0..count - far).step_by(2 * far) {
            let (child, parent) = (place(relative + far), place(relative));
            let parts = if gathers { far.min(count - relative - far) as u64 } else { 1 };
            let arrival = times[child] + hop.overhead + (hop.flight)(parent, round, parts);
            times[parent] = times[parent].max(arrival) + hop.overhead;
        }
    }
    times[root]
}

/// How long it takes in a binomial tree from a root, largest subtrees first, until a member has what the root sent: each member that
/// passes it on sends it once every `spacing`, after its overhead. The root itself has sent the last.
pub(super) fn from_root(
    members: usize,
    relative: usize,
    overhead: i64,
    spacing: i64,
    flight: impl Fn(u32) -> i64,
) -> i64 {
    let all = rounds(members);
    if relative == 0 {
        return i64::from(all) * spacing.max(overhead);
    }
    // The member that holds the lowest `above` places received from one that holds more; it has sent to larger subtrees before.
    let (mut above, mut time) = (all, 0);
    for round in (0..all).rev() {
        if relative >> round & 1 == 1 {
            let before = i64::from(above - 1 - round);
            time += before * spacing.max(overhead) + overhead + flight(round) + overhead;
            above = round;
        }
    }
    time
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Messages that take 10, with 1 at each side.
    fn hop() -> Hop<impl Fn(usize, u32, u64) -> i64> {
        Hop { overhead: 1, flight: |_, _, parts| 10 * parts as i64 }
    }

    #[test]
    fn eight_need_three_rounds_and_five_two_beyond_four() {
        for count in [8, 7, 5] {
            let mut times = vec![0; count];
            dissemination(&mut times, &mut Vec::new(), &hop());
            assert_eq!(times, vec![36; count]);
        }
        let mut times = vec![0; 8];
        doubling(&mut times, &mut Vec::new(), &hop());
        assert_eq!(times, [36; 8]);
        let mut times = vec![0; 5];
        doubling(&mut times, &mut Vec::new(), &hop());
        // Place 0 has what place 4 gave at 12; what place 3 gave to 2 reaches it at 24, and it passes that on.
        assert_eq!((times[0], times[4]), (25, 36));
    }

    #[test]
    fn a_reduction_of_eight_is_three_deep_and_a_gathering_carries_more_each_round() {
        assert_eq!(binomial(&mut [0; 8], 5, false, &hop()), 36);
        assert_eq!(binomial(&mut [0; 8], 0, true, &hop()), 3 * 2 + 10 + 20 + 40);
        assert_eq!(binomial(&mut [0, 0, 0, 500], 0, false, &hop()), 524);
    }

    #[test]
    fn a_broadcast_reaches_the_largest_subtree_first() {
        let at = |relative| from_root(8, relative, 1, 3, |_| 10);
        // The root sends to 4, 2 and 1 three apart; 4 sends on to 6 and 5, and 6 to 7.
        assert_eq!([4, 2, 1, 6, 5, 7, 3, 0].map(at), [12, 15, 18, 24, 27, 36, 27, 9]);
    }

    proptest! {
        #[test]
        fn nobody_leaves_before_all_have_come_and_delays_do_not_grow(
            times in proptest::collection::vec(0..1000_i64, 1..20), who in any::<prop::sample::Index>(), delay in 0..500_i64
        ) {
            let mut delayed = times.clone();
            delayed[who.index(times.len())] += delay;
            let last = times.iter().copied().max().unwrap_or(0);
            type Tree = fn(&mut [i64], &mut Vec<i64>);
            let trees: [Tree; 2] = [|t, s| dissemination(t, s, &hop()), |t, s| doubling(t, s, &hop())];
            for tree in trees {
                let (mut a, mut b) = (times.clone(), delayed.clone());
                tree(&mut a, &mut Vec::new());
                tree(&mut b, &mut Vec::new());
                for (a, b) in a.iter().zip(&b) {
                    prop_assert!(*a >= last && a <= b && *b <= a + delay);
                }
            }
            let root = who.index(times.len());
            prop_assert!(binomial(&mut times.clone(), root, false, &hop()) >= last);
        }
    }
}
