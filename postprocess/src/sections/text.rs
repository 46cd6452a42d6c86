//! The table of sections for people.

use super::check::Disagreement;
use super::model::{Section, Sections};
use super::times::SectionTimes;

/// Headings of the columns behind the name.
const COLUMNS: [&str; 10] =
    ["times", "locations", "mean s", "min s", "max s", "own s", "span s", "late in s", "+- s", "early out s"];

/// Sections with their times, indented below those around them, and what the columns are.
pub fn table(sections: &Sections) -> String {
    let (times, world) = (sections.times(), sections.world());
    let rows: Vec<(String, [String; COLUMNS.len()])> =
        times.iter().map(|t| (name(sections, world, t.section), cells(t))).collect();
    let longest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max("section".len());
    let mut widths = COLUMNS.map(str::len);
    for (_, cells) in &rows {
        widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = (*width).max(cell.len()));
    }
    let mut out = line("section", longest, &COLUMNS.map(str::to_owned), &widths);
    rows.iter().for_each(|(name, cells)| out += &line(name, longest, cells, &widths));
    out += "\nTimes are sums over a location's instances: from entry to exit (mean, min and max over locations), own: without \
            sections\nwithin. span: from the first entry to the last exit; late in: how much after the first the mean location \
            came, +- the\ndeviation in one instance; early out: how much before the last the mean location left.\n";
    if times.iter().any(|t| t.together.is_none()) {
        out += "Where these are missing no instance has ended, or the locations are on several hosts, whose clocks cannot be compared.\n";
    }
    if times.iter().any(|t| t.together.is_some_and(|together| together.instances < t.instances)) {
        out += "* over the instances that were written; of the others only the sums are known.\n";
    }
    for sentence in
        faults(sections).into_iter().chain(sections.disagreements().iter().map(Disagreement::sentence))
    {
        out += &sentence;
        out.push('\n');
    }
    out
}

fn line(
    name: &str,
    longest: usize,
    cells: &[String; COLUMNS.len()],
    widths: &[usize; COLUMNS.len()],
) -> String {
    let mut out = format!("{name:<longest$}");
    for (cell, width) in cells.iter().zip(widths) {
        out += &format!("  {cell:>width$}");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The label, indented, with the communicator if that is not all ranks.
fn name(sections: &Sections, world: Option<u32>, section: u32) -> String {
    let indent = "  ".repeat(sections.path(section).len().saturating_sub(1));
    let Some(Section { label, communicator, .. }) = sections.sections.get(section as usize) else {
        return indent;
    };
    let some = communicator.filter(|c| Some(*c) != world);
    let of = some.and_then(|c| sections.communicators.get(c as usize));
    // A program may put anything into a label, and a terminal would do what it says.
    let label = label.replace(char::is_control, "?");
    let label = if label.is_empty() { "(no label)" } else { &label };
    match of {
        Some(c) => format!("{indent}{label} (of {})", c.size),
        None => format!("{indent}{label}"),
    }
}

fn cells(times: &SectionTimes) -> [String; COLUMNS.len()] {
    let seconds = |s: f64| format!("{s:.6}");
    let together = times.together.map(|t| {
        let mark = if t.instances < times.instances { "*" } else { "" };
        [
            format!("{:.6}{mark}", t.span),
            seconds(t.entry_imbalance),
            seconds(t.entry_deviation),
            seconds(t.imbalance),
        ]
    });
    let [span, late, deviation, early] = together.unwrap_or_default();
    [
        times.instances.to_string(),
        times.locations.to_string(),
        seconds(times.mean),
        seconds(times.min),
        seconds(times.max),
        seconds(times.exclusive),
        span,
        late,
        deviation,
        early,
    ]
}

/// What programs have called in another way than they should.
fn faults(sections: &Sections) -> Vec<String> {
    let counts = [
        (sections.total(|m| m.unclosed), "sections were closed by the exit of one around them or by the end"),
        (sections.total(|m| m.stray), "exits were of sections that were not open"),
        (
            sections.total(|m| m.beyond),
            "entries had no section of their own: there were too many sections, or too deep",
        ),
    ];
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::instance::Instance;
    use super::super::model::{Dwell, Member};
    use super::*;

    #[test]
    fn people_can_read_it() {
        let section =
            |parent, label: &str, communicator| Section { parent, label: label.into(), communicator };
        let world = falloff_format::sections::members_hash(falloff_format::sections::members_hash(2, 0), 1);
        let dwell = |section, location, count, dwell_ns, nested_ns| Dwell {
            section,
            location,
            count,
            dwell_ns,
            nested_ns,
            unlogged: 0,
        };
        let instance = |section, number, in_ns: u64, out_ns: u64| {
            Instance::of_one(section, number, "node".into(), in_ns, out_ns, false)
        };
        let mut main = instance(0, 0, 0, 10_000_000_000);
        main.join(&instance(0, 0, 1_000_000_000, 9_000_000_000));
        let mut elsewhere = instance(2, 0, 5, 6);
        elsewhere.host = None;
        let sections = Sections {
            sections: vec![
                section(None, "MPI_MAIN", Some(0)),
                section(Some(0), "HALO", None),
                section(Some(0), "ROW", Some(1)),
            ],
            communicators: vec![
                super::super::Communicator { size: 2, members: world },
                super::super::Communicator { size: 1, members: 5 },
            ],
            members: vec![Member {
                communicator: None,
                location: 0,
                rank: 0,
                calls: 0,
                order: 0,
                unclosed: 3,
                stray: 0,
                beyond: 0,
            }],
            checkpoints: Vec::new(),
            dwells: vec![
                dwell(0, 0, 1, 10_000_000_000, 4_000_000_000),
                dwell(0, 1, 1, 8_000_000_000, 4_000_000_000),
                dwell(1, 0, 200, 4_000_000_000, 0),
                dwell(2, 1, 1, 1, 0),
            ],
            instances: vec![main, instance(1, 0, 7_000_000, 9_000_000), elsewhere],
        };
        insta::assert_snapshot!(table(&sections));
    }
}
