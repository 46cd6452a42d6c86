//! Programs that break ordinary profilers, each with its known answer: `tests/programs/cases/*/case.toml`.
//!
//! A case names how to build and run a program, how the run must end and what it must print, and the shares of
//! CPU time that its functions are known to have.

use std::fs;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde::Deserialize;

use crate::shares::{Hot, Profile};
use crate::support::folded::Sample;
use crate::support::measured::handler_stack;
use crate::support::source::Source;
use crate::support::{Folded, Outcome, Workshop, bash, outcome, programs, tools, total};

/// One `case.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    #[expect(dead_code, reason = "for readers")]
    kind: String,
    #[serde(default)]
    #[expect(dead_code, reason = "for readers")]
    refs: Vec<String>,
    build: String,
    run: String,
    clean: Option<String>,
    exit: Option<i32>,
    signal: Option<String>,
    #[serde(default)]
    stdout: Vec<String>,
    #[serde(default)]
    stderr: Vec<String>,
    #[expect(dead_code, reason = "for readers; what a machine can check of it is in notes.rs")]
    notes: Vec<String>,
    #[serde(default)]
    export_args: String,
    profile: Option<String>,
    #[serde(default)]
    hot: Vec<Hot>,
}

/// Stack that a handler may use, in bytes.
const HANDLER_STACK_MAX: u64 = 4096;

/// What one case left behind, for the checks of its notes.
pub struct Evidence {
    pub shop: Workshop,
    pub run_dir: PathBuf,
    pub outcome: Outcome,
    pub folded: Folded,
}

/// Runs one case by its id.
pub fn check(id: &str) {
    let folder = programs().join("cases").join(id);
    let text = fs::read_to_string(folder.join("case.toml")).expect("unreadable case.toml");
    let case: Case = toml::from_str(&text).unwrap_or_else(|e| panic!("{id}: {e}"));
    assert_eq!(case.id, id, "the folder and the id differ");
    if !tools::have(&case.tools()) {
        return;
    }
    let shop = Workshop::alone();
    shop.copy_folder(&folder);
    outcome(&mut bash(shop.dir(), &case.build)).expect_code(0);
    let run_dir = shop.path("measured by falloff");
    let outcome = outcome(bash(shop.dir(), &case.command_line()).env("RUN_DIR", &run_dir));
    case.check_end(&outcome);
    case.check_profile(shop, run_dir, outcome).unwrap_or_else(|why| panic!("{id}: {why}"));
}

impl Case {
    /// The tools beyond gcc that the build and the run call.
    fn tools(&self) -> Vec<&'static str> {
        const OPTIONAL: &[(&str, &str)] = &[
            ("gfortran ", "gfortran"),
            ("g++ ", "g++"),
            ("mpicc ", "mpicc"),
            ("mpirun ", "mpirun"),
            ("musl-gcc ", "musl-gcc"),
            ("fuse-ld=lld", "ld.lld"),
            ("python3 ", "python3"),
            ("dwp ", "dwp"),
        ];
        let text = format!("{} {}", self.build, self.run);
        OPTIONAL.iter().filter(|(word, _)| text.contains(word)).map(|&(_, tool)| tool).collect()
    }

    /// The tool goes in front of a plain program, or of a shell that runs the whole text when it is more.
    fn command_line(&self) -> String {
        let plain = self.run.starts_with("./") || self.run.starts_with("'./");
        let program = if plain { self.run.clone() } else { format!("bash -c {}", quoted(&self.run)) };
        let source = Source::chosen();
        let options = source.options(source.rate());
        format!("exec \"$FALLOFF\" run {options} -o \"$RUN_DIR\" -- {program}")
    }

    /// Exit status or signal, and the lines that must appear.
    fn check_end(&self, outcome: &Outcome) {
        let signal = self.signal.as_deref().map(|name| name.parse::<Signal>().expect("unknown signal"));
        let code = signal.map_or(self.exit.unwrap_or(0), |signal| 128 + signal as i32);
        assert_eq!(outcome.code(), code, "wrong end\n{outcome}");
        for (stream, lines) in [(&outcome.stdout, &self.stdout), (&outcome.stderr, &self.stderr)] {
            let mut said: Vec<_> = stream.lines().collect();
            for line in lines {
                let Some(at) = said.iter().position(|said| said == line) else {
                    panic!("the line `{line}` is missing\n{outcome}");
                };
                said.remove(at);
            }
        }
    }

    /// Known shares, then what the notes say.
    #[expect(clippy::print_stderr, reason = "shown with --nocapture: how sure every check is")]
    fn check_profile(&self, shop: Workshop, run_dir: PathBuf, outcome: Outcome) -> Result<(), String> {
        if self.profile.as_deref() == Some("lost") {
            return Ok(());
        }
        let more: Vec<_> = self.export_args.split_whitespace().collect();
        let export = |metric| Folded::try_export(&run_dir, metric, "process", &more, shop.dir());
        let rate = Source::chosen().rate();
        let profile = Profile { cpu: export("cpu")?, samples: export("samples")?, rate };
        let mut wrong = Vec::new();
        for hot in &self.hot {
            match hot.check(&profile, &outcome.stderr) {
                Ok(says) => eprintln!("{}: {says}", self.id),
                Err(why) => wrong.push(why),
            }
        }
        if !wrong.is_empty() {
            return Err(format!("{}\n{}", wrong.join("\n"), summary(&profile.cpu)));
        }
        let stack = handler_stack(&run_dir);
        if stack >= HANDLER_STACK_MAX {
            return Err(format!("a handler has used {stack} bytes of stack"));
        }
        eprintln!("{}: {stack} bytes of stack in handlers", self.id);
        let evidence = Evidence { shop, run_dir, outcome, folded: profile.cpu };
        let noted = super::notes::check(&self.id, &evidence);
        if let Some(clean) = &self.clean {
            crate::support::outcome(&mut bash(evidence.shop.dir(), clean)).expect_code(0);
        }
        noted.map_err(|why| format!("{why}\n{}", summary(&evidence.folded)))
    }
}

/// The heaviest paths of a profile, to explain a failure.
fn summary(folded: &Folded) -> String {
    let mut samples: Vec<_> = folded.samples.iter().collect();
    samples.sort_by_key(|sample| std::cmp::Reverse(sample.value));
    let line = |sample: &&Sample| {
        let from = sample.frames.len().saturating_sub(8);
        format!("{:>9} us {} …{}", sample.value, sample.process, sample.frames[from..].join(";"))
    };
    let lines: Vec<_> = samples.iter().take(15).map(line).collect();
    format!(
        "{} us sampled, {} us not; heaviest:\n{}",
        total(folded.samples.iter()),
        total(folded.unsampled.iter()),
        lines.join("\n")
    )
}

/// A word for bash.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

macro_rules! cases {
    ($($name:ident = $id:literal,)*) => {
        $(#[test] fn $name() { check($id); })*

        #[test]
        fn every_case_has_its_test() {
            let folder = fs::read_dir(programs().join("cases")).expect("unreadable folder of cases");
            let mut found: Vec<_> = folder.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            found.sort();
            assert_eq!(found, [$($id),*]);
        }
    };
}

cases! {
    case_01_fork_no_exec = "01-fork-no-exec",
    case_03_spawn_system = "03-spawn-system",
    case_04_exec_same_pid = "04-exec-same-pid",
    case_05_exit_in_thread = "05-exit-in-thread",
    case_07_raw_exit_group = "07-raw-exit-group",
    case_08_segv_after_work = "08-segv-after-work",
    case_10_term_abort = "10-term-abort",
    case_12_ctor_threads = "12-ctor-threads",
    case_13_closes_fds = "13-closes-fds",
    case_14_zero_samples = "14-zero-samples",
    case_16_fork_in_threads = "16-fork-in-threads",
    case_20_eintr_blocking = "20-eintr-blocking",
    case_21_own_sigprof = "21-own-sigprof",
    case_22_block_all_signals = "22-block-all-signals",
    case_24_signal_frames = "24-signal-frames",
    case_26_small_stacks = "26-small-stacks",
    case_27_hostile_malloc = "27-hostile-malloc",
    case_28_exceptions_dlopen = "28-exceptions-dlopen",
    case_30_deep_recursion = "30-deep-recursion",
    case_31_mutual_recursion = "31-mutual-recursion",
    case_32_tail_call = "32-tail-call",
    case_34_swapcontext_fibers = "34-swapcontext-fibers",
    case_36_no_cfi_asm = "36-no-cfi-asm",
    case_37_jit_code = "37-jit-code",
    case_39_vdso_plt = "39-vdso-plt",
    case_40_text_remap = "40-text-remap",
    case_41_dlopen_same_address = "41-dlopen-same-address",
    case_43_lld_layout = "43-lld-layout",
    case_44_debug_frame_only = "44-debug-frame-only",
    case_50_inline_chain = "50-inline-chain",
    case_51_split_dwarf = "51-split-dwarf",
    case_53_debuglink = "53-debuglink",
    case_55_nopie_vs_pie = "55-nopie-vs-pie",
    case_56_deleted_binary = "56-deleted-binary",
    case_58_same_names = "58-same-names",
    case_59_huge_names = "59-huge-names",
    case_60_fortran_names = "60-fortran-names",
    case_65_lto_parts = "65-lto-parts",
    case_70_static_binary = "70-static-binary",
    case_71_musl_binary = "71-musl-binary",
    case_73_names_with_spaces = "73-names-with-spaces",
    case_74_file_size_limit = "74-file-size-limit",
    case_75_chdir_relative = "75-chdir-relative",
    case_77_many_ranks_one_dir = "77-many-ranks-one-dir",
    case_80_strong_scaling = "80-strong-scaling",
    case_81_rank0_slow = "81-rank0-slow",
    case_84_openmp_idle = "84-openmp-idle",
    case_85_mpi_imbalance = "85-mpi-imbalance",
    case_86_mpi_abort = "86-mpi-abort",
    case_88_python_native = "88-python-native",
}
