//! Calls that wait for requests or look at them: which of them are complete, and what came.

use core::ffi::c_int;

use falloff_format::events::Item;

use super::calls::message;
use super::frame::{Arguments, Call};
use super::log::Log;
use super::messages::{keep_status, post_of};
use super::requests::{self, Request};
use super::shapes::Which;

/// A request that a call looks at.
#[derive(Clone, Copy)]
pub struct Taken {
    handle: u64,
    request: Option<Request>,
}

/// Where the arguments of a call are.
struct Places {
    /// Number of requests, if it is not one.
    count: Option<usize>,
    requests: usize,
    statuses: usize,
    flag: Option<usize>,
}

fn places(which: Which, tests: bool) -> Places {
    let (statuses, flag) = match (which, tests) {
        (Which::One, false) => (1, None),
        (Which::One, true) => (2, Some(1)),
        (Which::All, false) => (2, None),
        (Which::All, true) => (3, Some(2)),
        (Which::Any, false) => (3, None),
        (Which::Any, true) => (4, Some(3)),
        (Which::Some, _) => (4, None),
    };
    let is_one = which == Which::One;
    Places { count: (!is_one).then_some(0), requests: usize::from(!is_one), statuses, flag }
}

impl Places {
    fn count(&self, arguments: Arguments) -> usize {
        self.count.map_or(1, |place| arguments.int(place).max(0) as usize)
    }
}

/// Takes out what is looked at, for the call to overwrite the handles of; sees to it that there are statuses if they tell
/// something.
pub fn begins(log: &mut Log, arguments: Arguments, which: Which, tests: bool) {
    let places = places(which, tests);
    let count = places.count(arguments);
    log.taken = 0;
    let Some(taken) = log.requests.reserve(count) else { return };
    let array = arguments.word(places.requests);
    let mut tells = false;
    for at in 0..count {
        let handle = arguments.abi.handle_in(array, at);
        let request = requests::take(handle, log.owner());
        tells |= request.is_some_and(|r| {
            r.is_active && (r.is_cancelled || r.has_more || matches!(r.item, Item::Receive { .. }))
        });
        // SAFETY: reserved for so many.
        unsafe { taken.add(at).write(Taken { handle, request }) };
    }
    log.taken = count;
    if tells {
        let statuses = if matches!(which, Which::All | Which::Some) { count } else { 1 };
        keep_status(log, arguments, places.statuses, statuses);
    }
}

/// Writes what is complete and puts back what is not.
pub fn ends(
    log: &mut Log,
    arguments: Arguments,
    which: Which,
    tests: bool,
    result: c_int,
    call: (Call, u64),
) {
    let places = places(which, tests);
    let statuses = Some(arguments.word(places.statuses)).filter(|s| *s != arguments.abi.ignored_status);
    let is_flagged = places.flag.is_none_or(|flag| arguments.int_at(flag) != 0);
    let count = core::mem::take(&mut log.taken);
    let mut done = |at: usize, status: usize| {
        if let Some(taken) = log.taken_at(count, at) {
            let taken = core::mem::replace(taken, Taken { handle: 0, request: None });
            complete(log, arguments, taken, statuses, status, false, call);
        }
    };
    if result != 0 {
        // What the library has given up is complete in some way; the rest can be waited for again.
        let array = arguments.word(places.requests);
        for at in 0..count {
            if let Some(taken) = log.taken_at(count, at)
                && taken.request.is_some_and(|r| !r.is_persistent)
                && arguments.abi.handle_in(array, at) != taken.handle
            {
                let taken = core::mem::replace(taken, Taken { handle: 0, request: None });
                complete(log, arguments, taken, None, 0, true, call);
            }
        }
    } else if is_flagged {
        match which {
            Which::One | Which::All => (0..count).for_each(|at| done(at, at)),
            Which::Any => {
                if let Ok(at) = usize::try_from(arguments.int_at(2)) {
                    done(at, 0);
                }
            }
            Which::Some => {
                let found = usize::try_from(arguments.int_at(2)).unwrap_or(0);
                for status in 0..found {
                    if let Ok(at) = usize::try_from(arguments.int_in(3, status)) {
                        done(at, status);
                    }
                }
            }
        }
    }
    for at in 0..count {
        if let Some(Taken { handle, request: Some(request) }) = log.taken_at(count, at).copied() {
            requests::put(handle, log.owner(), request);
        }
    }
}

/// Writes that a request is complete.
fn complete(
    log: &mut Log,
    arguments: Arguments,
    taken: Taken,
    statuses: Option<u64>,
    at: usize,
    failed: bool,
    call: (Call, u64),
) {
    let Some(request) = taken.request else { return };
    if request.is_active {
        log.enter_late(call);
        let cancelled = request.is_cancelled && statuses.is_some_and(|s| arguments.abi.is_cancelled(s, at));
        let void = failed || cancelled;
        let message = match request.item {
            // With MPICH, a request that stands for two operations has the status of some request before it.
            Item::Receive { .. } if request.has_more && arguments.abi.is_mpich() => None,
            Item::Receive { communicator, .. } if !void => {
                statuses.map(|statuses| message(arguments.abi, communicator, statuses, at))
            }
            _ => None,
        };
        log.write(&Item::Complete { post: post_of(&request.item), message, void });
    }
    if request.has_more
        && let Some(other) = requests::take(taken.handle, log.owner())
    {
        complete(log, arguments, Taken { request: Some(other), ..taken }, statuses, at, failed, call);
    }
    if request.is_persistent {
        requests::put(taken.handle, log.owner(), Request { is_active: false, ..request });
    }
}
