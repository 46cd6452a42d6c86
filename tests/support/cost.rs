//! What a command takes.

use super::{Workshop, bash, outcome};

/// Runs falloff with the arguments that follow and prints what it took; its own output goes into the file `stdout`.
const MEASURE: &str = "
import os, resource, subprocess, sys
with open('stdout', 'w') as out:
    code = subprocess.run([os.environ['FALLOFF'], *sys.argv[1:]], stdout=out).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
sys.exit(code)
";

/// Peak of resident memory in KiB and CPU time in seconds of `falloff` with these arguments. It must end well; what it printed
/// is in the file `stdout`.
#[track_caller]
pub fn cost(shop: &Workshop, args: &str) -> (f64, f64) {
    std::fs::write(shop.path("measure.py"), MEASURE).unwrap();
    let end = outcome(&mut bash(shop.dir(), &format!("exec python3 measure.py {args}"))).expect_code(0);
    let numbers: Vec<f64> = end.stdout.split_whitespace().map(|n| n.parse().unwrap()).collect();
    (numbers[0], numbers[1])
}
