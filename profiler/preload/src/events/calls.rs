//! What is done before and after each logged call.

use core::ffi::{c_int, c_void};

use falloff_format::events::{Item, Message};

use super::frame::{Arguments, Call, Frame};
use super::functions;
use super::library::{self, Abi};
use super::log::Log;
use super::requests::{self, Request};
use super::shapes::{Life, Shape, Way};
use super::{collectives, communicators, completion, making, messages, windows};
use crate::thread::Thread;
use crate::{clock, start, thread_create};

/// What a call gives if there is no function behind it: `MPI_ERR_OTHER` of MPICH.
const MISSING: c_int = 15;

/// What [`begin`] tells the entry: what to call, and whether [`end`] is to follow.
#[repr(C)]
pub struct Begun {
    function: *mut c_void,
    is_logged: usize,
}

extern "C" fn missing() -> c_int {
    MISSING
}

/// The calling thread, if calls are to be logged.
fn current() -> Option<&'static mut Thread> {
    let is_on = super::is_on() && start::is_on();
    // SAFETY: the calling thread's own state.
    is_on.then(thread_create::current).flatten().map(|thread| unsafe { &mut *thread })
}

/// Begins a call of which the entry does not know that it needs no logging.
///
/// # Safety
/// `frame` is what the entry left on the stack.
pub unsafe extern "C" fn begin(frame: *mut Frame) -> Begun {
    start::ensure();
    // SAFETY: by contract.
    let call = unsafe { Call::new(frame) };
    let Some(function) = functions::real(call.index()) else {
        return Begun { function: missing as *mut c_void, is_logged: 0 };
    };
    let is_logged = enter(call, function as u64).is_some();
    Begun { function, is_logged: is_logged.into() }
}

/// Writes what a call begins; `None` if it is not to be logged.
fn enter(call: Call, function: u64) -> Option<()> {
    let thread = current()?;
    let (shape, large) = functions::shape(call.index());
    let Some(abi) = library::abi() else {
        // Nothing is known of the library before it is initialised.
        let log = Log::of(thread).filter(|_| shape == Shape::Initialise)?;
        log.begin(thread, call).then_some(())?;
        log.enter(call, function, None);
        log.publish();
        return Some(());
    };
    let log = Log::of(thread)?;
    log.begin(thread, call).then_some(())?;
    let arguments = Arguments::new(call, abi, large);
    log.begun = begins(log, arguments, shape);
    match shape {
        Shape::Test(_) | Shape::ProbeIf | Shape::MatchedProbeIf | Shape::Synchronise(Way::Test) => {
            // They are written only if they find something.
            log.begun_ns = clock::wall_ns();
            return Some(());
        }
        _ => log.enter(call, function, None),
    }
    let is_started_later = life(shape) == Life::Persistent;
    for item in log.begun.into_iter().flatten().filter(|_| !is_started_later) {
        log.write(&item);
    }
    messages::start(log, arguments, shape);
    log.publish();
    Some(())
}

/// When what a call begins is complete.
fn life(shape: Shape) -> Life {
    match shape {
        Shape::Send(_, life)
        | Shape::Receive(life)
        | Shape::MatchedReceive(life)
        | Shape::Exchange(life)
        | Shape::ExchangeInPlace(life)
        | Shape::Collective(_, _, life) => life,
        Shape::PartitionedSend | Shape::PartitionedReceive => Life::Persistent,
        Shape::Make { is_nonblocking: true, .. } => Life::Nonblocking,
        _ => Life::Blocking,
    }
}

/// What a call begins; prepares what is to be seen of it when it has returned.
fn begins(log: &mut Log, arguments: Arguments, shape: Shape) -> [Option<Item>; 2] {
    match shape {
        Shape::Send(..)
        | Shape::Receive(_)
        | Shape::MatchedReceive(_)
        | Shape::Exchange(_)
        | Shape::ExchangeInPlace(_)
        | Shape::PartitionedSend
        | Shape::PartitionedReceive
        | Shape::MatchedProbe
        | Shape::ProbeIf
        | Shape::MatchedProbeIf => messages::begins(log, arguments, shape),
        Shape::Collective(operation, layout, life) => {
            [collectives::begins(arguments, operation, layout, life), None]
        }
        Shape::Wait(which) | Shape::Test(which) => {
            completion::begins(log, arguments, which, matches!(shape, Shape::Test(_)));
            [None; 2]
        }
        Shape::Free => {
            requests::take(arguments.handle_at(0), log.owner());
            [None; 2]
        }
        Shape::Cancel => {
            let handle = arguments.handle_at(0);
            if let Some(request) = requests::take(handle, log.owner()) {
                requests::put(handle, log.owner(), Request { is_cancelled: true, ..request });
            }
            [None; 2]
        }
        Shape::Make { .. }
        | Shape::Unmake
        | Shape::MakeWindow(..)
        | Shape::UnmakeWindow
        | Shape::Finalise => [making::begins(arguments, shape), None],
        Shape::Transfer(..) | Shape::Synchronise(_) => [windows::begins(arguments, shape), None],
        Shape::Plain | Shape::Start(_) | Shape::Initialise => [None; 2],
    }
}

/// Ends a call; gives its result.
///
/// # Safety
/// `frame` is what the entry left on the stack, of a call that [`begin`] wanted to be logged.
pub unsafe extern "C" fn end(frame: *mut Frame, result: isize) -> isize {
    let now_ns = clock::wall_ns();
    // SAFETY: by contract.
    let call = unsafe { Call::new(frame) };
    // SAFETY: the calling thread's own state.
    let thread = thread_create::current().map(|thread| unsafe { &mut *thread });
    // Fibres may have left each other's calls.
    if let Some(log) = thread.and_then(Log::of).filter(|log| log.is_in(call)) {
        leave(log, call, result as c_int);
        log.end(now_ns);
        if log.shape == Shape::Finalise {
            super::stop();
        }
    }
    result
}

/// Writes what a call has completed.
fn leave(log: &mut Log, call: Call, result: c_int) {
    let (shape, large) = functions::shape(call.index());
    if shape == Shape::Initialise {
        return making::initialised(log, result);
    }
    let Some(abi) = library::abi() else { return };
    let arguments = Arguments::new(call, abi, large);
    let function = functions::real(call.index()).map_or(0, |f| f as u64);
    match shape {
        Shape::Wait(which) | Shape::Test(which) => {
            completion::ends(
                log,
                arguments,
                which,
                matches!(shape, Shape::Test(_)),
                result,
                (call, function),
            );
        }
        Shape::Synchronise(Way::Test) => {
            if let Some(item) = log.begun[0].filter(|_| result == 0 && arguments.int_at(1) != 0) {
                log.enter_late((call, function));
                log.write(&item);
            }
        }
        Shape::ProbeIf | Shape::MatchedProbe | Shape::MatchedProbeIf => {
            messages::probed(log, arguments, shape, result, (call, function));
        }
        _ => {
            making::made(log, arguments, shape, result);
            match life(shape) {
                Life::Blocking => complete(log, abi, shape, arguments, result),
                life => keep(log, arguments, shape, life, result),
            }
        }
    }
}

/// Completes what a call that has returned began.
fn complete(log: &mut Log, abi: &Abi, shape: Shape, arguments: Arguments, result: c_int) {
    let void = result != 0;
    for item in log.begun.into_iter().flatten() {
        let (post, message) = match item {
            Item::Send { post, .. } | Item::Collective { post, .. } => (post, None),
            Item::Receive { post, communicator, .. } => {
                let status = messages::status_place(shape).map(|place| arguments.word(place));
                let seen = status.filter(|s| *s != abi.ignored_status && !void);
                (post, seen.map(|status| message(abi, communicator, status, 0)))
            }
            _ => continue,
        };
        log.write(&Item::Complete { post, message, void });
    }
}

/// What a status says of a message in a communicator.
pub fn message(abi: &Abi, communicator: u32, statuses: u64, at: usize) -> Message {
    let status = abi.status(statuses, at);
    Message {
        from: communicators::peer_in(communicator, status.source),
        tag: status.tag,
        bytes: status.bytes,
    }
}

/// Keeps what a call began under the request that it gave.
fn keep(log: &mut Log, arguments: Arguments, shape: Shape, life: Life, result: c_int) {
    let Some(place) = messages::request_place(shape) else { return };
    if result != 0 {
        if life == Life::Nonblocking {
            for item in log.begun.into_iter().flatten() {
                log.write(&Item::Complete { post: messages::post_of(&item), message: None, void: true });
            }
        }
        return;
    }
    let (handle, is_persistent) = (arguments.handle_at(place), life == Life::Persistent);
    let mut is_last = true;
    for item in log.begun.into_iter().flatten() {
        let request = Request {
            item,
            is_active: !is_persistent,
            is_persistent,
            is_cancelled: false,
            has_more: !core::mem::replace(&mut is_last, false),
        };
        requests::put(handle, log.owner(), request);
    }
}
