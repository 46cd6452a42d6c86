//! Messages between two: what calls begin, where their statuses and requests are, and what probes find.

use core::ffi::c_int;

use falloff_format::events::{Item, Mode};

use super::calls::message;
use super::communicators::{self, Communicator};
use super::frame::{Arguments, Call};
use super::log::{Log, next_post};
use super::requests::{self, Request};
use super::shapes::{Life, Shape, Which};

/// The place of the status of a blocking receive.
pub fn status_place(shape: Shape) -> Option<usize> {
    match shape {
        Shape::Receive(Life::Blocking) => Some(6),
        Shape::MatchedReceive(Life::Blocking) => Some(4),
        Shape::Exchange(Life::Blocking) => Some(11),
        Shape::ExchangeInPlace(Life::Blocking) => Some(8),
        _ => None,
    }
}

/// The place of a pointer to the request that a call gives.
pub fn request_place(shape: Shape) -> Option<usize> {
    match shape {
        Shape::Send(..) | Shape::Receive(_) => Some(6),
        Shape::MatchedReceive(_) => Some(4),
        Shape::Exchange(_) => Some(11),
        Shape::ExchangeInPlace(_) => Some(8),
        Shape::PartitionedSend | Shape::PartitionedReceive => Some(8),
        Shape::Collective(_, layout, life) => Some(
            super::collectives::communicator_place(layout) + if life == Life::Persistent { 2 } else { 1 },
        ),
        Shape::Make { new, is_nonblocking: true, .. } => Some(new + 1),
        _ => None,
    }
}

/// The number of an operation.
pub fn post_of(item: &Item) -> u64 {
    match *item {
        Item::Send { post, .. } | Item::Receive { post, .. } | Item::Collective { post, .. } => post,
        _ => 0,
    }
}

/// Number of an operation that begins now; of one that is started later it is not known yet.
pub fn post_for(life: Life) -> u64 {
    if life == Life::Persistent { 0 } else { next_post() }
}

/// What a call begins. The status of a blocking receive is written somewhere in any case.
pub fn begins(log: &mut Log, arguments: Arguments, shape: Shape) -> [Option<Item>; 2] {
    if let Some(place) = probe_places(shape).map(|(_, status)| status).or(status_place(shape)) {
        keep_status(log, arguments, place, 1);
    }
    let communicator = |place| communicators::of(arguments.abi, arguments.handle(place));
    match shape {
        Shape::Send(mode, life) => [send(arguments, mode, life, [1, 2, 3, 4], communicator(5)), None],
        Shape::Receive(life) => [receive(arguments, life, [3, 4], communicator(5)), None],
        Shape::MatchedReceive(life) => {
            let matched = requests::take(arguments.handle_at(3), log.owner()).map(|request| request.item);
            [matched.map(|item| again(item, post_for(life))), None]
        }
        Shape::Exchange(life) => {
            let own = communicator(10);
            let sent = send(arguments, Mode::Standard, life, [1, 2, 3, 4], own);
            [sent, receive(arguments, life, [8, 9], own)]
        }
        Shape::ExchangeInPlace(life) => {
            let own = communicator(7);
            let sent = send(arguments, Mode::Standard, life, [1, 2, 3, 4], own);
            [sent, receive(arguments, life, [5, 6], own)]
        }
        Shape::PartitionedSend => {
            // Of a part they count in 64 bits.
            let arguments = arguments.large();
            let sent = send(arguments, Mode::Standard, Life::Persistent, [2, 3, 4, 5], communicator(6));
            [sent.map(|item| times(item, arguments.int(1).max(0) as u64)), None]
        }
        Shape::PartitionedReceive => [receive(arguments, Life::Persistent, [4, 5], communicator(6)), None],
        _ => [None; 2],
    }
}

/// Lets statuses that the caller does not want be written to our own memory.
pub fn keep_status(log: &mut Log, arguments: Arguments, place: usize, count: usize) {
    if arguments.word(place) == arguments.abi.ignored_status
        && let Some(own) = log.statuses.reserve((count * arguments.abi.status_len).div_ceil(8))
    {
        arguments.replace(place, own as u64);
    }
}

/// `places`: count, type, receiver, tag.
fn send(
    arguments: Arguments,
    mode: Mode,
    life: Life,
    places: [usize; 4],
    communicator: Option<&Communicator>,
) -> Option<Item> {
    let [count, kind, receiver, tag] = places;
    let receiver = arguments.int(receiver);
    if receiver == arguments.abi.nobody {
        return None;
    }
    let communicator = communicator?;
    Some(Item::Send {
        post: post_for(life),
        mode,
        to: communicator.peer(receiver),
        tag: arguments.int(tag),
        communicator: communicator.id,
        bytes: arguments.abi.bytes(arguments.count(count), arguments.word(kind)),
    })
}

/// `places`: sender, tag.
fn receive(
    arguments: Arguments,
    life: Life,
    places: [usize; 2],
    communicator: Option<&Communicator>,
) -> Option<Item> {
    let [sender, tag] = places.map(|place| arguments.int(place));
    let abi = arguments.abi;
    if sender == abi.nobody {
        return None;
    }
    let communicator = communicator?;
    Some(Item::Receive {
        post: post_for(life),
        from: (sender != abi.any_source).then(|| communicator.peer(sender)),
        tag: (tag != abi.any_tag).then_some(tag),
        communicator: communicator.id,
    })
}

/// A send of so many parts.
fn times(item: Item, parts: u64) -> Item {
    match item {
        Item::Send { post, mode, to, tag, communicator, bytes } => {
            Item::Send { post, mode, to, tag, communicator, bytes: bytes.saturating_mul(parts) }
        }
        other => other,
    }
}

/// An operation that begins once more, with this number.
fn again(item: Item, post: u64) -> Item {
    match item {
        Item::Send { mode, to, tag, communicator, bytes, .. } => {
            Item::Send { post, mode, to, tag, communicator, bytes }
        }
        Item::Receive { from, tag, communicator, .. } => Item::Receive { post, from, tag, communicator },
        Item::Collective { operation, communicator, root, sent, received, .. } => {
            let sequence = communicators::by_id(communicator).map_or(0, Communicator::next_sequence);
            Item::Collective { post, operation, communicator, sequence, root, sent, received }
        }
        other => other,
    }
}

/// Writes what a call starts.
pub fn start(log: &mut Log, arguments: Arguments, shape: Shape) {
    let (count, array) = match shape {
        Shape::Start(Which::One) => (1, 0),
        Shape::Start(_) => (arguments.int(0).max(0) as usize, 1),
        _ => return,
    };
    for at in 0..count {
        let handle = arguments.abi.handle_in(arguments.word(array), at);
        if let Some(request) = requests::take(handle, log.owner()) {
            let item = again(request.item, next_post());
            log.write(&item);
            requests::put(handle, log.owner(), Request { item, is_active: true, ..request });
        }
    }
}

/// The places of a message that a probe gives, and of its status.
fn probe_places(shape: Shape) -> Option<(Option<usize>, usize)> {
    match shape {
        Shape::MatchedProbe => Some((Some(3), 4)),
        Shape::ProbeIf => Some((None, 4)),
        Shape::MatchedProbeIf => Some((Some(4), 5)),
        _ => None,
    }
}

/// A probe has returned: what it found is kept for who receives it, and a call that found nothing is as if it had not been.
pub fn probed(log: &mut Log, arguments: Arguments, shape: Shape, result: c_int, call: (Call, u64)) {
    let is_found = shape == Shape::MatchedProbe || arguments.int_at(3) != 0;
    let Some((message_place, status_place)) = probe_places(shape) else { return };
    if result != 0 || !is_found {
        return;
    }
    log.enter_late(call);
    let communicator = communicators::of(arguments.abi, arguments.handle(2));
    let status = arguments.word(status_place);
    // From nobody there is nothing to receive.
    if let (Some(place), Some(communicator)) = (message_place, communicator)
        && status != arguments.abi.ignored_status
        && arguments.int(0) != arguments.abi.nobody
    {
        let seen = message(arguments.abi, communicator.id, status, 0);
        let item = Item::Receive {
            post: 0,
            from: Some(seen.from),
            tag: Some(seen.tag),
            communicator: communicator.id,
        };
        let request =
            Request { item, is_active: true, is_persistent: false, is_cancelled: false, has_more: false };
        requests::put(arguments.handle_at(place), log.owner(), request);
    }
}
