//! The demonstration's losses, planted and measured, as text.

use super::paint::Paint;
use super::table::{Table, percent};
use crate::demo::verdict::{Check, Pair, TOLERANCE, Verdict};

/// The table of one process count.
pub fn verdict(verdict: &Verdict, paint: Paint) -> String {
    let mut table = Table::new(&[
        "share planted",
        "measured",
        "excess planted",
        "measured",
        "max/mean planted",
        "measured",
        "",
        "part",
    ]);
    for check in &verdict.checks {
        table.row(cells(check));
    }
    let mut lines = table.lines();
    for (line, check) in lines.iter_mut().skip(1).zip(&verdict.checks) {
        *line = if check.passes() { line.clone() } else { paint.red(line) };
    }
    let title = format!("PLANTED AND MEASURED AT {} (percent of the work)", verdict.scale);
    let close = if verdict.passes() { paint.green("ok") } else { paint.red("MISSED") };
    let error = 100.0 * verdict.parts_error;
    let but = if error == 0.0 { String::new() } else { format!(" but for {error:.0e} points") };
    let sum = format!(
        "  {close}: every part within {} points; the parts of each view sum to the whole{but}",
        percent(TOLERANCE)
    );
    format!("\n{}\n{}\n{sum}\n", paint.bold(&title), lines.join("\n"))
}

fn cells(check: &Check) -> Vec<String> {
    let shown = |n: Option<f64>| n.map_or("absent".into(), percent);
    let ratio = |r: Option<f64>| r.map_or("-".into(), |r| format!("{r:.2}"));
    let pair = check.max_over_mean;
    vec![
        percent(check.share.planted),
        shown(check.share.measured),
        percent(check.excess.planted),
        format!("{} ± {}", shown(check.excess.measured), percent(check.half_width)),
        ratio(pair.map(|p: Pair| p.planted)),
        ratio(pair.and_then(|p| p.measured)),
        if check.passes() { "ok" } else { "MISSED" }.into(),
        match check.function {
            Some(function) => format!("{function} ({})", check.name),
            None => check.name.into(),
        },
    ]
}
