//! Running commands with a time limit and keeping what they said.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// No command of a test takes this long unless it hangs or builds much.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// How a command ended and what it said.
pub struct Outcome {
    pub command: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
}

impl Outcome {
    /// The exit status, or 128 + n after death by signal n, as a shell shows it.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Insists on an exit status.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "wrong exit status\n{self}");
        self
    }

    /// stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("stdout is not JSON: {e}\n{self}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}\n{} after {:.2} s", self.command, self.status, self.seconds)?;
        writeln!(f, "--- stdout\n{}--- stderr\n{}---", self.stdout, self.stderr)
    }
}

/// The falloff under test, free of settings from the tester's own environment.
pub fn falloff<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_falloff"));
    command.args(args);
    prepare(&mut command);
    command
}

/// `falloff run -o DIR -- PROGRAM…` in the folder `cwd`.
pub fn falloff_run<S: AsRef<OsStr>>(cwd: &Path, dir: &Path, program: impl IntoIterator<Item = S>) -> Command {
    let mut command = falloff([OsStr::new("run"), OsStr::new("-o"), dir.as_os_str(), OsStr::new("--")]);
    command.args(program).current_dir(cwd);
    command
}

/// A bash command line in the folder `cwd`; `$FALLOFF` is the falloff under test.
pub fn bash(cwd: &Path, text: &str) -> Command {
    let mut command = Command::new("bash");
    command.args(["-c", text]).current_dir(cwd).env("FALLOFF", env!("CARGO_BIN_EXE_falloff"));
    prepare(&mut command);
    command
}

/// Settings that let Open MPI run as root with more ranks than processors, and keep libraries to one thread.
fn prepare(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FALLOFF_") {
            command.env_remove(name);
        }
    }
    command
        .env_remove("DEBUGINFOD_URLS")
        .env("FALLOFF_CACHE", "0")
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .envs([("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_hwloc_base_binding_policy", "none")])
        .envs([("OMPI_MCA_mpi_yield_when_idle", "1"), ("OMPI_MCA_osc", "^rdma")])
        .envs([("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1"), ("OMP_WAIT_POLICY", "passive")])
        .envs([("LC_ALL", "C.UTF-8"), ("NO_COLOR", "1")])
        .stdin(Stdio::null());
}

/// Runs a command to its end with empty input.
#[track_caller]
pub fn outcome(command: &mut Command) -> Outcome {
    Running::start(command).wait()
}

/// A command on its way.
pub struct Running {
    name: String,
    child: Child,
    start: Instant,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    /// Starts a command in a process group of its own.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let name = format!("{command:?}");
        let start = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|e| panic!("failed to start {name}: {e}"));
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        Self { name, child, start, stdout, stderr }
    }

    /// Sends a signal to the command alone.
    pub fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(self.pid(), signal).expect("failed to send the signal");
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Waits for the end as long as a command of a test may take.
    #[track_caller]
    pub fn wait(self) -> Outcome {
        self.wait_at_most(TIME_LIMIT)
    }

    /// Waits for the end; a command that takes too long is killed with its children and fails the test.
    #[track_caller]
    pub fn wait_at_most(mut self, limit: Duration) -> Outcome {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("failed to wait") {
                break status;
            }
            if self.start.elapsed() > limit {
                let _ = killpg(self.pid(), Signal::SIGKILL);
                panic!("no end after {} s: {}", limit.as_secs(), self.name);
            }
            thread::sleep(Duration::from_millis(5));
        };
        let seconds = self.start.elapsed().as_secs_f64();
        Outcome {
            command: self.name,
            status,
            stdout: text(&self.stdout),
            stderr: text(&self.stderr),
            seconds,
        }
    }
}

/// Reads a stream to its end in a thread, so that a full pipe stops nobody.
fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}

/// What a stream held; a process left behind by the command may keep the pipe open, which is a failure too.
#[track_caller]
fn text(stream: &Receiver<String>) -> String {
    stream.recv_timeout(Duration::from_secs(10)).expect("a process left behind keeps the output open")
}

/// The folder of the tests' programs.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs")
}

/// The folder of the tests' input files.
pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data")
}
