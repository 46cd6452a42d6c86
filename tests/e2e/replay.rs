//! Replays of real log files: laws that are known exactly.

use std::fs;

use falloff_format::events::{
    CommunicatorRecord, FunctionRecord, GroupRecord, Item, Message, Mode, SCOPE_COMMUNICATOR, encode_ranks,
};
use falloff_format::node::NodeId;
use falloff_format::records::{Kind, keys};
use falloff_format::sections::members_hash;
use falloff_format::write::{Records, Writer, header};
use serde_json::Value;
use zerocopy::IntoBytes;

use crate::support::{Workshop, bash, build_with, outcome, tools};

/// Writes the log of a rank of a ring in which all give to the next and get from the one before, `steps` times.
fn ring_log(rank: u32, ranks: u32, steps: u64) -> Vec<u8> {
    let mut records = Records::default();
    records.meta(keys::HOST, b"here");
    records.meta(keys::EVENTS, b"mpi");
    for (number, name) in [(0, "MPI_Send"), (1, "MPI_Recv")] {
        let function = FunctionRecord { number, reserved: 0 };
        records.push(Kind::Function, function.as_bytes(), &[name.as_bytes()]);
    }
    let members = (0..ranks).fold(u64::from(ranks), members_hash);
    let mut list = [0; 16];
    let length = encode_ranks(0..ranks, &mut list).unwrap();
    let group = GroupRecord { id: 1, size: ranks, members };
    records.push(Kind::Group, group.as_bytes(), &[&list[..length]]);
    let scope = SCOPE_COMMUNICATOR;
    let world =
        CommunicatorRecord { id: 1, scope, group: 1, others: 0, ordinal: 0, rank, parent: 0, reserved: 0 };
    records.push(Kind::EventCommunicator, world.as_bytes(), &[]);

    let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let mut items = Vec::new();
    for step in 0..steps {
        let (at, post) = (1_000 * step, 2 * step);
        let enter = |function, at_ns| Item::Enter { function, section: 0, context: NodeId(0), at_ns };
        items.extend([
            enter(0, at + 100),
            Item::Send { post, mode: Mode::Standard, to, tag: 0, communicator: 1, bytes: 8 },
            Item::Complete { post, message: None, void: false },
            Item::Leave { at_ns: at + 200 },
            enter(1, at + 200),
            Item::Receive { post: post + 1, from: Some(from), tag: Some(0), communicator: 1 },
            Item::Complete { post: post + 1, message: Some(Message { from, tag: 0, bytes: 8 }), void: false },
            Item::Leave { at_ns: at + 300 },
        ]);
    }
    // What is computed after the last step counts as well.
    items.extend([Item::Enter { function: 0, section: 0, context: NodeId(0), at_ns: 1_000 * steps + 100 }]);
    items.push(Item::Leave { at_ns: 1_000 * steps + 100 });
    let mut writer = Writer::new();
    writer.records(&records);
    writer.events(0, &items);
    let mut head = header();
    (head.rank, head.ranks, head.pid) = (rank as i32, ranks as i32, 1000 + rank);
    head.state = falloff_format::header::STATE_ENDED;
    writer.finish(head)
}

/// By how much each rank ends later in a case of a replay.
fn effects(replay: &Value, case: usize) -> Vec<i64> {
    let effects = replay["cases"][case]["effect_ns"].as_array().unwrap();
    effects.iter().map(|effect| effect.as_i64().unwrap()).collect()
}

#[test]
fn a_ring_of_128_ranks_loses_128_000_for_each_100_of_noise() {
    let shop = Workshop::shared();
    let measurements = shop.path("ring/measurements");
    fs::create_dir_all(&measurements).unwrap();
    for rank in 0..128 {
        fs::write(measurements.join(format!("{rank:06}.falloff")), ring_log(rank, 128, 1280)).unwrap();
    }
    let noise = "noise=0,100,200,300,400,500,600,700";
    let text = format!("\"$FALLOFF\" replay ring --sweep {noise} --format json");
    let replay = outcome(&mut bash(shop.dir(), &text)).expect_code(0).json();
    assert_eq!(replay["matching"]["messages"], 128 * 1280);
    assert_eq!(replay["matching"]["is_whole"], true);
    for case in 0..8 {
        assert_eq!(effects(&replay, case), vec![128_000 * case as i64; 128], "{case}");
    }
    // The same whatever the order of matching, and again.
    let again = outcome(&mut bash(shop.dir(), &text)).expect_code(0).json();
    assert_eq!(again["cases"], replay["cases"]);
}

#[test]
fn a_real_ring_of_8_ranks_obeys_the_law_of_constant_noise() {
    for mpi in ["openmpi", "mpich"] {
        if !tools::have(&[&format!("mpicc.{mpi}"), &format!("mpirun.{mpi}")]) {
            continue;
        }
        let shop = Workshop::shared();
        build_with(&shop, &format!("mpicc.{mpi} -O2"), "events/ring.c", &format!("ring-{mpi}"));
        let text = format!(
            "mpirun.{mpi} -n 8 \"$FALLOFF\" run --events mpi -o ring-run-{mpi} -- ./ring-{mpi} 50 && \
             \"$FALLOFF\" replay ring-run-{mpi} --network overhead=0,latency=0,gap=0,eager=1e9 \
             --sweep noise=100000000,200000000 --format json"
        );
        let replay = outcome(&mut bash(shop.dir(), &text)).expect_code(0).json();
        assert_eq!(replay["matching"]["messages"], 8 * 50);
        // Noise that is far longer than what differs between ranks: each step, and each call before the ring and after it, loses
        // it once. Twice the noise is exactly so much more.
        let (once, twice) = (effects(&replay, 0), effects(&replay, 1));
        let more: Vec<i64> = twice.iter().zip(&once).map(|(twice, once)| twice - once).collect();
        assert_eq!(more, vec![more[0]; 8], "{mpi}");
        assert_eq!(more[0] % 100_000_000, 0, "{mpi}: {}", more[0]);
        assert!(more[0] >= 2 * 50 * 100_000_000, "{mpi}: {}", more[0]);
    }
}

/// Builds a program of `tests/programs/replay` for an MPI, which names the result.
fn built(shop: &Workshop, mpi: &str, program: &str) -> String {
    let name = format!("{program}-{mpi}");
    build_with(shop, &format!("mpicc.{mpi} -O2 -g"), &format!("replay/{program}.c"), &name);
    name
}

/// Runs programs of two ranks, whose bursts are from 0.2 to 2 ms long, and replays them as they were.
fn reproduces(mpi: &str) {
    if !tools::have(&[&format!("mpicc.{mpi}"), &format!("mpirun.{mpi}")]) {
        return;
    }
    let shop = Workshop::alone();
    for program in ["ring", "stencil", "allreduce"] {
        let name = built(&shop, mpi, program);
        let text = format!(
            "mpirun.{mpi} -n 2 \"$FALLOFF\" run --events mpi -o {name}-run -- ./{name} && \
             \"$FALLOFF\" replay {name}-run --format json"
        );
        let replay = outcome(&mut bash(shop.dir(), &text)).expect_code(0).json();
        let error = replay["error_percent"].as_f64().unwrap();
        assert!(error.abs() <= 10.0, "{name} is replayed {error} % off: {}", replay["network"]);
        assert_eq!(replay["network"]["from"], "log", "{name}");
        let text = format!("\"$FALLOFF\" replay {name}-run");
        let said = outcome(&mut bash(shop.dir(), &text)).expect_code(0).stdout;
        assert!(said.contains(&format!("{:.1} %", error.abs())), "{name}, {error}: {said}");
    }
}

#[test]
fn a_replay_reproduces_runs_under_open_mpi() {
    reproduces("openmpi");
}

#[test]
fn a_replay_reproduces_runs_under_mpich() {
    reproduces("mpich");
}

/// What a ring of 4 ranks loses to a trace of detours in two columns: a tenth of its time.
#[test]
fn detours_of_other_tools_are_read_and_told_by_call_path_in_a_database() {
    let shop = Workshop::shared();
    let measurements = shop.path("ring/measurements");
    fs::create_dir_all(&measurements).unwrap();
    for rank in 0..4 {
        fs::write(measurements.join(format!("{rank:06}.falloff")), ring_log(rank, 4, 10_000)).unwrap();
    }
    let trace: String = (0..50).map(|n| format!("{}\t{}\n", 1_000_000 + n * 500, 50)).collect();
    fs::write(shop.path("trace.txt"), format!("# ns\n{trace}")).unwrap();
    let run =
        |words: &str| outcome(&mut bash(shop.dir(), &format!("\"$FALLOFF\" replay ring --noise {words}")));
    let replay = run("trace.txt --co-scheduled -o lost --format json").expect_code(0).json();
    // 800 of each microsecond are computed.
    for effect in effects(&replay, 0) {
        assert!((effect as f64 / (10_000.0 * 800.0 / 9.0) - 1.0).abs() < 0.1, "{effect}");
    }
    let paths = replay["cases"][0]["paths"].as_array().unwrap();
    let sum = |of: &str| paths.iter().filter_map(|path| path[of].as_i64()).sum::<i64>();
    assert_eq!(
        sum("arising_ns") + sum("taken_over_ns") - sum("absorbed_ns"),
        effects(&replay, 0).iter().sum::<i64>()
    );
    let by_path = run("trace.txt --co-scheduled --format csv --by path").expect_code(0).stdout;
    assert!(by_path.starts_with("case,path,arising_ns,taken_over_ns,absorbed_ns,alone_ns\n"), "{by_path}");
    assert_eq!(by_path.lines().count(), 1 + paths.len());

    // The database is one as any other.
    let view = "exec \"$FALLOFF\" view lost --metric disturbed-arising --format json";
    let view = outcome(&mut bash(shop.dir(), view)).expect_code(0).json();
    assert_eq!(view["metric"], "disturbed-arising", "{view}");
    let csv = "exec \"$FALLOFF\" export lost --format csv --by rank -o -";
    let csv = outcome(&mut bash(shop.dir(), csv)).expect_code(0).stdout;
    assert!(csv.contains("disturbed-arising"), "{csv}");
    let again = run("5 -o lost").expect_code(2);
    assert!(again.stderr.contains("`lost`: it is there already"), "{again}");

    // Only of what `falloff noise` measured is it known what a machine has more than another.
    let end = run("trace.txt --noise-beyond trace.txt").expect_code(3);
    assert!(end.stderr.contains("`trace.txt`") && end.stderr.contains("falloff noise -o FILE"), "{end}");
    let end = run("5 --noise-beyond trace.txt").expect_code(2);
    assert!(end.stderr.contains("there is no such file") && end.stderr.contains("--noise-beyond"), "{end}");

    fs::write(shop.path("wrong.txt"), "0 50\n500 50\n1000 half\n").unwrap();
    let end = run("wrong.txt").expect_code(3);
    assert!(end.stderr.contains("detours of `wrong.txt`: line 3: `half` is no number"), "{end}");
    assert!(end.stderr.contains("hint: ") && end.stderr.contains("START<TAB>LENGTH"), "{end}");
}

/// How long a run took and how long a replay of it says that it takes, milliseconds.
fn times(replay: &Value) -> (f64, f64) {
    let last =
        |times: &Value| times.as_array().unwrap().iter().filter_map(Value::as_f64).fold(0.0, f64::max) * 1e-6;
    (last(&replay["measured_ns"]), last(&replay["cases"][0]["finish_ns"]))
}

fn median<const N: usize>(mut values: [f64; N]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[N / 2]
}

/// Writes `quiet.json` and `noisy.json`, the signatures of two ranks without a program beside them and with one beside the first. Both
/// are measured before all ordinary programs.
fn signatures(shop: &Workshop, beside: &str) {
    let of_processor = |processor: u32, beside: &str| -> Value {
        let text =
            format!("{beside} chrt -f 5 taskset -c {processor} \"$FALLOFF\" noise --seconds 4 -o one.json");
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
        serde_json::from_str(&fs::read_to_string(shop.path("one.json")).unwrap()).unwrap()
    };
    let mut second = of_processor(1, "")["ranks"][0].take();
    second["rank"] = 1.into();
    for (name, beside) in [("quiet.json", ""), ("noisy.json", beside)] {
        let mut both = of_processor(0, beside);
        both["ranks"].as_array_mut().unwrap().push(second.clone());
        fs::write(shop.path(name), both.to_string()).unwrap();
    }
}

/// A run beside a program that takes a processor of one of its two ranks again and again is predicted from the run without it, and
/// from what `falloff noise` finds beside it.
fn predicts(mpi: &str, program: &str, steps: u32) {
    if !tools::have(&[&format!("mpicc.{mpi}"), &format!("mpirun.{mpi}"), "gcc", "taskset", "chrt"])
        || !tools::root()
    {
        return;
    }
    let shop = Workshop::alone();
    build_with(&shop, "gcc -O2", "noise/injector.c", "injector");
    let name = built(&shop, mpi, program);
    // Each rank has a processor of its own.
    let on_own = format!(
        "mpirun.{mpi} -n 2 sh -c 'exec taskset -c ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} \"$@\"' pinned \"$FALLOFF\""
    );
    let run = |dir: &str, beside: &str| {
        let text = format!("{beside} {on_own} run --events mpi -o {dir} -- ./{name} {steps}");
        outcome(&mut bash(shop.dir(), &text)).expect_code(0);
    };
    // 4 ms of each 20 ms, for longer than what runs beside it.
    let beside = "./injector 20000 4000 0 60 0 > injected.json & trap \"kill $!\" EXIT; sleep 0.3;";
    signatures(&shop, beside);
    let replay = |words: &str| {
        let text = format!("\"$FALLOFF\" replay {words} --format json");
        times(&outcome(&mut bash(shop.dir(), &text)).expect_code(0).json())
    };
    let undisturbed = |of: usize| {
        run(&format!("quiet{of}"), "");
        replay(&format!("quiet{of} --noise noisy.json --noise-beyond quiet.json"))
    };
    let disturbed = |of: usize| {
        run(&format!("noisy{of}"), beside);
        replay(&format!("noisy{of} --noise 0")).0
    };
    // What else the machine does changes over a minute, so each disturbed run is held against the two around it.
    let mut before = undisturbed(0);
    let runs: [_; 5] = std::array::from_fn(|of| {
        let noisy = disturbed(of);
        let after = undisturbed(of + 1);
        let quiet = std::mem::replace(&mut before, after);
        (quiet, noisy, after)
    });
    let off = median(runs.map(|(quiet, noisy, after)| (quiet.1 + after.1) / 2.0 / noisy)) - 1.0;
    let told = format!("{name}, ms (undisturbed, predicted), disturbed, (undisturbed, predicted): {runs:?}");
    assert!(off.abs() <= 0.2, "predicted {off:+.2} too long: {told}");
}

#[test]
fn a_run_beside_noise_is_predicted_under_open_mpi() {
    predicts("openmpi", "allreduce", 1000);
}

#[test]
fn a_run_beside_noise_is_predicted_under_mpich() {
    predicts("mpich", "stencil", 5000);
}
