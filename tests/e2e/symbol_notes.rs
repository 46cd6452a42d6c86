//! What the notes of cases about symbols demand beyond shares.

use std::fs;

use serde_json::Value;

use crate::cases::Evidence;
use crate::notes::{demand, has};
use crate::support::folded::Sample;
use crate::support::{Folded, falloff, outcome, total};

/// Checks the notes of one case; those that are not about symbols have none here.
pub fn check(id: &str, evidence: &Evidence) -> Result<(), String> {
    match id {
        "50-inline-chain" => {
            inlined_calls_have_their_shares(evidence)?;
            a_function_begins_at_its_own_line(evidence)
        }
        "51-split-dwarf" => {
            inlined_calls_have_their_shares(evidence)?;
            missing_split_files_are_said(evidence)
        }
        "53-debuglink" => code_without_names_keeps_its_bounds(evidence),
        "55-nopie-vs-pie" => everything_is_named_alike(evidence),
        "56-deleted-binary" => a_deleted_file_gives_no_names(evidence),
        "58-same-names" => functions_of_one_name_have_a_row_each(evidence),
        "59-huge-names" => huge_names_are_shown_in_time(evidence),
        "65-lto-parts" => calls_stay_under_one_function(evidence),
        _ => Ok(()),
    }
}

/// The profile made anew without the options of the case.
fn without_options(evidence: &Evidence) -> Result<Folded, String> {
    forget(evidence)?;
    Folded::try_export(&evidence.run_dir, "cpu", "process", &[], evidence.shop.dir())
}

/// Removes the kept database.
fn forget(evidence: &Evidence) -> Result<(), String> {
    fs::remove_dir_all(evidence.run_dir.join("database")).map_err(|e| e.to_string())
}

/// Rows of a view.
fn view(evidence: &Evidence, kind: &str) -> Value {
    let dir = evidence.run_dir.to_str().expect("test directories have plain names");
    outcome(&mut falloff(["view", dir, "--view", kind, "--metric", "cpu", "--format", "json"])).json()
}

fn share(evidence: &Evidence, counts: impl Fn(&&Sample) -> bool) -> f64 {
    let all = total(evidence.folded.program()).max(1);
    total(evidence.folded.program().filter(counts)) as f64 / all as f64
}

fn inlined_calls_have_their_shares(evidence: &Evidence) -> Result<(), String> {
    for (function, known) in [("innermost", 0.4), ("middle_inl", 0.2), ("carrier", 0.0)] {
        let share = share(evidence, |sample| sample.ends_in(function));
        demand((share - known).abs() < 0.05, || format!("{function} itself has {share:.3}, not {known}"))?;
    }
    let chain: Vec<String> = ["carrier", "middle_inl", "innermost"].map(str::to_owned).into();
    let share = share(evidence, |sample| sample.passes(&chain));
    demand((share - 0.4).abs() < 0.05, || format!("the whole chain has {share:.3}"))
}

fn a_function_begins_at_its_own_line(evidence: &Evidence) -> Result<(), String> {
    let source = fs::read_to_string(evidence.shop.path("prog.c")).map_err(|e| e.to_string())?;
    let line = |text: &str| source.lines().position(|l| l.contains(text)).map(|at| at as u64 + 1);
    let view = view(evidence, "context");
    let rows = view["rows"].as_array().ok_or("no rows")?;
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).ok_or(format!("no row {name}"));
    let own = row("carrier")?["line"].as_u64();
    demand(own == line("void carrier(void)"), || format!("carrier begins at line {own:?}"))?;
    let call = row("middle_inl")?["call_line"].as_u64();
    demand(call == line("call line L_CARRY"), || format!("middle_inl is called in line {call:?}"))
}

fn missing_split_files_are_said(evidence: &Evidence) -> Result<(), String> {
    for entry in fs::read_dir(evidence.shop.dir()).map_err(|e| e.to_string())?.flatten() {
        if entry.path().extension().is_some_and(|e| e == "dwo" || e == "dwp") {
            fs::remove_file(entry.path()).map_err(|e| e.to_string())?;
        }
    }
    let folded = without_options(evidence)?;
    let named = folded.program().filter(|sample| has(sample, "carrier") || has(sample, "plain"));
    let share = total(named) as f64 / total(folded.program()).max(1) as f64;
    demand(share > 0.95, || format!("without split files {share:.3} have names"))?;
    let warnings = view(evidence, "flat")["warnings"].to_string();
    demand(warnings.contains("split debug files (.dwo) are missing"), || warnings)
}

fn code_without_names_keeps_its_bounds(evidence: &Evidence) -> Result<(), String> {
    let folded = without_options(evidence)?;
    let of = |process: &'static str| folded.program().filter(move |sample| sample.image() == process);
    let named = total(of("prog").filter(|sample| has(sample, "carrier") || has(sample, "plain")));
    demand(named * 20 > total(of("prog")) * 19, || "the linked debug file was not found".into())?;
    // Two hot functions, each with one name, called from a third.
    let mut hot = std::collections::BTreeMap::<&str, u64>::new();
    for sample in of("prog-bare") {
        demand(sample.frames.len() >= 3, || format!("a short path: {sample:?}"))?;
        *hot.entry(sample.frames.last().map_or("", String::as_str)).or_default() += sample.value;
    }
    let all = total(of("prog-bare")).max(1);
    hot.retain(|_, value| *value * 50 > all);
    let unnamed = hot.keys().all(|name| name.starts_with("prog-bare+0x"));
    demand(hot.len() == 2 && unnamed, || format!("hot without names: {hot:?}"))
}

fn everything_is_named_alike(evidence: &Evidence) -> Result<(), String> {
    let rows = view(evidence, "flat");
    let modules = ["prog-nopie", "prog-pie", "prog-high"];
    for name in ["carrier", "plain"] {
        for module in modules {
            let found = rows["rows"].as_array().ok_or("no rows")?.iter();
            let count = found.filter(|row| row["name"] == name && row["module"] == module).count();
            demand(count == 1, || format!("{count} rows of {name} in {module}"))?;
        }
    }
    Ok(())
}

fn a_deleted_file_gives_no_names(evidence: &Evidence) -> Result<(), String> {
    let folded = without_options(evidence)?;
    let wrong = folded.program().filter(|s| s.image() == "prog.tmp").find(|sample| has(sample, "vanishing"));
    demand(wrong.is_none(), || format!("a name out of nowhere: {wrong:?}"))?;
    let unnamed = folded.program().any(|s| s.frames.iter().any(|frame| frame.starts_with("prog.tmp+0x")));
    demand(unnamed, || "the place of code without names is lost".into())
}

fn functions_of_one_name_have_a_row_each(evidence: &Evidence) -> Result<(), String> {
    let view = view(evidence, "flat");
    let rows = view["rows"].as_array().ok_or("no rows")?;
    for (file, known) in [("one.c", 70.0), ("two.c", 30.0)] {
        let is_it =
            |row: &&Value| row["name"] == "helper" && row["file"].as_str().is_some_and(|f| f.ends_with(file));
        let found: Vec<_> = rows.iter().filter(is_it).collect();
        demand(found.len() == 1, || format!("{} rows of helper in {file}", found.len()))?;
        let percent = found[0]["inclusive_percent"].as_f64().unwrap_or(0.0);
        demand((percent - known).abs() < 5.0, || format!("helper in {file} has {percent:.1} %"))?;
    }
    Ok(())
}

fn huge_names_are_shown_in_time(evidence: &Evidence) -> Result<(), String> {
    forget(evidence)?;
    let dir = evidence.run_dir.to_str().expect("test directories have plain names");
    let view = outcome(&mut falloff(["view", dir, "--view", "flat"]));
    demand(view.code() == 0 && view.seconds < 5.0, || format!("{} s\n{view}", view.seconds))?;
    demand(view.stdout.contains("templated_hot<"), || view.stdout)
}

fn calls_stay_under_one_function(evidence: &Evidence) -> Result<(), String> {
    let view = view(evidence, "flat");
    let rows = view["rows"].as_array().ok_or("no rows")?;
    let count =
        rows.iter().filter(|row| row["name"].as_str().is_some_and(|n| n.starts_with("far_work"))).count();
    demand(count == 1, || format!("{count} rows of far_work"))
}
