//! Many processes, threads and execs under the sampler: no program may be lost.

use crate::support::{Workshop, bash, build, build_with, falloff, health, outcome};

#[test]
fn a_thousand_execs_at_random_phase_lose_no_program() {
    let shop = Workshop::alone();
    let program = build(&shop, "execs");
    let mut command = falloff(["run".as_ref(), "-o".as_ref(), shop.path("dir").as_os_str(), "--".as_ref()]);
    let end = outcome(command.arg(&program).arg("1000")).expect_code(0);
    assert_eq!(end.stdout, "execs 1000\n", "{end}");
}

#[test]
fn a_storm_of_threads_and_forks_loses_none() {
    let shop = Workshop::alone();
    let program = build(&shop, "storm");
    let mut command = falloff(["run".as_ref(), "-o".as_ref(), shop.path("dir").as_os_str(), "--".as_ref()]);
    let end = outcome(command.arg(&program).arg("50")).expect_code(0);
    assert_eq!(end.stdout, "right 600 of 600\n", "{end}");
    // A child that ends before its first sample leaves no file; those that start threads do.
    let health = health(&shop.path("dir"));
    assert!(health.processes > 100 && health.dropped == 0, "{health:?}");
}

#[test]
fn exceptions_and_loading_never_hang() {
    let shop = Workshop::alone();
    shop.copy_folder(&crate::support::programs().join("cases/28-exceptions-dlopen"));
    let text = "gcc -O2 -g -shared -fPIC plug.c -o plug.so && g++ -O2 -g prog.cpp -o prog -pthread -ldl";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    for round in 0..20 {
        let text = format!("exec timeout 30 \"$FALLOFF\" run -e cpu@1000 -o dir{round} -- ./prog");
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    }
}

/// A look at the list of modules reads them; it must not meet one that another thread is unloading.
#[test]
fn loads_unloads_and_new_threads_at_once_fault_nothing() {
    let shop = Workshop::alone();
    build(&shop, "loads");
    for plugin in ["plug_a.so", "plug_b.so"] {
        build_with(&shop, "gcc -O2 -g -shared -fPIC -DPLUGIN", "loads.c", plugin);
    }
    for round in 0..3 {
        let text = format!("exec timeout 60 \"$FALLOFF\" run -e cpu@1000 -o loads{round} -- ./loads 5");
        let end = outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        assert_eq!(end.stdout, "many of both\n", "{end}");
    }
}
