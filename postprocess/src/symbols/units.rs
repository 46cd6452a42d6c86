//! Which units of the debug information say something about some addresses, so that the others need not be read:
//! the C library alone has two thousand of them, and a run goes through a few.

use std::collections::{BTreeMap, BTreeSet};

use gimli::{
    AttributeValue, DebugInfoOffset, EndianSlice, RunTimeEndian, Unit, UnitHeader, UnitOffset, UnitType,
};

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;

/// Units of `.debug_info` by their place: start and end of each.
pub(super) type Places = BTreeMap<usize, usize>;

/// Units that are needed.
#[derive(Debug, Default)]
pub(super) struct Needed {
    pub main: Places,
    /// Of the file that several debug files share.
    pub shared: Places,
}

impl Needed {
    /// The units that cover one of the sorted addresses, and those that these refer to.
    ///
    /// `.debug_aranges` tells where most units lie; of those that it leaves out the heads are read. Damaged units
    /// are left out.
    pub fn new(dwarf: &Dwarf<'_>, addresses: &[u64]) -> Needed {
        let mut cover = Cover { addresses, found: vec![false; addresses.len()] };
        let mut listed = BTreeSet::new();
        let mut covering = BTreeSet::new();
        let mut headers = dwarf.debug_aranges.headers();
        while let Ok(Some(header)) = headers.next() {
            let mut entries = header.entries();
            // An entry whose end overflows is no reason to leave out those behind it.
            while let Some(entry) = entries.next().transpose() {
                let Ok(entry) = entry else { continue };
                let range = entry.range();
                if range.begin < range.end {
                    listed.insert(header.debug_info_offset().0);
                    if cover.meets(range) {
                        covering.insert(header.debug_info_offset().0);
                    }
                }
            }
        }
        if cover.found.contains(&false) {
            let mut units = dwarf.units();
            while let Ok(Some(header)) = units.next() {
                let Some(start) = place(&header) else { continue };
                if !listed.contains(&start) && head_covers(dwarf, header, &mut cover) {
                    covering.insert(start);
                }
            }
        }
        let mut needed = Needed::default();
        let mut references = Vec::new();
        for start in covering {
            let header = dwarf.debug_info.header_from_offset(DebugInfoOffset(start));
            let unit = header.ok().filter(|h| !is_type(h)).and_then(|h| dwarf.unit(h).ok());
            let Some(unit) = unit.filter(|unit| has_sound_ranges(dwarf, unit)) else { continue };
            needed.main.insert(start, start + unit.header.length_including_self());
            references.extend(references_of(&unit));
        }
        needed.follow(dwarf, references);
        needed
    }

    /// Adds the units of entries that are referred to from other units, and of what these refer to in turn.
    fn follow(&mut self, dwarf: &Dwarf<'_>, mut references: Vec<Reference>) {
        let (mut main_heads, mut shared_heads) = (None, None);
        let mut seen = BTreeSet::new();
        while let Some(reference) = references.pop() {
            if !seen.insert(reference) {
                continue;
            }
            let (dwarf, heads, places) = match (reference.shared, dwarf.sup()) {
                (false, _) => (dwarf, &mut main_heads, &mut self.main),
                (true, Some(sup)) => (sup, &mut shared_heads, &mut self.shared),
                (true, None) => continue,
            };
            let heads = heads.get_or_insert_with(|| heads_of(dwarf));
            let after = heads.partition_point(|h| place(h).is_some_and(|start| start <= reference.entry));
            let Some(header) = after.checked_sub(1).map(|at| heads[at]) else { continue };
            let Some(start) = place(&header) else { continue };
            let Ok(unit) = dwarf.unit(header) else { continue };
            places.insert(start, start + unit.header.length_including_self());
            if let Ok(entry) = unit.entry(UnitOffset(reference.entry - start)) {
                let values = ORIGINS.iter().filter_map(|name| entry.attr_value(*name));
                references.extend(values.filter_map(|value| match value {
                    AttributeValue::UnitRef(offset) => {
                        Some(Reference { entry: start + offset.0, ..reference })
                    }
                    value => Reference::of(value, reference.shared),
                }));
            }
        }
    }
}

/// Attributes that lead from a function's entry to the one that declares it.
const ORIGINS: [gimli::DwAt; 2] = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification];

/// An entry of another unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reference {
    /// Whether it is in the shared file.
    shared: bool,
    /// Place of the entry in `.debug_info`.
    entry: usize,
}

impl Reference {
    /// Of an attribute in the shared file or another.
    fn of(value: AttributeValue<Slice<'_>>, shared: bool) -> Option<Reference> {
        match value {
            AttributeValue::DebugInfoRef(offset) => Some(Reference { shared, entry: offset.0 }),
            AttributeValue::DebugInfoRefSup(offset) => Some(Reference { shared: true, entry: offset.0 }),
            _ => None,
        }
    }
}

/// Addresses that are asked for, and whether a unit was found that covers each.
struct Cover<'a> {
    addresses: &'a [u64],
    found: Vec<bool>,
}

impl Cover<'_> {
    /// Whether a range covers an address.
    fn meets(&mut self, range: gimli::Range) -> bool {
        let first = self.addresses.partition_point(|a| *a < range.begin);
        let end = self.addresses.partition_point(|a| *a < range.end);
        self.found[first..end.max(first)].fill(true);
        first < end
    }
}

/// Whether a unit's head says that it covers an address. Where it does not say what it covers, its lines may.
fn head_covers(dwarf: &Dwarf<'_>, header: UnitHeader<Slice<'_>>, cover: &mut Cover) -> bool {
    if is_type(&header) || header.type_() == UnitType::Partial {
        return false;
    }
    let Ok(unit) = dwarf.unit(header) else { return false };
    let Ok(mut ranges) = dwarf.unit_ranges(&unit) else { return false };
    let (mut says, mut covers) = (false, false);
    while let Ok(Some(range)) = ranges.next() {
        says |= range.begin < range.end;
        covers |= cover.meets(range);
    }
    covers || (!says && unit.line_program.is_some())
}

fn has_sound_ranges(dwarf: &Dwarf<'_>, unit: &Unit<Slice<'_>>) -> bool {
    let Ok(mut ranges) = dwarf.unit_ranges(unit) else { return false };
    loop {
        match ranges.next() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Entries of other units that a unit's functions refer to; those before the first damaged entry.
fn references_of(unit: &Unit<Slice<'_>>) -> BTreeSet<Reference> {
    let mut found = BTreeSet::new();
    let Ok(mut entries) = unit.entries_raw(None) else { return found };
    while !entries.is_empty() {
        let Ok(abbreviation) = entries.read_abbreviation() else { break };
        let Some(abbreviation) = abbreviation else { continue };
        let is_function =
            matches!(abbreviation.tag(), gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine);
        if !is_function {
            if entries.skip_attributes(abbreviation.attributes()).is_err() {
                break;
            }
            continue;
        }
        for specification in abbreviation.attributes() {
            let Ok(attribute) = entries.read_attribute(*specification) else { return found };
            if ORIGINS.contains(&attribute.name()) {
                found.extend(Reference::of(attribute.value(), false));
            }
        }
    }
    found
}

/// Heads of all units, by place; those before the first damaged one.
pub(super) fn heads_of<'a>(dwarf: &Dwarf<'a>) -> Vec<UnitHeader<Slice<'a>>> {
    let mut heads = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        heads.push(header);
    }
    heads
}

fn place(header: &UnitHeader<Slice<'_>>) -> Option<usize> {
    header.debug_info_offset().map(|offset| offset.0)
}

fn is_type(header: &UnitHeader<Slice<'_>>) -> bool {
    matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. })
}

/// Bytes of a type unit without entries.
const FILLER: usize = 24;
/// Longest filler; the format allows a little less than 4 GiB.
const FILLER_MAX: usize = 1 << 30;

/// A `.debug_info` section with these units at their places and nothing to read between them: type units without
/// entries, which every reader steps over. `None` if there is nothing to leave out.
///
/// The rest is zeros that nobody wrote, which take no memory.
pub(super) fn extract(section: &[u8], units: &Places, endian: RunTimeEndian) -> Option<Vec<u8>> {
    let mut out = vec![0; section.len()];
    let mut at = 0;
    let mut left_out = false;
    for (start, end) in units.iter().map(|(s, e)| (*s, *e)).chain([(section.len(), section.len())]) {
        let end = end.min(section.len());
        if start < at || end < start {
            continue;
        }
        left_out |= fill(&mut out, section, at, start, endian);
        out[start..end].copy_from_slice(&section[start..end]);
        at = end;
    }
    left_out.then_some(out)
}

/// Whether what was between two places is left out: what is shorter than a filler stays.
fn fill(out: &mut [u8], section: &[u8], mut at: usize, end: usize, endian: RunTimeEndian) -> bool {
    if end - at < FILLER {
        out[at..end].copy_from_slice(&section[at..end]);
        return false;
    }
    while at < end {
        let left = end - at;
        let length = if left > FILLER_MAX { left.min(FILLER_MAX) - FILLER } else { left };
        let (bytes, version) = ((length - 4) as u32, 5u16);
        let (bytes, version) = match endian {
            RunTimeEndian::Little => (bytes.to_le_bytes(), version.to_le_bytes()),
            RunTimeEndian::Big => (bytes.to_be_bytes(), version.to_be_bytes()),
        };
        out[at..at + 4].copy_from_slice(&bytes);
        out[at + 4..at + 6].copy_from_slice(&version);
        out[at + 6] = gimli::DW_UT_type.0;
        out[at + 7] = 8;
        at += length;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A compilation unit of version 4 without entries.
    fn unit(length: u32) -> Vec<u8> {
        let mut bytes = (length - 4).to_le_bytes().to_vec();
        bytes.extend([4, 0, 0, 0, 0, 0, 8]);
        bytes.resize(length as usize, 0);
        bytes
    }

    fn heads(section: &[u8]) -> Vec<(usize, bool)> {
        let info = gimli::DebugInfo::new(section, RunTimeEndian::Little);
        let mut units = info.units();
        let mut found = Vec::new();
        while let Some(header) = units.next().unwrap() {
            found.push((place(&header).unwrap(), is_type(&header)));
        }
        found
    }

    #[test]
    fn units_keep_their_places_and_the_others_are_stepped_over() {
        let section: Vec<u8> = [40, 12, 50, 60, 30].into_iter().flat_map(unit).collect();
        let kept = |units: &[(usize, usize)]| {
            extract(&section, &units.iter().copied().collect(), RunTimeEndian::Little)
        };
        // The unit at 40 is too short to be replaced.
        let out = kept(&[(52, 102)]).unwrap();
        assert_eq!(heads(&out), [(0, true), (52, false), (102, true)]);
        assert_eq!(out[52..102], section[52..102]);
        let out = kept(&[(0, 40), (52, 102)]).unwrap();
        assert_eq!(heads(&out), [(0, false), (40, false), (52, false), (102, true)]);
        assert_eq!(kept(&[(0, 40), (52, 102), (102, 162), (162, 192)]), None);
        assert_eq!(heads(&kept(&[]).unwrap()), [(0, true)]);
        // Places that do not fit, of a damaged file.
        assert_eq!(heads(&kept(&[(52, 1000), (60, 70)]).unwrap())[0], (0, true));
    }
}
