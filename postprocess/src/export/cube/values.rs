//! The values of a metric: which calls have them, and a row of one number for each location for every such call.

use std::io::{self, Read};

use super::metrics::Node;
use crate::export::calls::{Calls, written};
use crate::export::profile::Profile;

const INDEX: &[u8] = b"CUBEX.INDEX";
const DATA: &[u8] = b"CUBEX.DATA";

/// The index of a metric that has a row for every call: readers that compare runs find a call's zeros there.
pub(super) fn index(calls: usize) -> Vec<u8> {
    const BYTE_ORDER: i32 = 1;
    const VERSION: u16 = 0;
    const LISTED: u8 = 1;
    let mut bytes = INDEX.to_vec();
    bytes.extend(BYTE_ORDER.to_le_bytes());
    bytes.extend(VERSION.to_le_bytes());
    bytes.push(LISTED);
    bytes.extend((calls as u32).to_le_bytes());
    bytes.extend((0..calls as u32).flat_map(u32::to_le_bytes));
    bytes
}

/// The rows, made while they are read: there may be many more zeros than values.
pub(super) struct Rows {
    /// (call, column, value), in order.
    values: Vec<(u32, u32, f64)>,
    calls: u32,
    columns: usize,
    /// How many values and rows are done.
    done: (usize, u32),
    /// What is read from, and how much of it was.
    ready: Vec<u8>,
    read: usize,
}

impl Rows {
    /// Rows of a profile's metric, its groups in the order of `columns`.
    pub fn of(profile: &Profile, metric: &Node, calls: &Calls, columns: &[usize]) -> Rows {
        let mut values: Vec<(u32, u32, f64)> = Vec::new();
        for (column, group) in (0..).zip(columns) {
            let costs = metric.parts.iter().flat_map(|part| profile.groups()[*group].costs(*part));
            values.extend(costs.map(|(context, cost)| (calls.of(*context), column, *cost)));
        }
        values.sort_by_key(|(call, column, _)| (*call, *column));
        values.dedup_by(|later, first| {
            let same = (later.0, later.1) == (first.0, first.1);
            if same {
                first.2 += later.2;
            }
            same
        });
        values.iter_mut().for_each(|(.., value)| *value = written(*value, metric.unit));
        Rows {
            values,
            calls: calls.tree.len() as u32,
            columns: columns.len(),
            done: (0, 0),
            ready: DATA.to_vec(),
            read: 0,
        }
    }

    /// How many bytes there are to read.
    pub fn length(&self) -> u64 {
        (DATA.len() + size_of::<f64>() * self.calls as usize * self.columns) as u64
    }

    fn next_row(&mut self) {
        let (from, call) = self.done;
        let of_call = self.values[from..].iter().take_while(|value| value.0 == call);
        let mut row = vec![0.0; self.columns];
        let mut values = 0;
        for (_, column, value) in of_call {
            row[*column as usize] = *value;
            values += 1;
        }
        self.ready.clear();
        self.ready.extend(row.into_iter().flat_map(f64::to_le_bytes));
        (self.read, self.done) = (0, (from + values, call + 1));
    }
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.ready.len() && self.done.1 < self.calls {
            self.next_row();
        }
        let bytes = (&self.ready[self.read..]).read(buffer)?;
        self.read += bytes;
        Ok(bytes)
    }
}
