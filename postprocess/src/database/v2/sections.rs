//! The tables of sections. A database without sections has none of them.

use std::sync::Arc;

use super::write::{i64s, texts, u32s, u64s};
use crate::database::column::{Column, Kind};
use crate::database::table::Table;
use crate::sections::{Checkpoint, Communicator, Dwell, Instance, Member, Section, SectionValue, Sections};

const SECTIONS: &str = "sections";
const COMMUNICATORS: &str = "communicators";
const MEMBERS: &str = "section_members";
const CHECKPOINTS: &str = "section_checkpoints";
const DWELLS: &str = "section_dwells";
const INSTANCES: &str = "section_instances";
/// Name of the table of values, which is read only when it is asked for.
pub(in crate::database) const SECTION_VALUES: &str = "section_values";

/// The tables that are read with the database.
pub(in crate::database) const SECTION_TABLES: [&str; 6] =
    [SECTIONS, COMMUNICATORS, MEMBERS, CHECKPOINTS, DWELLS, INSTANCES];

/// Columns of a table that reading needs.
pub(super) fn columns(table: &str) -> &'static [(&'static str, Kind)] {
    match table {
        SECTIONS => &[("parent", Kind::MaybeU32), ("label", Kind::Text), ("communicator", Kind::MaybeU32)],
        COMMUNICATORS => &[("size", Kind::U32), ("members", Kind::U64)],
        MEMBERS => &[
            ("communicator", Kind::MaybeU32),
            ("location", Kind::U32),
            ("rank", Kind::U32),
            ("calls", Kind::U64),
            ("order", Kind::U64),
            ("unclosed", Kind::U64),
            ("stray", Kind::U64),
            ("beyond", Kind::U64),
        ],
        CHECKPOINTS => &[
            ("communicator", Kind::U32),
            ("location", Kind::U32),
            ("calls", Kind::U64),
            ("order", Kind::U64),
        ],
        DWELLS => &[
            ("section", Kind::U32),
            ("location", Kind::U32),
            ("count", Kind::U64),
            ("dwell_ns", Kind::U64),
            ("nested_ns", Kind::U64),
            ("unlogged", Kind::U64),
        ],
        INSTANCES => &[
            ("section", Kind::U32),
            ("number", Kind::U32),
            ("participants", Kind::U32),
            ("unclosed", Kind::U32),
            ("host", Kind::MaybeText),
            ("first_in_ns", Kind::U64),
            ("last_in_ns", Kind::U64),
            ("first_out_ns", Kind::U64),
            ("last_out_ns", Kind::U64),
            ("in_sum_high", Kind::U64),
            ("in_sum_low", Kind::U64),
            ("in_square_sum_high", Kind::U64),
            ("in_square_sum_low", Kind::U64),
            ("out_sum_high", Kind::U64),
            ("out_sum_low", Kind::U64),
            ("dwell_sum_ns", Kind::U64),
            ("dwell_min_ns", Kind::U64),
            ("dwell_max_ns", Kind::U64),
        ],
        SECTION_VALUES => {
            &[("section", Kind::U32), ("context", Kind::U32), ("metric", Kind::U32), ("exclusive", Kind::I64)]
        }
        _ => &[],
    }
}

/// All tables but that of the values, by name.
pub(in crate::database) fn tables(all: &Sections) -> [(&'static str, Table); 6] {
    let maybe = |rows: Vec<Option<u32>>| Column::MaybeU32(rows);
    let sections = &all.sections;
    let members = &all.members;
    let (dwells, instances) = (&all.dwells, &all.instances);
    let numbers = (0..sections.len() as u32).collect();
    let sections = Table::default()
        .with("section", Column::U32(numbers))
        .with("parent", maybe(sections.iter().map(|s| s.parent).collect()))
        .with("label", texts(sections, |s| s.label.clone()))
        .with("communicator", maybe(sections.iter().map(|s| s.communicator).collect()));
    let communicators = Table::default()
        .with("communicator", Column::U32((0..all.communicators.len() as u32).collect()))
        .with("size", u32s(&all.communicators, |c| c.size))
        .with("members", u64s(&all.communicators, |c| c.members));
    let members = Table::default()
        .with("communicator", maybe(members.iter().map(|m| m.communicator).collect()))
        .with("location", u32s(members, |m| m.location))
        .with("rank", u32s(members, |m| m.rank))
        .with("calls", u64s(members, |m| m.calls))
        .with("order", u64s(members, |m| m.order))
        .with("unclosed", u64s(members, |m| m.unclosed))
        .with("stray", u64s(members, |m| m.stray))
        .with("beyond", u64s(members, |m| m.beyond));
    let checkpoints = Table::default()
        .with("communicator", u32s(&all.checkpoints, |c| c.communicator))
        .with("location", u32s(&all.checkpoints, |c| c.location))
        .with("calls", u64s(&all.checkpoints, |c| c.calls))
        .with("order", u64s(&all.checkpoints, |c| c.order));
    let dwells = Table::default()
        .with("section", u32s(dwells, |d| d.section))
        .with("location", u32s(dwells, |d| d.location))
        .with("count", u64s(dwells, |d| d.count))
        .with("dwell_ns", u64s(dwells, |d| d.dwell_ns))
        .with("nested_ns", u64s(dwells, |d| d.nested_ns))
        .with("unlogged", u64s(dwells, |d| d.unlogged));
    let high = |wide: u128| (wide >> 64) as u64;
    let instances = Table::default()
        .with("section", u32s(instances, |i| i.section))
        .with("number", u32s(instances, |i| i.number))
        .with("participants", u32s(instances, |i| i.participants))
        .with("unclosed", u32s(instances, |i| i.unclosed))
        .with("host", Column::MaybeText(instances.iter().map(|i| i.host.clone()).collect()))
        .with("first_in_ns", u64s(instances, |i| i.first_in_ns))
        .with("last_in_ns", u64s(instances, |i| i.last_in_ns))
        .with("first_out_ns", u64s(instances, |i| i.first_out_ns))
        .with("last_out_ns", u64s(instances, |i| i.last_out_ns))
        .with("in_sum_high", u64s(instances, |i| high(i.in_sum)))
        .with("in_sum_low", u64s(instances, |i| i.in_sum as u64))
        .with("in_square_sum_high", u64s(instances, |i| high(i.in_squares)))
        .with("in_square_sum_low", u64s(instances, |i| i.in_squares as u64))
        .with("out_sum_high", u64s(instances, |i| high(i.out_sum)))
        .with("out_sum_low", u64s(instances, |i| i.out_sum as u64))
        .with("dwell_sum_ns", u64s(instances, |i| i.dwell_sum_ns))
        .with("dwell_min_ns", u64s(instances, |i| i.dwell_min_ns))
        .with("dwell_max_ns", u64s(instances, |i| i.dwell_max_ns));
    [
        (SECTIONS, sections),
        (COMMUNICATORS, communicators),
        (MEMBERS, members),
        (CHECKPOINTS, checkpoints),
        (DWELLS, dwells),
        (INSTANCES, instances),
    ]
}

/// The table of values.
pub(in crate::database) fn values(rows: &[SectionValue]) -> Table {
    Table::default()
        .with("section", u32s(rows, |v| v.section))
        .with("context", u32s(rows, |v| v.context))
        .with("metric", u32s(rows, |v| v.metric))
        .with("exclusive", i64s(rows, |v| v.exclusive))
}

/// The tables that [`tables`] has made, checked: what they refer to must be there. `locations`: how many there are.
pub(in crate::database) fn read(tables: [Table; 6], locations: usize) -> Result<Sections, (usize, String)> {
    let [sections, communicators, members, checkpoints, dwells, instances] = tables;
    let communicators = read_communicators(communicators);
    let groups = communicators.len();
    let sections = read_sections(sections, groups).map_err(|reason| (0, reason))?;
    let members = read_members(members);
    let in_order = |ordered: bool| if ordered { Ok(()) } else { Err("a row is out of order".to_owned()) };
    let known = |at: u32, bound: usize| (at as usize) < bound;
    let is_group = |at: Option<u32>| at.is_none_or(|at| known(at, groups));
    let there =
        |all: bool| if all { Ok(()) } else { Err("a row refers to a row that is not there".to_owned()) };
    there(members.iter().all(|m| known(m.location, locations) && is_group(m.communicator)))
        .map_err(|reason| (2, reason))?;
    let checkpoints = read_checkpoints(checkpoints);
    there(checkpoints.iter().all(|c| known(c.location, locations) && known(c.communicator, groups)))
        .map_err(|reason| (3, reason))?;
    let dwells = read_dwells(dwells);
    there(dwells.iter().all(|d| known(d.section, sections.len()) && known(d.location, locations)))
        .and_then(|()| in_order(dwells.is_sorted()))
        .map_err(|reason| (4, reason))?;
    let instances = read_instances(instances);
    there(instances.iter().all(|i| known(i.section, sections.len())))
        .and_then(|()| in_order(instances.is_sorted_by(|a, b| (a.section, a.number) < (b.section, b.number))))
        .and_then(|()| match instances.iter().all(|i| i.last_out_ns >= i.first_in_ns) {
            true => Ok(()),
            false => Err("a row ends before it begins".into()),
        })
        .map_err(|reason| (5, reason))?;
    Ok(Sections { sections, communicators, members, checkpoints, dwells, instances })
}

fn read_sections(mut table: Table, groups: usize) -> Result<Vec<Section>, String> {
    let (parent, label) = (table.maybe_u32s("parent"), table.texts("label"));
    let communicator = table.maybe_u32s("communicator");
    (0..label.len())
        .map(|row| {
            let above = parent[row].is_none_or(|parent| (parent as usize) < row);
            let known = communicator[row].is_none_or(|at| (at as usize) < groups);
            match above && known {
                true => Ok(Section {
                    parent: parent[row],
                    label: label[row].clone(),
                    communicator: communicator[row],
                }),
                false => Err(format!("row {row} is out of order")),
            }
        })
        .collect()
}

fn read_communicators(mut table: Table) -> Vec<Communicator> {
    let (size, members) = (table.u32s("size"), table.u64s("members"));
    size.into_iter().zip(members).map(|(size, members)| Communicator { size, members }).collect()
}

fn read_members(mut table: Table) -> Vec<Member> {
    let (communicator, location) = (table.maybe_u32s("communicator"), table.u32s("location"));
    let (rank, calls, order) = (table.u32s("rank"), table.u64s("calls"), table.u64s("order"));
    let (unclosed, stray, beyond) = (table.u64s("unclosed"), table.u64s("stray"), table.u64s("beyond"));
    let member = |i: usize| Member {
        communicator: communicator[i],
        location: location[i],
        rank: rank[i],
        calls: calls[i],
        order: order[i],
        unclosed: unclosed[i],
        stray: stray[i],
        beyond: beyond[i],
    };
    (0..location.len()).map(member).collect()
}

fn read_checkpoints(mut table: Table) -> Vec<Checkpoint> {
    let (communicator, location) = (table.u32s("communicator"), table.u32s("location"));
    let (calls, order) = (table.u64s("calls"), table.u64s("order"));
    let checkpoint = |i: usize| Checkpoint {
        communicator: communicator[i],
        location: location[i],
        calls: calls[i],
        order: order[i],
    };
    (0..location.len()).map(checkpoint).collect()
}

fn read_dwells(mut table: Table) -> Vec<Dwell> {
    let (section, location, count) = (table.u32s("section"), table.u32s("location"), table.u64s("count"));
    let (dwell_ns, nested_ns) = (table.u64s("dwell_ns"), table.u64s("nested_ns"));
    let unlogged = table.u64s("unlogged");
    let dwell = |i: usize| Dwell {
        section: section[i],
        location: location[i],
        count: count[i],
        dwell_ns: dwell_ns[i],
        nested_ns: nested_ns[i],
        unlogged: unlogged[i],
    };
    (0..section.len()).map(dwell).collect()
}

fn read_instances(mut table: Table) -> Vec<Instance> {
    let (section, number) = (table.u32s("section"), table.u32s("number"));
    let (participants, unclosed) = (table.u32s("participants"), table.u32s("unclosed"));
    let host: Vec<Option<Arc<str>>> = table.maybe_texts("host");
    let (first_in, last_in) = (table.u64s("first_in_ns"), table.u64s("last_in_ns"));
    let (first_out, last_out) = (table.u64s("first_out_ns"), table.u64s("last_out_ns"));
    let mut wide = |high: &str, low: &str| -> Vec<u128> {
        let words = table.u64s(high).into_iter().zip(table.u64s(low));
        words.map(|(high, low)| u128::from(high) << 64 | u128::from(low)).collect()
    };
    let in_sum = wide("in_sum_high", "in_sum_low");
    let in_squares = wide("in_square_sum_high", "in_square_sum_low");
    let out_sum = wide("out_sum_high", "out_sum_low");
    let dwell = ["dwell_sum_ns", "dwell_min_ns", "dwell_max_ns"].map(|name| table.u64s(name));
    let instance = |i: usize| Instance {
        section: section[i],
        number: number[i],
        participants: participants[i],
        unclosed: unclosed[i],
        host: host[i].clone(),
        first_in_ns: first_in[i],
        last_in_ns: last_in[i],
        first_out_ns: first_out[i],
        last_out_ns: last_out[i],
        in_sum: in_sum[i],
        in_squares: in_squares[i],
        out_sum: out_sum[i],
        dwell_sum_ns: dwell[0][i],
        dwell_min_ns: dwell[1][i],
        dwell_max_ns: dwell[2][i],
    };
    (0..section.len()).map(instance).collect()
}

/// The table of values, checked: `bounds` are the numbers of sections, contexts and metrics.
pub(in crate::database) fn read_values(
    mut table: Table,
    bounds: [usize; 3],
) -> Result<Vec<SectionValue>, String> {
    let (section, context) = (table.u32s("section"), table.u32s("context"));
    let (metric, exclusive) = (table.u32s("metric"), table.i64s("exclusive"));
    let value = |i: usize| SectionValue {
        section: section[i],
        context: context[i],
        metric: metric[i],
        exclusive: exclusive[i],
    };
    let values: Vec<SectionValue> = (0..section.len()).map(value).collect();
    let key = |v: &SectionValue| [v.section, v.context, v.metric];
    if !values.is_sorted_by(|a, b| key(a) < key(b)) {
        return Err("a row is out of order".into());
    }
    match values.iter().any(|v| key(v).iter().zip(bounds).any(|(at, bound)| *at as usize >= bound)) {
        true => Err("a row refers to a row that is not there".into()),
        false => Ok(values),
    }
}
