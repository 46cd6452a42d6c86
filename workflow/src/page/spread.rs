//! Values of the participants, as blocks.

use serde::Serialize;

use super::block::Blocks;

/// Values beyond which participants are left out of a page, so that it stays a page.
const MOST: usize = 4_000_000;

/// What the head says of participants.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SpreadInfo {
    /// Name of the blocks.
    pub block: String,
    /// Values are divided by this to be in the unit of the first metric.
    pub divisor: u64,
    /// What each is called.
    pub labels: Vec<String>,
    /// Host of each.
    pub hosts: Vec<String>,
    /// Processor count, in a sweep.
    pub processors: Option<u32>,
    /// Whether there were too many values to hold.
    pub left_out: bool,
}

/// Exclusive values, (context, participant, value in whole units), each place at most once, as blocks: `NAME.counts` has how many
/// participants have a value in each context, `NAME.participants` which, `NAME.values` how much.
pub(super) fn add(
    blocks: &mut Blocks,
    mut info: SpreadInfo,
    contexts: usize,
    mut values: Vec<(u32, u32, i64)>,
) -> SpreadInfo {
    info.left_out = values.len() > MOST;
    if info.left_out {
        return info;
    }
    values.sort_unstable();
    values.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        kept.2 += if same { next.2 } else { 0 };
        same
    });
    let mut counts = vec![0u64; contexts];
    for (context, ..) in &values {
        counts[*context as usize] += 1;
    }
    blocks.natural(&format!("{}.counts", info.block), counts);
    blocks.natural(&format!("{}.participants", info.block), values.iter().map(|v| u64::from(v.1)));
    blocks.whole(&format!("{}.values", info.block), values.iter().map(|v| v.2));
    info
}
