//! Signal context: yes
//!
//! From an address to the module it belongs to.

use crate::module::{Extent, Module};

/// Finds modules. Asked in signal context, so an implementation takes no locks.
pub trait Modules {
    /// The module that `pc` belongs to.
    fn find(&self, pc: u64) -> Option<Module<'_>>;

    /// Where that module lies: asked for every frame that leaves the module of the one before, so worth an answer that copies
    /// no more than this.
    fn extent(&self, pc: u64) -> Option<Extent> {
        self.find(pc).map(|module| module.extent())
    }

    /// The same as [`find`](Self::find) for a word that may be no address at all: not worth a search of its own.
    fn known(&self, word: u64) -> Option<Module<'_>> {
        self.find(word)
    }
}

/// Modules sorted by address.
#[derive(Clone, Copy, Debug)]
pub struct ModuleList<'a> {
    modules: &'a [Module<'a>],
}

impl<'a> ModuleList<'a> {
    /// A list of modules; `None` unless they are sorted by address and do not overlap.
    pub fn new(modules: &'a [Module<'a>]) -> Option<Self> {
        let sorted = modules.windows(2).all(|pair| match pair {
            [left, right] => left.end <= right.start,
            _ => true,
        });
        if sorted { Some(Self { modules }) } else { None }
    }

    /// The modules, sorted.
    pub fn modules(&self) -> &'a [Module<'a>] {
        self.modules
    }
}

impl Modules for ModuleList<'_> {
    fn find(&self, pc: u64) -> Option<Module<'_>> {
        let after = self.modules.partition_point(|module| module.start <= pc);
        let module = self.modules.get(after.checked_sub(1)?)?;
        if module.contains(pc) { Some(*module) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(id: u32, start: u64, end: u64) -> Module<'static> {
        Module { id, start, end, ..Module::default() }
    }

    #[test]
    fn finds_by_address() {
        let modules = [module(1, 0x1000, 0x2000), module(2, 0x2000, 0x3000), module(3, 0x5000, 0x6000)];
        let list = ModuleList::new(&modules).unwrap();
        let id = |pc| list.find(pc).map(|module| module.id);
        assert_eq!([id(0xfff), id(0x1000), id(0x1fff), id(0x2000)], [None, Some(1), Some(1), Some(2)]);
        assert_eq!([id(0x3000), id(0x5fff), id(0x6000)], [None, Some(3), None]);
        assert!(ModuleList::new(&[]).unwrap().find(1).is_none());
        assert!(ModuleList::new(&[module(1, 0, 9), module(2, 8, 10)]).is_none());
        assert_eq!(list.modules().len(), 3);
    }
}
