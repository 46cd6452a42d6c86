//! What the system says of itself and of this process.

use std::fs;
use std::str::FromStr;

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use nix::time::{ClockId, clock_getres};
use nix::unistd::geteuid;
use serde::Serialize;

/// Facts that decide what can be measured. Absent is what could not be found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Kernel release.
    pub kernel: String,
    /// Version of the C library.
    pub glibc: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// Whether a hypervisor runs the machine.
    pub virtual_machine: bool,
    /// Processors' counters that the kernel knows, by the names of their drivers.
    pub counters: Vec<String>,
    /// Ticks of the kernel's timer a second.
    pub tick_hz: Option<u32>,
    /// Effective user.
    pub user_id: u32,
    /// Capability CAP_PERFMON.
    pub cap_perfmon: bool,
    /// Capability CAP_SYS_ADMIN.
    pub cap_sys_admin: bool,
    /// Capability CAP_IPC_LOCK.
    pub cap_ipc_lock: bool,
    /// `kernel.perf_event_paranoid`.
    pub perf_event_paranoid: Option<i32>,
    /// `kernel.perf_event_mlock_kb`: memory for events of each user, KiB for each processor.
    pub perf_event_mlock_kib: Option<u64>,
    /// RLIMIT_MEMLOCK, bytes; absent if there is no limit.
    pub memlock_limit_bytes: Option<u64>,
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// `kernel.yama.ptrace_scope`; absent where Yama is not there.
    pub ptrace_scope: Option<u32>,
    /// Whether each thread's run delay can be read.
    pub run_delay: bool,
}

const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
/// Drivers of processors' own counters: `cpu`, `cpu_core` and `cpu_atom`, `armv8_pmuv3_0` and the like.
const COUNTER_DRIVERS: [&str; 2] = ["cpu", "armv8"];

impl Machine {
    /// Asks.
    pub fn probe() -> Machine {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let effective = field(&status, "CapEff").and_then(|t| u64::from_str_radix(t, 16).ok()).unwrap_or(0);
        let capable = |number: u32| effective >> number & 1 == 1;
        Machine {
            kernel: read("/proc/sys/kernel/osrelease").unwrap_or_default(),
            glibc: glibc(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            virtual_machine: is_virtual(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
            counters: counters(),
            tick_hz: tick_hz(),
            user_id: geteuid().as_raw(),
            cap_perfmon: capable(CAP_PERFMON),
            cap_sys_admin: capable(CAP_SYS_ADMIN),
            cap_ipc_lock: capable(CAP_IPC_LOCK),
            perf_event_paranoid: read("/proc/sys/kernel/perf_event_paranoid"),
            perf_event_mlock_kib: read("/proc/sys/kernel/perf_event_mlock_kb"),
            memlock_limit_bytes: getrlimit(Resource::RLIMIT_MEMLOCK)
                .ok()
                .map(|(soft, _)| soft)
                .filter(|soft| *soft != RLIM_INFINITY),
            seccomp: field(&status, "Seccomp").is_some_and(|mode| mode != "0"),
            ptrace_scope: read("/proc/sys/kernel/yama/ptrace_scope"),
            run_delay: fs::read_to_string("/proc/thread-self/schedstat")
                .is_ok_and(|text| text.split_whitespace().count() == 3),
        }
    }

    /// Major and minor version of the kernel; 0 where its release says none.
    pub fn kernel_version(&self) -> (u32, u32) {
        version(&self.kernel)
    }

    /// Major and minor version of the C library.
    pub fn glibc_version(&self) -> (u32, u32) {
        version(&self.glibc)
    }

    /// Whether it may look into the kernel whatever `perf_event_paranoid` says.
    pub fn is_privileged(&self) -> bool {
        self.cap_perfmon || self.cap_sys_admin
    }
}

/// Reads a file with one value.
fn read<T: FromStr>(path: &str) -> Option<T> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Value of a field in `/proc/self/status`.
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
}

fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn is_virtual(cpuinfo: &str) -> bool {
    cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("flags"))
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn counters() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir("/sys/bus/event_source/devices")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| COUNTER_DRIVERS.iter().any(|driver| name.starts_with(driver)))
        .collect();
    names.sort();
    names
}

/// The coarse clock advances once a tick.
fn tick_hz() -> Option<u32> {
    let resolution = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).ok()?;
    let seconds = resolution.tv_sec() as f64 + 1e-9 * resolution.tv_nsec() as f64;
    (seconds > 0.0).then(|| (1.0 / seconds).round() as u32)
}

fn glibc() -> String {
    // SAFETY: no arguments; gives a C string that lives as long as the process.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_fields() {
        assert_eq!(version("6.18.44-fc-v657"), (6, 18));
        assert_eq!(version("5.4"), (5, 4));
        assert_eq!(version("unknown"), (0, 0));
        assert_eq!(field("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n", "Seccomp"), Some("2"));
        assert!(is_virtual("processor : 0\nflags\t\t: fpu hypervisor lm\n"));
        assert!(!is_virtual("model name : hypervisor\nflags : fpu\n"));
    }

    #[test]
    fn this_machine_answers() {
        let machine = Machine::probe();
        assert!(machine.kernel_version() > (2, 0), "{}", machine.kernel);
        assert!(machine.glibc_version() > (2, 0), "{}", machine.glibc);
        assert!(machine.tick_hz.is_some_and(|hz| (50..=10_000).contains(&hz)));
        assert!(machine.processors > 0);
    }
}
