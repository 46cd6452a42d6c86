//! How long a call waited, from its times and those of the others.
//!
//! The rules are those of Scalasca's pattern search (Geimer et al., "A scalable tool architecture for diagnosing wait states in
//! massively parallel applications", Parallel Computing 35, 2009). Times are nanoseconds of one clock.

/// A wait, and whether the times can be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How long, nanoseconds; never more than the call lasted.
    pub wait: u64,
    /// The call ended before what it waited for: the clocks disagree.
    pub violated: bool,
}

/// A call from `enter` to `leave` that could not end before `awaited`: waits until then, and no longer than it lasted.
///
/// This is the late sender (`awaited` is when the send began), the wait at a barrier and in other operations in which each needs
/// all (when the last came), the late broadcast (when the root came), the early reduce (at the root, when the last came) and the
/// early scan (when the last of those before came). For operations that do not block, `enter` is that of the call that completes.
///
/// ```
/// use falloff_messages::waits::{Found, wait_until};
/// assert_eq!(wait_until(2, 6, 5), Found { wait: 3, violated: false });
/// assert_eq!(wait_until(2, 6, 9), Found { wait: 4, violated: true });
/// assert_eq!(wait_until(2, 6, 1), Found { wait: 0, violated: false });
/// ```
pub fn wait_until(enter: u64, leave: u64, awaited: u64) -> Found {
    Found { wait: awaited.min(leave).saturating_sub(enter), violated: awaited > leave }
}

/// A send that is completed by a call from `enter` to `leave`, whose receive began at `posted`: waits for the receive, unless it
/// was complete before, because the message went into a buffer. A send of the synchronous mode cannot have been.
///
/// ```
/// use falloff_messages::waits::{Found, late_receiver};
/// assert_eq!(late_receiver(1, 5, 4, false), Found { wait: 3, violated: false });
/// assert_eq!(late_receiver(1, 2, 4, false), Found { wait: 0, violated: false });
/// assert_eq!(late_receiver(1, 2, 4, true), Found { wait: 1, violated: true });
/// ```
pub fn late_receiver(enter: u64, leave: u64, posted: u64, synchronous: bool) -> Found {
    if leave <= posted && !synchronous { Found::default() } else { wait_until(enter, leave, posted) }
}

/// How long a member stays in an operation in which each needs all, which it leaves at `leave`, after the first has left it and
/// the last has come.
///
/// ```
/// use falloff_messages::waits::completion;
/// assert_eq!(completion(12, 10, 9), 2);
/// assert_eq!(completion(12, 8, 11), 1);
/// ```
pub fn completion(leave: u64, first_leave: u64, last_enter: u64) -> u64 {
    leave.saturating_sub(first_leave.max(last_enter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_wait_is_longer_than_its_call_and_a_common_shift_changes_nothing(
            enter in 0u64..1000, length in 0u64..1000, other in 0u64..3000, shift in 0u64..1000, synchronous: bool,
        ) {
            let leave = enter + length;
            for (found, shifted) in [
                (wait_until(enter, leave, other), wait_until(enter + shift, leave + shift, other + shift)),
                (
                    late_receiver(enter, leave, other, synchronous),
                    late_receiver(enter + shift, leave + shift, other + shift, synchronous),
                ),
            ] {
                prop_assert!(found.wait <= length);
                prop_assert_eq!(found, shifted);
                prop_assert!(!found.violated || other > leave);
            }
        }

        #[test]
        fn waiting_and_completing_do_not_overlap(
            enter in 0u64..1000, length in 0u64..1000, first_leave in 0u64..2000, last_enter in 0u64..2000,
        ) {
            let leave = enter + length;
            let first_leave = first_leave.min(leave);
            let last_enter = last_enter.max(enter);
            let wait = wait_until(enter, leave, last_enter).wait;
            prop_assert!(wait + completion(leave, first_leave, last_enter) <= length);
        }
    }
}
