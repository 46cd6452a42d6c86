//! One small run as a timeline.

use super::{Error, Timeline, timeline};
use crate::graph::Window;
use crate::script::{Script, came};
use crate::waits::{Metric, Options};
use crate::{Location, MemoryLog, Operation};

/// Rank 0 computes 100 ns and sends, rank 1 waits for that; then both meet.
fn run() -> MemoryLog {
    let mut script = Script::new(2);
    script.length = 10;
    script.compute(0, 100);
    script.send(0, 1, 7, 64);
    let wanted = script.irecv(1, 0, 7);
    script.length = 105;
    script.wait(1, &[came(wanted, 0, 7)]);
    script.length = 20;
    script.barrier(0);
    script.barrier(1);
    script.log
}

fn of(window: &Window) -> Timeline {
    timeline(&mut run(), window, Options::default(), 100).unwrap()
}

#[test]
fn calls_have_their_times_and_waits() {
    let all = of(&Window::default());
    let calls: Vec<Vec<(u64, u64)>> = all
        .lanes
        .iter()
        .map(|lane| lane.calls.iter().map(|call| (call.enter, call.leave)).collect())
        .collect();
    assert_eq!(calls, [vec![(100, 110), (110, 130)], vec![(0, 10), (10, 115), (115, 135)]]);
    let waited: Vec<_> = all.lanes[1].calls.iter().map(|call| call.time.wait).collect();
    assert_eq!(waited, [None, Some((Metric::LateSender, 90)), None]);
    assert_eq!(all.lanes[0].calls[1].time.wait, Some((Metric::BarrierWait, 5)));
    let kinds: Vec<Metric> = all.lanes[1].calls.iter().map(|call| call.time.rest).collect();
    assert_eq!(kinds, [Metric::Transfer, Metric::Transfer, Metric::CollectiveRest]);
    assert_eq!(all.functions[usize::from(all.lanes[0].calls[0].function)], "MPI_Send");
}

#[test]
fn messages_and_meetings_join_calls() {
    let all = of(&Window::default());
    let [message] = all.messages[..] else { panic!("{:?}", all.messages) };
    assert_eq!((message.sent.location, message.sent.call, message.sent.time), (0, Some(0), 100));
    assert_eq!((message.posted.location, message.posted.call, message.posted.time), (1, Some(0), 0));
    assert_eq!((message.received.location, message.received.call, message.received.time), (1, Some(1), 115));
    assert_eq!((message.tag, message.bytes), (7, 64));
    let [meeting] = &all.meetings[..] else { panic!("{:?}", all.meetings) };
    assert_eq!((meeting.operation, meeting.root, meeting.size), (Operation::Barrier, None, 2));
    let members: Vec<(usize, u32)> = meeting.members.iter().map(|m| (m.location, m.call)).collect();
    assert_eq!(members, [(0, 1), (1, 2)]);
}

#[test]
fn a_window_keeps_what_reaches_into_it() {
    let part = of(&Window { from: 12, until: Some(105), ranks: None });
    assert_eq!((part.lanes[0].calls.len(), part.lanes[1].calls.len()), (1, 1));
    assert_eq!((part.lanes[0].before, part.lanes[0].after), (None, Some(110)));
    assert_eq!((part.lanes[1].before, part.lanes[1].after), (Some(10), Some(115)));
    assert_eq!((part.messages[0].sent.call, part.messages[0].posted.call), (Some(0), None));
    assert!(part.meetings.is_empty());

    let one = of(&Window { ranks: Some([1].into()), ..Window::default() });
    assert_eq!(one.lanes.len(), 1);
    assert_eq!(one.locations[one.lanes[0].location], Location { rank: 1, thread: 0 });
    assert_eq!((one.messages[0].sent.location, one.messages[0].sent.call), (0, None));
    assert_eq!(one.lanes[0].calls[1].wait_ns(), 90);
}

#[test]
fn too_many_calls_are_counted_and_refused() {
    let refused = timeline(&mut run(), &Window::default(), Options::default(), 3).unwrap_err();
    assert_eq!(refused, Error::TooMany { calls: 5, most: 3 });
}
