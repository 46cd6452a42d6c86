//! Why an event cannot be had, and what would enable it.

use nix::errno::Errno;
use serde::Serialize;

use falloff_format::limits::TRAPS_KERNEL_MIN;

use super::{Access, Machine};
use crate::event::PerfEvent;

/// What stands in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// Why it cannot be had.
    pub reason: String,
    /// What would enable it.
    pub remedy: String,
}

/// Why `event` cannot be had; `None` if it can, if only in user mode.
pub fn obstacle(event: &PerfEvent, access: Access, machine: &Machine) -> Option<Obstacle> {
    let errno = match access {
        Access::Full => None,
        Access::UserOnly if event.is_in_kernel() => Some(Errno::EACCES),
        Access::UserOnly => None,
        Access::Refused(errno) => Some(errno),
    };
    old_kernel(machine).or_else(|| Some(refusal(event, errno?, machine)))
}

/// Why the system has refused an event in this way, whatever it is opened for.
pub(crate) fn refusal(event: &PerfEvent, errno: Errno, machine: &Machine) -> Obstacle {
    match errno {
        Errno::ENOENT | Errno::ENODEV | Errno::EOPNOTSUPP | Errno::EINVAL if event.is_hardware() => {
            no_counter(machine)
        }
        Errno::EACCES | Errno::EPERM => not_permitted(machine),
        Errno::ENOSYS => Obstacle {
            reason: "the kernel has no performance events".into(),
            remedy: "use a kernel with CONFIG_PERF_EVENTS".into(),
        },
        Errno::EMFILE | Errno::ENFILE => Obstacle {
            reason: "no more files can be opened".into(),
            remedy: "raise the limit with `ulimit -n`".into(),
        },
        other => Obstacle {
            reason: format!("the kernel refuses it ({})", other.desc()),
            remedy: "choose another event, see `falloff doctor`".into(),
        },
    }
}

/// Events that trap came later, and were dangerous at first.
fn old_kernel(machine: &Machine) -> Option<Obstacle> {
    let (major, minor) = TRAPS_KERNEL_MIN;
    let old = machine.kernel_version() < TRAPS_KERNEL_MIN;
    old.then(|| Obstacle {
        reason: format!(
            "kernel {} is older than {major}.{minor}, which is the first to sample events without harm to the program",
            machine.kernel
        ),
        remedy: format!("use kernel {major}.{minor} or later"),
    })
}

fn no_counter(machine: &Machine) -> Obstacle {
    let (reason, remedy) = match (machine.counters.is_empty(), machine.virtual_machine) {
        (true, true) => (
            "this machine's virtual CPU has no counters",
            "turn on the virtual PMU in the hypervisor (`-cpu host,pmu=on`), or measure on real hardware",
        ),
        (true, false) => (
            "the kernel knows no counters of this processor",
            "use a kernel that has a driver for them, or another processor",
        ),
        (false, _) => ("this processor does not count it", "choose an event that `perf list` shows"),
    };
    Obstacle { reason: reason.into(), remedy: remedy.into() }
}

fn not_permitted(machine: &Machine) -> Obstacle {
    let reason = match machine.perf_event_paranoid {
        Some(level) if level > 1 && !machine.is_privileged() => {
            format!("kernel.perf_event_paranoid is {level}")
        }
        _ if machine.seccomp => "system calls are filtered here, as in a container".into(),
        _ => "this user may not measure it".into(),
    };
    Obstacle { reason, remedy: permission_remedy(machine) }
}

/// What gives the permission to see the kernel's part of events.
pub fn permission_remedy(machine: &Machine) -> String {
    if machine.seccomp {
        "start the container with `--cap-add PERFMON`, and `sudo sysctl kernel.perf_event_paranoid=1` on its host".into()
    } else {
        "sudo sysctl kernel.perf_event_paranoid=1, or give CAP_PERFMON".into()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A machine on which everything is allowed.
    pub(crate) fn machine() -> Machine {
        Machine {
            kernel: "6.1.0".into(),
            glibc: "2.36".into(),
            processors: 4,
            virtual_machine: false,
            counters: vec!["cpu".into()],
            tick_hz: Some(250),
            user_id: 1000,
            cap_perfmon: false,
            cap_sys_admin: false,
            cap_ipc_lock: false,
            perf_event_paranoid: Some(1),
            perf_event_mlock_kib: Some(516),
            memlock_limit_bytes: Some(8 << 20),
            seccomp: false,
            ptrace_scope: Some(1),
            run_delay: true,
        }
    }

    fn reason(event: &str, access: Access, machine: &Machine) -> Option<String> {
        obstacle(&PerfEvent::named(event).unwrap(), access, machine).map(|o| o.reason)
    }

    #[test]
    fn what_can_be_had_has_no_obstacle() {
        assert_eq!(reason("cycles", Access::Full, &machine()), None);
        assert_eq!(reason("page-faults", Access::UserOnly, &machine()), None);
    }

    #[test]
    fn counters_may_be_missing() {
        let refused = Access::Refused(Errno::ENOENT);
        assert_eq!(reason("cycles", refused, &machine()).unwrap(), "this processor does not count it");
        let guest = Machine { virtual_machine: true, counters: vec![], ..machine() };
        let text = reason("LLC-loads", refused, &guest).unwrap();
        assert_eq!(text, "this machine's virtual CPU has no counters");
        assert!(reason("page-faults", refused, &guest).unwrap().starts_with("the kernel refuses it"));
    }

    #[test]
    fn permission_may_be_missing() {
        let strict = Machine { perf_event_paranoid: Some(2), ..machine() };
        let switches = reason("context-switches", Access::UserOnly, &strict).unwrap();
        assert_eq!(switches, "kernel.perf_event_paranoid is 2");
        let container = Machine { seccomp: true, ..machine() };
        let refused =
            obstacle(&PerfEvent::named("page-faults").unwrap(), Access::Refused(Errno::EPERM), &container)
                .unwrap();
        assert!(refused.reason.contains("filtered") && refused.remedy.contains("PERFMON"));
    }

    #[test]
    fn old_kernels_are_named() {
        let old = Machine { kernel: "5.15.0-91-generic".into(), ..machine() };
        assert!(reason("page-faults", Access::Full, &old).unwrap().contains("older than 5.19"));
    }
}
