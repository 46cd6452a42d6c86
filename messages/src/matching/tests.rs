//! What is matched with what, told as a list of words.

use super::*;
use crate::{
    Call, Collective, CommId, Completion, Matched, Mode, Op, Operation, Receive, Send, Visitor,
    script::{Script, came, cancelled, done},
};
use proptest::prelude::*;

/// Writes down what it is told, by location.
struct Witness {
    told: Vec<Vec<String>>,
    eager: u64,
}

impl Visitor for Witness {
    type Sent = (usize, u64);
    type Posted = (usize, u64);
    type Joined = u64;

    fn enter(&mut self, _: usize, _: &Call) {}
    fn sent(&mut self, location: usize, _: &Call, send: &Send) -> (usize, u64) {
        (location, send.post)
    }
    fn posted(&mut self, location: usize, _: &Call, receive: &Receive) -> (usize, u64) {
        (location, receive.post)
    }
    fn joined(&mut self, _: usize, _: &Call, collective: &Collective) -> u64 {
        collective.post
    }
    fn received(&mut self, location: usize, _: &Call, m: &Matched<(usize, u64), (usize, u64)>) {
        assert_eq!(m.posted, (location, m.receive.post));
        self.told[location].push(format!("{} gets {}.{}", m.receive.post, m.sender, m.sent.1));
    }
    fn send_completed(
        &mut self,
        location: usize,
        _: &Call,
        send: &Send,
        sent: (usize, u64),
        posted: Option<(usize, u64)>,
    ) {
        assert_eq!(sent.1, send.post);
        let posted = posted.map_or(String::new(), |(at, post)| format!(" into {at}.{post}"));
        self.told[location].push(format!("{} sent{posted}", send.post));
    }
    fn collective_completed(
        &mut self,
        location: usize,
        _: &Call,
        collective: &Collective,
        all: &[(u32, u64)],
    ) {
        let ranks: Vec<u32> = all.iter().map(|&(rank, _)| rank).collect();
        self.told[location].push(format!("{} with {ranks:?}", collective.post));
    }
    fn other(&mut self, location: usize, _: &Call, op: &Op, completion: Option<&Completion>) {
        let what = match op {
            Op::Send(send) => format!("send {}", send.post),
            Op::Receive(receive) => format!("receive {}", receive.post),
            Op::Collective(collective) => format!("collective {}", collective.post),
            _ => "else".to_string(),
        };
        let void = completion.is_some_and(|c| c.void);
        self.told[location].push(format!("{what} {}", if void { "void" } else { "lost" }));
    }
    fn leave(&mut self, _: usize, _: &Call) {}
    fn is_synchronous(&self, send: &Send) -> bool {
        send.mode == Mode::Synchronous || send.bytes > self.eager
    }
}

fn witness(script: &Script, options: &Options) -> (Vec<Vec<String>>, Outcome) {
    let mut log = script.log.clone();
    let mut witness = Witness { told: vec![Vec::new(); crate::Log::locations(&log).len()], eager: 100 };
    let outcome = lead(&mut log, &mut witness, options).unwrap();
    (witness.told, outcome)
}

/// What is told, which must not depend on the order in which locations are advanced.
fn told(script: &Script) -> (Vec<Vec<String>>, Outcome) {
    let (told, outcome) = witness(script, &Options::default());
    for seed in 0..20 {
        let (other, mut others) = witness(script, &Options { shuffled: Some(seed), ..Options::default() });
        assert_eq!(told, other);
        others.live_peak = outcome.live_peak;
        assert_eq!(outcome, others);
    }
    (told, outcome)
}

#[test]
fn messages_do_not_overtake() {
    let mut s = Script::new(2);
    for tag in [1, 2, 1] {
        s.send(0, 1, tag, 8);
    }
    s.recv(1, 0, 2);
    s.recv(1, 0, 1);
    s.recv(1, 0, 1);
    let (told, outcome) = told(&s);
    assert_eq!(told[1], ["0 gets 0.1", "1 gets 0.0", "2 gets 0.2"]);
    assert!(outcome.is_whole());
    assert_eq!((outcome.calls, outcome.messages, outcome.bytes), (6, 3, 24));
}

#[test]
fn a_receive_from_any_source_takes_its_place_in_the_queue_by_its_post() {
    let mut s = Script::new(3);
    s.send(0, 2, 1, 8);
    s.send(0, 2, 1, 8);
    s.send(1, 2, 1, 8);
    let any = s.irecv(2, None, 1);
    let given = s.irecv(2, 0, 1);
    let other = s.irecv(2, None, None);
    s.wait(2, &[came(given, 0, 1), came(other, 1, 1), came(any, 0, 1)]);
    let (told, outcome) = told(&s);
    assert_eq!(told[2], ["1 gets 0.1", "2 gets 1.0", "0 gets 0.0"]);
    assert!(outcome.is_whole());
}

#[test]
fn a_synchronous_sender_needs_a_receive_from_any_source_that_completes_after_its_next_message() {
    let mut s = Script::new(2);
    s.ssend(0, 1, 1, 8);
    s.send(0, 1, 2, 8);
    let any = s.irecv(1, None, None);
    s.recv(1, 0, 2);
    s.wait(1, &[came(any, 0, 1)]);
    s.ssend(0, 1, 3, 8);
    s.recv_any(1, 0, 3);
    let (told, outcome) = told(&s);
    assert_eq!(
        told,
        [
            vec!["0 sent into 1.0", "1 sent", "2 sent into 1.2"],
            vec!["1 gets 0.1", "0 gets 0.0", "2 gets 0.2"]
        ]
    );
    assert!(outcome.is_whole());
}

#[test]
fn a_cancelled_receive_takes_no_message() {
    let mut s = Script::new(2);
    s.send(0, 1, 1, 8);
    let given_up = s.irecv(1, 0, 1);
    let listener = s.irecv(1, None, None);
    s.recv(1, 0, 1);
    s.wait(1, &[cancelled(given_up), cancelled(listener)]);
    let (told, outcome) = told(&s);
    assert_eq!(told[1], ["2 gets 0.0", "receive 0 void", "receive 1 void"]);
    assert_eq!((outcome.void, outcome.is_whole()), (2, true));
}

#[test]
fn a_listener_that_gets_nothing_is_not_read_ahead_for() {
    let mut s = Script::new(2);
    let listener = s.a_receive(1, None, 99);
    s.call(1, "MPI_Irecv", vec![Op::Receive(listener)]);
    for _ in 0..5000 {
        s.sendrecv(0, 1, 1, 7, 8);
        s.sendrecv(1, 0, 0, 7, 8);
    }
    s.wait(1, &[cancelled(listener.post)]);
    let (_, outcome) = witness(&s, &Options::default());
    assert!(outcome.is_whole());
    assert!(outcome.live_peak < 500, "{}", outcome.live_peak);
}

#[test]
fn one_sends_to_oneself_and_exchanges_at_once() {
    let mut s = Script::new(2);
    s.sendrecv(0, 0, 0, 3, 1000);
    s.sendrecv(0, 1, 1, 4, 1000);
    s.sendrecv(1, 0, 0, 4, 1000);
    let (told, outcome) = told(&s);
    assert_eq!(told[0], ["0 sent into 0.1", "1 gets 0.0", "2 sent into 1.1", "3 gets 1.0"]);
    assert_eq!((outcome.released, outcome.is_whole()), (0, true));
}

#[test]
fn each_collective_operation_needs_whom_it_needs() {
    let mut s = Script::new(3);
    let pair = s.comm(&[2, 0]);
    for rank in 0..3 {
        s.collective(rank, Operation::Broadcast, CommId(0), 1, 8);
        s.collective(rank, Operation::Reduce, CommId(0), 1, 8);
        s.collective(rank, Operation::Scan, CommId(0), None, 8);
        s.barrier(rank);
    }
    s.collective(0, Operation::AllReduce, pair, None, 8);
    s.collective(2, Operation::AllReduce, pair, None, 8);
    let (told, outcome) = told(&s);
    assert_eq!(told[0], ["0 with [0, 1]", "1 with [0]", "2 with [0]", "3 with [0, 1, 2]", "4 with [2, 0]"]);
    assert_eq!(told[1], ["0 with [1]", "1 with [0, 1, 2]", "2 with [0, 1]", "3 with [0, 1, 2]"]);
    assert_eq!(told[2][2], "2 with [0, 1, 2]");
    assert_eq!((outcome.collectives, outcome.is_whole()), (5, true));
}

#[test]
fn between_two_groups_who_stands_beside_the_root_takes_no_part() {
    let mut s = Script::new(5);
    let between = s.between(&[0, 1], &[2, 3, 4]);
    for rank in 0..5 {
        // Of the first group 1 is the root, and rank 0 stands beside it.
        let root = (rank > 0).then_some(1);
        s.collective(rank, Operation::Broadcast, between, root, 8);
        s.collective(rank, Operation::Gather, between, root, 8);
        if rank > 0 {
            s.barrier(rank);
        }
    }
    s.barrier(0);
    let (told, outcome) = told(&s);
    assert_eq!(told[0][..2], ["0 with [0]", "1 with [0]"]);
    assert_eq!(told[1][..2], ["0 with [1]", "1 with [1, 2, 3, 4]"]);
    assert_eq!(told[3][..2], ["0 with [1, 3]", "1 with [3]"]);
    assert_eq!((outcome.collectives, outcome.is_whole()), (3, true), "{outcome}");
    // The root gets from the other group without waiting for its own.
    let mut s = Script::new(3);
    let between = s.between(&[0, 1], &[2]);
    s.collective(1, Operation::Reduce, between, 1, 8);
    s.send(1, 0, 0, 8);
    s.collective(2, Operation::Reduce, between, 1, 8);
    s.recv(0, 1, 0);
    s.collective(0, Operation::Reduce, between, None, 8);
    assert!(self::told(&s).1.is_whole());
}

#[test]
fn a_thread_completes_what_another_begins() {
    let mut s = Script::new(2);
    let second = s.thread();
    // Thread 0 of rank 1 waits for a send that thread 1 begins, after something that takes it longer.
    s.compute(1, 10);
    let sent = s.isend(second, 0, 0, 8);
    s.wait(1, &[done(sent)]);
    s.recv(0, 1, 0);
    let (told, outcome) = told(&s);
    assert_eq!(told[1], ["0 sent"]);
    assert!(outcome.is_whole(), "{outcome}");
}

#[test]
fn collective_operations_of_a_thread_do_not_hold_another_ones_messages() {
    let mut s = Script::new(2);
    let (first, second) = (s.comm(&[0, 1]), s.comm(&[0, 1]));
    let thread = s.thread();
    // Rank 1 gives up both communicators before its thread sends; rank 0 only when it has got that.
    s.length = 1;
    s.collective(1, Operation::Make, first, None, 0);
    s.collective(1, Operation::Make, second, None, 0);
    s.send(thread, 0, 0, 8);
    s.recv(0, 1, 0);
    s.collective(0, Operation::Make, first, None, 0);
    s.collective(0, Operation::Make, second, None, 0);
    let (_, outcome) = told(&s);
    assert!(outcome.is_whole(), "{outcome}");
}

#[test]
fn a_nonblocking_collective_operation_holds_at_its_completion() {
    let mut s = Script::new(2);
    let first = s.icollective(0, Operation::AllReduce, CommId(0), None);
    s.send(0, 1, 0, 8);
    s.wait(0, &[done(first)]);
    s.recv(1, 0, 0);
    s.allreduce(1, 8);
    let (told, outcome) = told(&s);
    assert_eq!(told[0], ["1 sent", "0 with [0, 1]"]);
    assert!(outcome.is_whole());
}

#[test]
fn threads_of_a_rank_post_in_the_order_of_the_rank() {
    let mut s = Script::new(2);
    s.length = 1;
    // Thread 0 of rank 1 waits for a message that rank 0 sends after thread 1's; their posts interleave.
    let second = s.thread();
    let late = s.a_receive(1, 0, 5);
    let first = s.a_receive(1, 0, 6);
    s.call(1, "MPI_Recv", vec![Op::Receive(late), came(late.post, 0, 5)]);
    s.call(second, "MPI_Recv", vec![Op::Receive(first), came(first.post, 0, 6)]);
    s.send(second, 0, 1, 8);
    s.send(1, 0, 1, 8);
    s.send(0, 1, 6, 8);
    s.recv(0, 1, 1);
    s.send(0, 1, 5, 8);
    s.recv(0, 1, 1);
    let (told, outcome) = told(&s);
    assert_eq!(told[0], ["0 sent", "1 gets 1.2", "2 sent", "3 gets 1.3"]);
    assert!(outcome.is_whole());
}

#[test]
fn a_standard_send_waits_for_its_receive_unless_all_would_wait_for_ever() {
    let mut s = Script::new(3);
    s.send(0, 1, 0, 1000);
    s.recv(1, 0, 0);
    let (told_of_one, outcome) = told(&s);
    assert_eq!(told_of_one[0], ["0 sent into 1.0"]);
    assert_eq!(outcome.released, 0);
    for rank in 0..3_u32 {
        s.send(rank as usize, (rank + 1) % 3, 1, 1000);
        s.recv(rank as usize, (rank + 2) % 3, 1);
    }
    let (_, outcome) = told(&s);
    assert_eq!((outcome.released, outcome.is_whole()), (1, true));
}

#[test]
fn synchronous_sends_in_a_ring_are_told_as_such() {
    let mut s = Script::new(3);
    for rank in 0..3_u32 {
        s.ssend(rank as usize, (rank + 1) % 3, 1, 1);
        s.recv(rank as usize, (rank + 2) % 3, 1);
    }
    let (_, outcome) = told(&s);
    assert_eq!(outcome.cycle, [0, 1, 2]);
    assert_eq!(outcome.blocked.len(), 3);
    let text = outcome.to_string();
    assert!(
        text.contains(
            "rank 0, call 0 (MPI_Ssend, call path 0) waits for rank 1 to receive its message with tag 1"
        ),
        "{text}"
    );
    assert!(text.contains("ranks 0, 1, 2 wait for one another in a ring"), "{text}");
}

#[test]
fn where_a_log_ends_early_the_others_are_matched_without_it() {
    let mut s = Script::new(3);
    for _ in 0..3 {
        s.sendrecv(0, 1, 1, 7, 8);
        s.sendrecv(1, 0, 0, 7, 8);
        for rank in 0..3 {
            s.barrier(rank);
        }
    }
    s.log.cut(1, 3);
    let (told, outcome) = told(&s);
    assert_eq!(told[0][3..6], ["3 sent", "4 gets 1.3", "collective 5 lost"]);
    assert_eq!(told[0][6..], ["6 sent", "receive 7 lost", "collective 8 lost"]);
    assert!(!outcome.is_whole());
    assert!(outcome.blocked.is_empty());
    // Rank 0 loses its second and third barrier and its third message; rank 2 both barriers.
    assert_eq!((outcome.breaks, outcome.unmatched_sends, outcome.incomplete_collectives), (5, 1, 2));
}

#[test]
fn a_run_that_was_killed_when_it_was_stuck_tells_who_waited_for_whom() {
    let mut s = Script::new(4);
    // A ring of two in receives; the third waits for the first in a request, the fourth in a barrier for all.
    s.recv(0, 1, 4);
    s.recv(1, 0, 4);
    let posted = s.irecv(2, 0, 5);
    s.wait(2, &[done(posted)]);
    s.barrier(3);
    for (location, calls) in [(0, 0), (1, 0), (2, 1), (3, 0)] {
        s.log.cut(location, calls);
    }
    let (_, outcome) = told(&s);
    assert_eq!(outcome.cycle, [0, 1]);
    let text = outcome.to_string();
    assert!(
        text.contains("rank 2, call 1 (MPI_Waitall, call path 2) waits for a message from rank 0"),
        "{text}"
    );
    assert!(
        text.contains("rank 3, call 0 (MPI_Collective, call path 3) waits for ranks 0, 1, 2 in"),
        "{text}"
    );
    assert!(!text.contains("the log ends"), "{text}");
    // Who is killed on the way into a message waits for nobody.
    let mut s = Script::new(2);
    s.ssend(0, 1, 4, 8);
    s.recv(1, 0, 4);
    (0..2).for_each(|location| s.log.cut(location, 0));
    assert!(told(&s).1.blocked.is_empty());
}

#[test]
fn who_does_something_else_together_is_told() {
    let mut s = Script::new(2);
    s.barrier(0);
    s.collective(1, Operation::Broadcast, CommId(0), 1, 8);
    let (_, outcome) = told(&s);
    assert_eq!(outcome.mismatched_collectives, 1);
    assert!(outcome.to_string().contains("operation 0 on communicator 0"), "{outcome}");
}

#[test]
fn more_slack_than_allowed_is_an_error() {
    let mut s = Script::new(2);
    for _ in 0..100 {
        s.send(0, 1, 0, 8);
    }
    s.send(1, 0, 0, 8);
    let mut log = s.log.clone();
    let mut visitor = Witness { told: vec![Vec::new(); 2], eager: 100 };
    let options = Options { live_max: Some(50), ..Options::default() };
    let error = lead(&mut log, &mut visitor, &options).unwrap_err();
    assert!(
        error.to_string().starts_with("failed to match messages within 50 live entries: rank 0 is 5"),
        "{error}"
    );
}

#[test]
fn what_is_read_ahead_for_a_receive_counts_as_slack() {
    let mut s = Script::new(2);
    let any = s.irecv(1, None, 1);
    (0..100).for_each(|_| s.call(1, "MPI_Comm_rank", vec![]));
    s.wait(1, &[came(any, 0, 1)]);
    s.send(0, 1, 1, 8);
    let mut visitor = Witness { told: vec![Vec::new(); 2], eager: 100 };
    let mut lead_within = |live_max| {
        let options = Options { live_max: Some(live_max), ..Options::default() };
        lead(&mut s.log.clone(), &mut visitor, &options)
    };
    assert!(matches!(lead_within(50), Err(Error::Slack { live_max: 50, rank: 1, .. })));
    assert!(lead_within(200).unwrap().is_whole());
}

#[test]
fn a_sender_ahead_of_its_receiver_lets_others_on() {
    let mut s = Script::new(3);
    for _ in 0..2000 {
        s.send(0, 1, 0, 8);
        s.recv(1, 0, 0);
        s.sendrecv(1, 2, 2, 0, 8);
        s.sendrecv(2, 1, 1, 0, 8);
    }
    let (_, outcome) = witness(&s, &Options::default());
    assert!(outcome.is_whole());
    assert!(outcome.live_peak < 500, "{}", outcome.live_peak);
}

#[test]
fn a_receive_that_nothing_tells_the_message_of_is_passed() {
    let mut s = Script::new(2);
    s.send(0, 1, 1, 8);
    let any = s.irecv(1, None, 1);
    s.wait(1, &[done(any)]);
    s.barrier(0);
    s.barrier(1);
    let (told, outcome) = told(&s);
    assert_eq!(told[1], ["receive 0 lost", "1 with [0, 1]"]);
    assert_eq!((outcome.unresolved, outcome.unmatched_sends, outcome.breaks), (1, 1, 0));
}

#[test]
fn completions_without_a_beginning_are_counted() {
    let mut s = Script::new(1);
    s.wait(0, &[done(17)]);
    let (told, outcome) = told(&s);
    assert_eq!((told[0].clone(), outcome.strays), (vec!["else lost".to_string()], 1));
}

/// What an independent matcher gives that knows all logs: the n-th send and the n-th receive of a key.
fn expected(script: &Script, ranks: usize) -> Vec<Vec<String>> {
    use std::collections::HashMap;
    let mut sends: HashMap<(u32, u32, i32), Vec<u64>> = HashMap::new();
    let mut completions: HashMap<(usize, u64), Completion> = HashMap::new();
    for rank in 0..ranks {
        for op in script.log.calls(rank).iter().flat_map(|call| &call.ops) {
            match op {
                Op::Send(s) => sends.entry((rank as u32, s.to, s.tag)).or_default().push(s.post),
                Op::Complete(c) => drop(completions.insert((rank, c.post), *c)),
                _ => {}
            }
        }
    }
    let mut told = vec![Vec::new(); ranks];
    for (rank, told) in told.iter_mut().enumerate() {
        let mut taken: HashMap<(u32, u32, i32), usize> = HashMap::new();
        for op in script.log.calls(rank).iter().flat_map(|call| &call.ops) {
            let Op::Receive(r) = op else { continue };
            let c = completions[&(rank, r.post)];
            if c.void {
                continue;
            }
            let key = (c.from.unwrap(), rank as u32, c.tag.unwrap());
            let n = taken.entry(key).or_default();
            told.push(format!("{} gets {}.{}", r.post, key.0, sends[&key][*n]));
            *n += 1;
        }
        told.sort();
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn matching_is_that_of_whole_logs(steps in proptest::collection::vec((0..4_usize, 0..4_usize, 0..2_i32, any::<u8>()), 1..60)) {
        let mut s = Script::new(4);
        let mut open: Vec<Vec<Op>> = vec![Vec::new(); 4];
        for (from, to, tag, how) in steps {
            let bytes = if how & 1 == 0 { 8 } else { 1000 };
            // A message is posted at both sides in one step, so that some run of the program matches them like this.
            if how & 2 == 0 || from == to {
                let post = s.isend(from, to as u32, tag, bytes);
                open[from].push(done(post));
            } else {
                s.send(from, to as u32, tag, 8);
            }
            if how & 64 == 0 {
                let post = s.irecv(to, 99, 99);
                open[to].push(cancelled(post));
            }
            let any = how & 4 != 0;
            let (source, label) = if any { (None, None) } else { (Some(from as u32), Some(tag)) };
            let post = s.irecv(to, source, label);
            let completion = came(post, from as u32, tag);
            if how & 8 == 0 { open[to].push(completion) } else { s.wait(to, &[completion]) }
            if how & 48 == 0 {
                for (rank, open) in open.iter_mut().enumerate() {
                    let completions = std::mem::take(open);
                    s.wait(rank, &completions);
                    s.barrier(rank);
                }
            }
        }
        for (rank, open) in open.iter().enumerate() {
            s.wait(rank, open);
        }
        let (told, outcome) = told(&s);
        prop_assert!(outcome.is_whole(), "{}", outcome);
        let gets: Vec<Vec<String>> = told.into_iter().map(|told| {
            let mut gets: Vec<String> = told.into_iter().filter(|word| word.contains("gets")).collect();
            gets.sort();
            gets
        }).collect();
        prop_assert_eq!(gets, expected(&s, 4));
    }
}
