//! Events that trap, opened on this thread and closed again: the only way to know whether they can be had.

use nix::errno::Errno;
use perf_event::Builder;
use serde::Serialize;

use crate::event::PerfEvent;

/// How an event can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// In user mode and in the kernel.
    Full,
    /// In user mode only.
    UserOnly,
    /// Not at all; what the system said.
    #[serde(serialize_with = "error_number")]
    Refused(Errno),
}

fn error_number<S: serde::Serializer>(errno: &Errno, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i32(*errno as i32)
}

impl Access {
    /// Tries an event: opens it as the sampler does and closes it at once. It never runs.
    pub fn to(event: &PerfEvent) -> Access {
        match open(event, true) {
            Ok(()) => Access::Full,
            Err(Errno::EACCES | Errno::EPERM) => {
                open(event, false).map_or_else(Access::Refused, |()| Access::UserOnly)
            }
            Err(errno) => Access::Refused(errno),
        }
    }
}

fn open(event: &PerfEvent, with_kernel: bool) -> Result<(), Errno> {
    /// Far away; the event stays disabled all the same.
    const PERIOD: u64 = 1 << 40;
    let mut builder = Builder::new();
    builder.exclude_kernel(!with_kernel).exclude_hv(!with_kernel);
    builder.sample_period(PERIOD).remove_on_exec(true).sigtrap(true);
    let attributes = builder.attrs_mut();
    (attributes.type_, attributes.config) = (event.kind, event.config);
    match builder.build() {
        Ok(_) => Ok(()),
        Err(error) => Err(error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_no_kernel_has_is_refused() {
        let event = PerfEvent { config: 0xffff, ..PerfEvent::task_clock() };
        assert!(matches!(Access::to(&event), Access::Refused(_)));
    }
}
