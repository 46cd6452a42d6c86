//! `falloff score` on made-up sweeps: what it takes, its tables, its figures.

use std::collections::BTreeMap;
use std::fs;

use falloff_generator::Sweep;

use crate::support::{Workshop, bash, cost, outcome};

fn generated(scales: &[u32], contexts: u32) -> Workshop {
    let shop = Workshop::shared();
    let sweep = Sweep { scales: scales.to_vec(), repetitions: 3, contexts, density: 0.01 };
    sweep.write(&shop.path("sweep")).unwrap();
    shop
}

/// A tenth of what the performance page is about, with room for a busy machine.
#[test]
fn ten_thousand_call_paths_at_eight_counts_are_scored_at_once() {
    let shop = generated(&[1, 2, 4, 8, 16, 32, 64, 128], 10_000);
    cost(&shop, "score sweep");
    let (kib, seconds) = cost(&shop, "score sweep");
    assert!(kib < 500_000.0, "{kib} KiB");
    assert!(seconds < 5.0, "{seconds} s");
    let report = fs::read_to_string(shop.path("stdout")).unwrap();
    assert!(report.contains("24 of 24 good") && report.contains("<rare>: "), "{report}");
}

/// Rows of a CSV table by heading. No field of these has a comma.
fn table(shop: &Workshop, name: &str, args: &str) -> Vec<BTreeMap<String, String>> {
    let text = format!("exec \"$FALLOFF\" score sweep --format csv --table {name} {args}");
    let text = outcome(&mut bash(shop.dir(), &text)).expect_code(0).stdout;
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let headings = lines.next().unwrap_or_default();
    lines.map(|cells| headings.iter().cloned().zip(cells).collect()).collect()
}

fn number(row: &BTreeMap<String, String>, field: &str) -> f64 {
    row.get(field)
        .and_then(|cell| cell.parse().ok())
        .unwrap_or_else(|| panic!("no number `{field}` in {row:?}"))
}

#[test]
fn tables_hang_together() {
    let shop = generated(&[1, 2, 4], 300);
    let scales = table(&shop, "scales", "");
    let counts: Vec<&str> = scales.iter().map(|row| row["processors"].as_str()).collect();
    assert_eq!(counts, ["1", "2", "4"]);
    assert_eq!(scales[0]["previous_processors"], "");
    assert_eq!(scales[2]["previous_processors"], "2");
    let total = number(&scales[2], "excess_percent");
    let view = table(&shop, "view", "");
    assert!((number(&view[0], "excess_incl_percent") - total).abs() < 1e-9);
    let causes: f64 = table(&shop, "causes", "").iter().map(|row| number(row, "excess_percent")).sum();
    assert!((causes - total).abs() < 1e-9, "{causes} {total}");
    assert_eq!(table(&shop, "efficiencies", "").len(), 3);
    let steps = table(&shop, "steps", "");
    assert_eq!(steps.len(), 2 * view.len());
    for row in &view {
        let parts =
            steps.iter().filter(|step| step["id"] == row["id"]).map(|step| number(step, "part_incl_percent"));
        assert!((parts.sum::<f64>() - number(row, "excess_incl_percent")).abs() < 1e-9, "{row:?}");
    }
    // What strong scaling expects of each process, said as a formula.
    assert_eq!(table(&shop, "scales", "--expect .=1/p").len(), 3);
    let own = table(&shop, "view", "--expect .=N/p --arg N=7");
    assert!((number(&own[0], "excess_incl_percent") - total).abs() < 1e-9);
    let json = outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" score sweep --format json --steps --weak"))
        .expect_code(0);
    let steps = json.json()["contexts"][0]["steps"].as_array().map(Vec::len);
    assert_eq!(steps, Some(2));
}

#[test]
fn figures_are_whole_svg_files() {
    let shop = generated(&[1, 2, 4], 300);
    let end =
        outcome(&mut bash(shop.dir(), "exec \"$FALLOFF\" score sweep --plots new/figures")).expect_code(0);
    for (name, words) in [
        ("speedup.svg", ["Speed-up", "ideal"]),
        ("efficiency.svg", ["Efficiency", "efficiency, %"]),
        ("causes.svg", ["Excess work by cause", "more own work"]),
    ] {
        assert!(end.stderr.contains(&format!("wrote new/figures/{name}")), "{end}");
        let svg = fs::read_to_string(shop.path("new/figures").join(name)).unwrap();
        assert!(words.iter().all(|word| svg.contains(word)) && svg.contains(">processors<"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let parse = format!("python3 -c \"import xml.dom.minidom as x; x.parse('new/figures/{name}')\"");
        outcome(&mut bash(shop.dir(), &parse)).expect_code(0);
    }
}
