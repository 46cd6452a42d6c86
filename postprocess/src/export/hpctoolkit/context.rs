//! The part of `meta.db` that is the tree.

use super::nodes::{Node, NodeKind, Nodes};
use super::section::Section;
use super::tables::Tables;

/// Bytes of the section's header, of an entry point, and of a context without its own words.
const HEADER: u64 = 16;
const ENTRY: u8 = 32;
const CONTEXT: u64 = 32;
/// Bytes of one of a context's own words.
const WORD: u64 = 8;

/// What a context's own words are.
const HAS_FUNCTION: u8 = 1;
const HAS_LINE: u8 = 2;

/// The section, behind all tables. The children of each node follow each other.
pub(super) fn section(nodes: &Nodes, tables: &Tables) -> Section {
    let children = Children::new(nodes.all());
    let entries = children.of(0);
    let mut section = Section::from(tables.functions.here());
    section.u64(section.base() + HEADER);
    section.u16(entries.len() as u16);
    section.u8(ENTRY);
    section.align(8);

    let first = section.here() + entries.len() as u64 * u64::from(ENTRY);
    let blocks = children.blocks(nodes.all(), first);
    for (entry, name) in entries.iter().zip(&tables.entry_names) {
        block_of(&blocks, *entry, &mut section);
        section.u32(*entry);
        section.u16(match nodes.all()[*entry as usize].kind {
            NodeKind::Entry(entry) => entry as u16,
            _ => 0,
        });
        section.align(8);
        section.u64(*name);
    }
    for parent in 1..nodes.all().len() as u32 {
        for child in children.of(parent) {
            block_of(&blocks, *child, &mut section);
            section.u32(*child);
            context(nodes.all()[*child as usize].kind, tables, &mut section);
        }
    }
    section
}

/// Where the children of a node are.
fn block_of(blocks: &[(u64, u64)], node: u32, section: &mut Section) {
    let (size, address) = blocks[node as usize];
    section.u64(size);
    section.u64(address);
}

/// What a context is, from its flags on.
fn context(kind: NodeKind, tables: &Tables, section: &mut Section) {
    let (flags, relation, lexical) = match kind {
        NodeKind::Function { inlined, .. } => (HAS_FUNCTION, if inlined { 2 } else { 1 }, 0),
        NodeKind::Loop { .. } => (HAS_LINE, 0, 1),
        NodeKind::Line { .. } => (HAS_LINE, 0, 2),
        NodeKind::Global | NodeKind::Entry(_) => (0, 0, 0),
    };
    section.u8(flags);
    section.u8(relation);
    section.u8(lexical);
    section.u8(words(kind) as u8);
    section.u16(u16::from(kind.is_lexical()));
    section.align(8);
    match kind {
        NodeKind::Function { function, .. } => section.u64(tables.function(function)),
        NodeKind::Loop { file, line } | NodeKind::Line { file, line } => {
            section.u64(tables.file(file));
            section.u32(line);
            section.align(8);
        }
        NodeKind::Global | NodeKind::Entry(_) => {}
    }
}

/// Number of a context's own words.
fn words(kind: NodeKind) -> u64 {
    match kind {
        NodeKind::Global | NodeKind::Entry(_) => 0,
        NodeKind::Function { .. } => 1,
        NodeKind::Loop { .. } | NodeKind::Line { .. } => 2,
    }
}

/// The children of every node.
struct Children {
    /// All nodes, sorted by their parents.
    nodes: Vec<u32>,
    /// Where the children of each node begin in `nodes`, with one end more.
    starts: Vec<usize>,
}

impl Children {
    fn new(all: &[Node]) -> Children {
        let mut nodes: Vec<u32> = (1..all.len() as u32).collect();
        nodes.sort_by_key(|node| all[*node as usize].parent);
        let starts = (0..=all.len() as u32)
            .map(|parent| nodes.partition_point(|node| all[*node as usize].parent < parent))
            .collect();
        Children { nodes, starts }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.nodes[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    /// Size and address of every node's children, the first at `from`; nothing at 0 where there are none.
    fn blocks(&self, all: &[Node], from: u64) -> Vec<(u64, u64)> {
        let mut here = from;
        let mut blocks = vec![(0, 0); all.len()];
        for (node, block) in blocks.iter_mut().enumerate().skip(1) {
            let sizes =
                self.of(node as u32).iter().map(|child| CONTEXT + WORD * words(all[*child as usize].kind));
            let size: u64 = sizes.sum();
            if size > 0 {
                *block = (size, here);
                here += size;
            }
        }
        blocks
    }
}
