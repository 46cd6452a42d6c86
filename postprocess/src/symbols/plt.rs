//! Names of procedure linkage table entries, from the relocations of the slots that they jump through.

use std::cmp::Reverse;

use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget};
use rustc_hash::FxHashMap;

use super::bounds::leading_underscores;
use super::elf::Elf;

/// Sections with entries, each entry 16 bytes long.
const SECTIONS: [&str; 4] = [".plt", ".plt.sec", ".plt.got", ".iplt"];
const ENTRY: u64 = 16;
/// Bytes of a relocation: slot, kind and symbol, addend.
const RELOCATION: usize = 24;

/// Entries by address.
#[derive(Default)]
pub(super) struct Plt {
    sections: Vec<(u64, u64)>,
    names: FxHashMap<u64, String>,
}

impl Plt {
    /// Reads the entries of an x86-64 module; those of other machines stay without names.
    pub fn new(elf: &Elf) -> Plt {
        let mut plt = Plt::default();
        if elf.object.architecture() != object::Architecture::X86_64 {
            return plt;
        }
        let slots = slots(elf);
        for section in SECTIONS.iter().filter_map(|name| elf.object.section_by_name(name)) {
            let Ok(bytes) = section.data() else { continue };
            plt.sections.push((section.address(), section.address().saturating_add(section.size())));
            for (index, entry) in bytes.chunks(ENTRY as usize).enumerate() {
                let address = section.address().wrapping_add(index as u64 * ENTRY);
                if let Some(name) = slot_of_jump(address, entry).and_then(|slot| slots.get(&slot)) {
                    plt.names.insert(address, name.clone());
                }
            }
        }
        plt
    }

    /// Function that the entry at the address jumps to.
    pub fn name(&self, address: u64) -> Option<&str> {
        let (start, _) = self.sections.iter().find(|(start, end)| (*start..*end).contains(&address))?;
        let entry = start + (address - start) / ENTRY * ENTRY;
        self.names.get(&entry).map(String::as_str)
    }
}

/// Function name of every relocated slot; those that a resolver fills (`IRELATIVE`) have the resolver's name, which is
/// the function's.
fn slots(elf: &Elf) -> FxHashMap<u64, String> {
    let mut slots = resolved_slots(elf);
    let (Some(relocations), Some(symbols)) =
        (elf.object.dynamic_relocations(), elf.object.dynamic_symbol_table())
    else {
        return slots;
    };
    slots.extend(relocations.filter_map(|(slot, relocation)| {
        let RelocationTarget::Symbol(index) = relocation.target() else { return None };
        let name = symbols.symbol_by_index(index).ok()?.name().ok()?.to_owned();
        (!name.is_empty()).then_some((slot, name))
    }));
    slots
}

/// Slots of functions of the module itself of which a resolver chooses one; static programs have only these.
fn resolved_slots(elf: &Elf) -> FxHashMap<u64, String> {
    let mut symbols: Vec<_> = elf.symbols().into_iter().filter(|symbol| symbol.indirect).collect();
    // The public name of each: the last one stays.
    symbols.sort_unstable_by_key(|s| Reverse((leading_underscores(s.name), s.name.len(), s.name)));
    let resolvers: FxHashMap<u64, &str> = symbols.iter().map(|s| (s.address, s.name)).collect();
    let section = |name: &&str| elf.section(name).chunks_exact(RELOCATION);
    let word = |entry: &[u8], at: usize| entry[at..at + 8].try_into().map(u64::from_le_bytes).ok();
    let slot = |entry: &[u8]| {
        let irelative = word(entry, 8)? == u64::from(object::elf::R_X86_64_IRELATIVE);
        let name = resolvers.get(&word(entry, 16)?).filter(|_| irelative)?;
        Some((word(entry, 0)?, (*name).to_owned()))
    };
    [".rela.plt", ".rela.iplt", ".rela.dyn"].iter().flat_map(section).filter_map(slot).collect()
}

/// The slot of `jmp *disp32(%rip)` in an entry.
fn slot_of_jump(address: u64, entry: &[u8]) -> Option<u64> {
    let at = entry.windows(2).position(|w| w == [0xff, 0x25])?;
    let displacement = i32::from_le_bytes(entry.get(at + 2..at + 6)?.try_into().ok()?);
    Some(address.wrapping_add(at as u64 + 6).wrapping_add_signed(i64::from(displacement)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_is_relative_to_the_next_instruction() {
        // endbr64; jmp *0x2f6e(%rip)
        let entry = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x6e, 0x2f, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0];
        assert_eq!(slot_of_jump(0x1050, &entry), Some(0x3fc8));
        assert_eq!(slot_of_jump(0x1050, &entry[..8]), None);
    }
}
