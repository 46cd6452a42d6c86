//! What the doctor says of machines that are made up.

use falloff_postprocess::SymbolSource;
use falloff_profiler::event::known_events;
use falloff_profiler::probe::{Access, Machine, Obstacle};
use falloff_workflow::doctor::{EventAccess, Examination, LauncherFound, Trial, json, text};
use falloff_workflow::report::Paint;
use nix::errno::Errno;

/// A machine of one's own, with everything allowed.
fn workstation() -> Examination {
    let machine = Machine {
        kernel: "6.12.3".into(),
        glibc: "2.41".into(),
        processors: 16,
        virtual_machine: false,
        counters: vec!["cpu".into()],
        tick_hz: Some(1000),
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
    };
    let trial = Trial {
        cpu_used_seconds: 0.400,
        cpu_measured_seconds: 0.399,
        has_time: true,
        clocks: vec!["CPU time by CPU timer, waits by context switches".into()],
        c_library_names: Some(SymbolSource::Debug),
    };
    Examination {
        machine,
        task_clock: Access::Full,
        switches: Access::Full,
        events: known_events().map(|event| EventAccess { event, access: Access::Full }).collect(),
        launchers: vec![LauncherFound { name: "mpirun".into(), flavour: Some("Open MPI".into()) }],
        trial: Ok(trial),
    }
}

/// A virtual machine without counters, for a user without rights.
fn guest() -> Examination {
    let mut guest = workstation();
    guest.machine.virtual_machine = true;
    guest.machine.counters.clear();
    guest.machine.perf_event_paranoid = Some(2);
    guest.machine.ptrace_scope = None;
    (guest.task_clock, guest.switches) = (Access::UserOnly, Access::UserOnly);
    for tried in &mut guest.events {
        tried.access = match tried.event.is_hardware() {
            true => Access::Refused(Errno::ENOENT),
            false => Access::UserOnly,
        };
    }
    guest.launchers.clear();
    if let Ok(trial) = &mut guest.trial {
        trial.clocks = vec!["CPU time by CPU timer, waits by timed calls".into()];
        trial.c_library_names = Some(SymbolSource::Symbols);
    }
    guest
}

/// A container on an old system that forbids everything, where not even the trial came out.
fn container() -> Examination {
    let mut container = guest();
    container.machine.kernel = "5.10.0-28-amd64".into();
    container.machine.glibc = "2.31".into();
    container.machine.virtual_machine = false;
    container.machine.seccomp = true;
    container.machine.perf_event_paranoid = Some(3);
    container.machine.run_delay = false;
    let refused = Access::Refused(Errno::EPERM);
    (container.task_clock, container.switches) = (refused, refused);
    container.events.iter_mut().for_each(|tried| tried.access = refused);
    container.trial = Err(Obstacle {
        reason: "failed to make the directory /tmp/falloff-doctor-1: Read-only file system".into(),
        remedy: "set TMPDIR to a directory that can be written".into(),
    });
    container
}

fn plain(examination: &Examination) -> String {
    text(examination, Paint { colour: false }, 100)
}

#[test]
fn a_machine_where_everything_works() {
    assert!(workstation().works());
    insta::assert_snapshot!("workstation", plain(&workstation()));
}

#[test]
fn a_guest_without_counters_and_rights() {
    assert!(guest().works());
    insta::assert_snapshot!("guest", plain(&guest()));
}

#[test]
fn a_container_that_forbids_everything() {
    assert!(!container().works());
    insta::assert_snapshot!("container", plain(&container()));
}

#[test]
fn a_container_whose_kernel_is_new() {
    let mut container = container();
    container.machine.kernel = "6.1.0".into();
    let report = plain(&container);
    assert!(report.contains("--cap-add PERFMON"), "{report}");
}

#[test]
fn a_wrong_trial_is_no_good() {
    let mut wrong = workstation();
    if let Ok(trial) = &mut wrong.trial {
        trial.cpu_measured_seconds = 0.3;
    }
    assert!(!wrong.works());
    let report = plain(&wrong);
    assert!(report.contains("missing time: a trial's CPU time is 25.0 % from the truth"), "{report}");
    assert!(report.ends_with("falloff does not work here\n"));
}

#[test]
fn json_has_every_event() {
    let json: serde_json::Value = serde_json::from_str(&json(&guest()).unwrap()).unwrap();
    assert_eq!((json["schema"].as_str(), json["works"].as_bool()), (Some("falloff.doctor"), Some(true)));
    let events = json["events"].as_array().unwrap();
    assert_eq!(events.len(), known_events().count());
    let cycles = events.iter().find(|e| e["name"] == "cycles").unwrap();
    assert_eq!(cycles["access"], serde_json::json!({"refused": Errno::ENOENT as i32}));
    assert_eq!(cycles["obstacle"]["reason"], "this machine's virtual CPU has no counters");
    assert_eq!(json["trial"]["c_library_names"], "symbols");
    assert_eq!(json["machine"]["perf_event_paranoid"], 2);
}
