//! Programs for another processor, made and run with Debian's cross compiler and emulator.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::string::String;

/// The ways to compile that differ in their frames: pairs of frame pointer and link register, as few as possible, return
/// addresses signed, and no optimisation.
pub const FLAGS: [&[&str]; 4] = [
    &["-O2"],
    &["-O2", "-fomit-frame-pointer", "-momit-leaf-frame-pointer"],
    &["-O2", "-mbranch-protection=standard"],
    &["-O0"],
];

/// Compiles `tests/programs/aarch64.c` into `directory`; `None` where the compiler is missing.
pub fn compile(directory: &Path, flags: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/aarch64.c");
    let program = directory.join("aarch64");
    let mut command = Command::new("aarch64-linux-gnu-gcc");
    command.args(flags).args(["-fasynchronous-unwind-tables", "-o"]).arg(&program).arg(source);
    let output = run(command, "gcc-aarch64-linux-gnu and libc6-dev-arm64-cross")?;
    assert!(output.is_empty(), "{output}");
    Some(program)
}

/// What a program prints; `None` where the emulator is missing.
pub fn emulate(program: &Path) -> Option<String> {
    let mut command = Command::new("qemu-aarch64");
    command.arg(program);
    run(command, "qemu-user")
}

/// Standard output of a command. A missing one skips the test, which then says what to install; but not in CI.
#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
fn run(mut command: Command, packages: &str) -> Option<String> {
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) => {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{command:?}: {error}");
            std::eprintln!("skipped: failed to run {command:?}: {error}\nhint: apt-get install {packages}");
            None
        }
    }
}
