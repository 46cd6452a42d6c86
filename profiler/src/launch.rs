//! Starts the program, passes signals on to it and waits for its end.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use crate::outside::Hold;
use crate::{Error, startup};

/// A variable of the environment and what it is set to; `None` takes it away.
pub(crate) type Variable = (OsString, Option<OsString>);

/// A program that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Process id that it had.
    pub(crate) pid: u32,
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// CPU time of its process, ns.
    pub(crate) own_ns: u64,
    /// CPU time of the processes that it, or one of them, has waited for, ns.
    pub(crate) waited_ns: u64,
}

/// Starts `program` with these variables in front of the environment, and waits for its end.
///
/// The program gets the signal mask and the dispositions that this process got, and dies with it. Before its exec it waits for
/// who holds it.
pub(crate) fn launch(
    program: &OsStr,
    args: &[OsString],
    variables: &[Variable],
    hold: Option<Hold>,
) -> Result<Ended, Error> {
    let failed = |what| move |source| Error::Process { what, source };
    let waited = waited_signals();
    let before = swap_mask(&waited).map_err(|e| failed("start")(e.into()))?;
    let child = spawn(program, args, variables, before, hold)
        .map_err(|source| Error::NotExecutable { path: program.into(), source });
    let ended = child.and_then(|mut child| {
        let waited_before_ns = children_cpu_ns().unwrap_or(0);
        let (status, own_ns) = wait(&mut child, &waited).map_err(failed("wait for"))?;
        let waited_ns =
            children_cpu_ns().unwrap_or(0).saturating_sub(waited_before_ns).saturating_sub(own_ns);
        Ok(Ended { pid: child.id(), status, own_ns, waited_ns })
    });
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
    ended
}

/// Signals to pass on, and the child's. Not those of faults, which are about this process; not the stop signals of the
/// terminal, which stop both alike.
fn waited_signals() -> SigSet {
    let mut set = SigSet::all();
    use Signal::*;
    for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTSTP, SIGTTIN, SIGTTOU] {
        set.remove(signal);
    }
    set
}

fn swap_mask(to: &SigSet) -> Result<SigSet, Errno> {
    let mut before = SigSet::empty();
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(to), Some(&mut before))?;
    Ok(before)
}

fn spawn(
    program: &OsStr,
    args: &[OsString],
    variables: &[Variable],
    mask: SigSet,
    hold: Option<Hold>,
) -> io::Result<Child> {
    let parent = nix::unistd::getpid();
    let mut command = Command::new(program);
    command.args(args);
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let prepare = move || {
        // SAFETY: four system calls, which may be made between fork and exec.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if nix::unistd::getppid() != parent {
                // The launcher died before the line above.
                libc::_exit(1);
            }
            let pipe = if startup::pipe_was_ignored() { libc::SIG_IGN } else { libc::SIG_DFL };
            libc::signal(libc::SIGPIPE, pipe);
        }
        hold.iter().for_each(Hold::wait);
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&mask), None).map_err(io::Error::from)
    };
    // SAFETY: `prepare` allocates nothing and takes no lock.
    unsafe { command.pre_exec(prepare) }.spawn()
}

/// Waits for the end, passing on signals; gives with it the CPU time of the process.
fn wait(child: &mut Child, signals: &SigSet) -> io::Result<(ExitStatus, u64)> {
    let pid = child.id().cast_signed();
    loop {
        if has_ended(pid)? {
            // Its clock can be read as long as nobody has taken its status.
            let own_ns = process_cpu_ns(pid);
            return Ok((child.wait()?, own_ns));
        }
        // SAFETY: a C structure for which zero is valid, and a set that lives through the call.
        let (signal, info) = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            (libc::sigwaitinfo(signals.as_ref(), &raw mut info), info)
        };
        // What the terminal sends goes to the program as well; what somebody sent to this process alone does not.
        let sent_by_somebody = info.si_code <= 0;
        if signal > 0 && signal != libc::SIGCHLD && sent_by_somebody {
            // SAFETY: the child was not waited for, so the id is still its own.
            unsafe { libc::kill(pid, signal) };
        }
    }
}

/// Whether a child has ended; its status stays there to be taken. nix knows no real-time signals that end a process.
fn has_ended(pid: i32) -> io::Result<bool> {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: a C structure for which zero is valid, which the call fills; it has the process id if there is one that has ended.
    let (result, found) = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let result = libc::waitid(libc::P_PID, pid.unsigned_abs(), &raw mut info, flags);
        (result, info.si_pid())
    };
    Errno::result(result)?;
    Ok(found == pid)
}

/// CPU time that a process has used, ns; 0 if it is gone.
pub(crate) fn process_cpu_ns(pid: i32) -> u64 {
    let time = clock_getcpuclockid(Pid::from_raw(pid)).and_then(clock_gettime);
    time.map_or(0, |time| Duration::from(time).as_nanos() as u64)
}

/// CPU time of all processes that this one has waited for, and of those that they have waited for, ns.
///
/// # Errors
/// What the system said.
pub fn children_cpu_ns() -> nix::Result<u64> {
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let microseconds = |time: TimeVal| time.num_microseconds().unsigned_abs();
    Ok(1000 * (microseconds(used.user_time()) + microseconds(used.system_time())))
}
