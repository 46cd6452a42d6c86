//! One-sided transfers, and what synchronises them.

use core::ffi::c_int;

use falloff_format::events::{Item, Operation, Synchronisation};

use super::communicators;
use super::frame::Arguments;
use super::log::next_post;
use super::shapes::{Shape, Way};

/// What the call does.
pub fn begins(arguments: Arguments, shape: Shape) -> Option<Item> {
    match shape {
        Shape::Transfer(kind, target, count, of, window) => {
            let target = arguments.int(target);
            let window = communicators::known(arguments.handle(window))?;
            let count = count.map_or(1, |place| arguments.count(place));
            let transfer = || Item::Transfer {
                kind,
                window: window.id,
                target: window.peer(target),
                bytes: arguments.abi.bytes(count, arguments.word(of)),
            };
            (target != arguments.abi.nobody).then(transfer)
        }
        Shape::Synchronise(way) => synchronises(arguments, way),
        _ => None,
    }
}

fn synchronises(arguments: Arguments, way: Way) -> Option<Item> {
    let place = match way {
        Way::Complete | Way::Wait | Way::Test | Way::UnlockAll | Way::FlushAll => 0,
        Way::Fence | Way::Unlock | Way::LockAll | Way::Flush => 1,
        Way::Post | Way::Start => 2,
        Way::Lock => 3,
    };
    let window = communicators::known(arguments.handle(place))?;
    let how = match way {
        Way::Fence => {
            return Some(Item::Collective {
                post: next_post(),
                operation: Operation::Fence,
                communicator: window.id,
                sequence: window.next_sequence(),
                root: None,
                sent: 0,
                received: 0,
            });
        }
        Way::Post => Synchronisation::Post(members(arguments)),
        Way::Start => Synchronisation::Start(members(arguments)),
        Way::Complete => Synchronisation::Complete,
        Way::Wait | Way::Test => Synchronisation::Wait,
        Way::Lock => Synchronisation::Lock {
            target: window.peer(arguments.int(1)),
            exclusive: arguments.int(0) == arguments.abi.exclusive,
        },
        Way::Unlock => Synchronisation::Unlock(window.peer(arguments.int(0))),
        Way::LockAll => Synchronisation::LockAll,
        Way::UnlockAll => Synchronisation::UnlockAll,
        Way::Flush => Synchronisation::Flush(Some(window.peer(arguments.int(0)))),
        Way::FlushAll => Synchronisation::Flush(None),
    };
    Some(Item::Synchronise { window: window.id, how })
}

/// Members of the group that is the first argument.
fn members(arguments: Arguments) -> u32 {
    let mut size: c_int = 0;
    // SAFETY: the prototype, and the caller's group.
    let known =
        arguments.abi.ask.group_size.map(|ask| unsafe { ask(arguments.word(0) as usize, &raw mut size) });
    if known == Some(0) { size.max(0) as u32 } else { 0 }
}
