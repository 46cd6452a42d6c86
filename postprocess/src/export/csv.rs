//! Contexts as comma-separated values.

use std::io::{self, Write};

use super::profile::{Group, Profile, with_callers};
use crate::cct::Tree;
use crate::views::Costs;
use crate::views::csv::quoted;

/// Rows deeper than this have no path: it would make the file grow with the square of the depth.
const PATH_LEVELS: u32 = 512;

/// Writes one row for each context, with the inclusive and exclusive value of every metric; if locations are kept apart,
/// one for each context and group in which it has cost, with the group's label in the column `group`.
///
/// Values are those of the calling context view, so that a function has the exclusive cost of its statements. `path` holds
/// the names from below the root, joined by `;` (written `:` in names). Values are in nanoseconds (`_ns`) or counts
/// (`_count`). Fields are quoted as in RFC 4180.
///
/// # Errors
/// Those of `out`.
pub fn csv(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let tree = profile.tree();
    let grouped = profile.groups().iter().any(|group| !group.label.is_empty());
    headings(profile, grouped, out)?;
    let depths = depths(tree);
    for group in profile.groups() {
        let costs = Costs::new(tree, &columns(profile, group));
        let costly = costly(profile, group);
        for context in (0..tree.len()).filter(|context| costly[*context]) {
            write!(out, "{}", cells(tree, context as u32, depths[context]))?;
            if grouped {
                write!(out, ",{}", quoted(&group.label))?;
            }
            for (inclusive, exclusive) in costs.inclusive.iter().zip(&costs.exclusive) {
                write!(out, ",{},{}", inclusive[context], exclusive[context])?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn headings(profile: &Profile, grouped: bool, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "context,parent,depth,kind,name,module,file,line,call_line,path")?;
    if grouped {
        write!(out, ",group")?;
    }
    for metric in profile.metrics() {
        for what in ["inclusive", "exclusive"] {
            write!(out, ",{}", quoted(&format!("{}_{what}_{}", metric.name, metric.unit.suffix())))?;
        }
    }
    writeln!(out)
}

/// What does not depend on metrics.
fn cells(tree: &Tree, context: u32, depth: u32) -> String {
    let scope = tree.scope(context);
    let number = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
    let text = |t: Option<&str>| t.map_or(String::new(), quoted);
    let names = || tree.path(context).into_iter().map(|c| tree.scope(c).name.replace(';', ":"));
    let path = if depth <= PATH_LEVELS { names().collect::<Vec<_>>().join(";") } else { String::new() };
    let cells = [
        context.to_string(),
        number(tree.parent(context)),
        depth.to_string(),
        scope.kind.word().into(),
        quoted(&scope.name),
        text(scope.module.as_deref()),
        text(scope.file.as_deref()),
        number(scope.line),
        number(scope.call_line),
        quoted(&path),
    ];
    cells.join(",")
}

/// Steps from the root to every context.
fn depths(tree: &Tree) -> Vec<u32> {
    let mut depths = vec![0; tree.len()];
    for (context, at) in tree.contexts().iter().enumerate().skip(1) {
        depths[context] = depths[at.parent as usize] + 1;
    }
    depths
}

/// Exclusive values of a group, one column for each metric.
fn columns(profile: &Profile, group: &Group) -> Vec<Vec<f64>> {
    let column = |metric| {
        let mut column = vec![0.0; profile.tree().len()];
        group.costs(metric).iter().for_each(|(context, cost)| column[*context as usize] = *cost);
        column
    };
    (0..profile.metrics().len()).map(column).collect()
}

/// For each context, whether it or anything below it has cost in the group; the root always counts.
fn costly(profile: &Profile, group: &Group) -> Vec<bool> {
    let mut own = vec![false; profile.tree().len()];
    own[0] = true;
    group.mark(&mut own);
    with_callers(profile.tree(), own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::export::{By, samples};
    use crate::synthetic;

    fn text(database: &Database, metrics: &[&str], by: By) -> String {
        let mut out = Vec::new();
        csv(&Profile::new(database, metrics, by), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_context_is_a_row() {
        let database = synthetic::database();
        let text = text(&database, &["cpu", "samples"], By::None);
        assert_eq!(text.lines().count(), 1 + database.tree().len());
        insta::assert_snapshot!("csv", text);
    }

    #[test]
    fn groups_add_up() {
        let database = synthetic::database();
        let text = text(&database, &["cpu"], By::Rank);
        let roots: Vec<&str> = text.lines().filter(|line| line.starts_with("0,")).collect();
        assert_eq!(roots.len(), 2);
        assert!(roots[1].contains(",rank 1,"), "{}", roots[1]);
        let inclusive = |line: &&str| line.rsplit(',').nth(1).unwrap().parse::<f64>().unwrap();
        let whole: f64 = database.exclusive_totals("cpu").unwrap().iter().sum();
        assert_eq!(roots.iter().map(inclusive).sum::<f64>(), whole);
        // The partial unwind is one of rank 0 only.
        assert_eq!(text.lines().filter(|line| line.contains("[partial]")).count(), 2);
    }

    #[test]
    fn strange_names_are_quoted_and_deep_rows_have_no_path() {
        let text = text(&samples::awkward(), &["cpu"], By::None);
        assert!(text.contains(",\"(1) say; \"\"hi\"\"\","));
        assert!(text.contains(",\"main;(1) say: \"\"hi\"\"\","));
        assert!(text.contains(",main;größe_β,"));
        assert!(text.len() < 4_000_000, "{} bytes", text.len());
        assert!(text.contains(",,1,1\n"));
        let negative = samples::difference();
        assert!(self::text(&negative, &["cpu"], By::Rank).contains(",-"));
        assert_eq!(self::text(&samples::empty(), &["cpu"], By::None).lines().count(), 1);
    }
}
