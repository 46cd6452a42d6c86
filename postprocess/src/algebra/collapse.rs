//! Fewer locations.

use super::derived::Content;
use super::gathered::Gathering;
use super::operand::Operand;
use super::places::collapsed;
use crate::database::Database;

/// A database with its locations gathered.
pub fn collapse(operand: Operand, gathering: Gathering) -> Database {
    let mut content = Content::of(operand.database);
    let placed = collapsed(&[&content.locations], gathering, "");
    for value in &mut content.values {
        value.location = placed.places[0][value.location as usize];
    }
    content.locations = placed.locations;
    content.database(operand, "collapse", vec![gathering.word().to_owned()])
}
