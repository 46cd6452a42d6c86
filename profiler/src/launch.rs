//! Starts the program, passes signals on to it and waits for its end.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};

use crate::{Error, startup};

/// A variable of the environment and what it is set to; `None` takes it away.
pub(crate) type Variable = (OsString, Option<OsString>);

/// Starts `program` with these variables in front of the environment, and waits. Gives its process id and ending.
///
/// The program gets the signal mask and the dispositions that this process got, and dies with it.
pub(crate) fn launch(
    program: &OsStr,
    args: &[OsString],
    variables: &[Variable],
) -> Result<(u32, ExitStatus), Error> {
    let failed = |what| move |source| Error::Process { what, source };
    let waited = waited_signals();
    let before = swap_mask(&waited).map_err(|e| failed("start")(e.into()))?;
    let child = spawn(program, args, variables, before)
        .map_err(|source| Error::NotExecutable { path: program.into(), source });
    let ended = child.and_then(|mut child| {
        let status = wait(&mut child, &waited).map_err(failed("wait for"))?;
        Ok((child.id(), status))
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

fn spawn(program: &OsStr, args: &[OsString], variables: &[Variable], mask: SigSet) -> io::Result<Child> {
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
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&mask), None).map_err(io::Error::from)
    };
    // SAFETY: `prepare` allocates nothing and takes no lock.
    unsafe { command.pre_exec(prepare) }.spawn()
}

fn wait(child: &mut Child, signals: &SigSet) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
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
            unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        }
    }
}
