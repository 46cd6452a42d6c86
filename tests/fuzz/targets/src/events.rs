//! Event logs.

use falloff_format::events::{Coder, Decoder, ITEM_MAX, Item, Ranks, numbers};

/// Ranks of a list that are looked at: a list may say that it is as long as it likes.
const RANKS: usize = 10_000;

/// The input is a chunk, and a list of ranks. What can be read can be written, and is read again as the same.
pub(crate) fn items(input: &[u8]) {
    let items: Vec<Item> = Decoder::new(input, 0).map_while(Result::ok).collect();
    let mut coder = Coder::new();
    let mut bytes = Vec::new();
    for item in &items {
        let mut room = [0; ITEM_MAX];
        let length = coder.encode(item, &mut room).expect("an item has room");
        bytes.extend_from_slice(&room[..length]);
    }
    let again: Vec<Item> = Decoder::new(&bytes, 0).map_while(Result::ok).collect();
    assert_eq!(again, items);
    assert!(numbers(input).count() <= input.len());
    assert!(Ranks::new(input).take(RANKS).count() <= RANKS);
}
