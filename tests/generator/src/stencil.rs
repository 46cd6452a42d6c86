//! Logs of MPI calls: a stencil on a torus of ranks with an allreduce each step.

use std::fs;
use std::io;
use std::path::Path;

use falloff_format::events::{
    CommunicatorRecord, FunctionRecord, GroupRecord, Item, Message, Mode, Operation, SCOPE_COMMUNICATOR,
    encode_ranks,
};
use falloff_format::header::STATE_ENDED;
use falloff_format::node::NodeId;
use falloff_format::records::{Kind, keys};
use falloff_format::sections::members_hash;
use falloff_format::write::{Records, Writer, header};
use rayon::prelude::*;
use zerocopy::IntoBytes;

/// What ranks call in a step: `(number, name)`.
const FUNCTIONS: [(u16, &str); 4] =
    [(0, "MPI_Irecv"), (1, "MPI_Isend"), (2, "MPI_Waitall"), (3, "MPI_Allreduce")];

/// Bytes of a message.
const MESSAGE: u64 = 8192;

/// Steps whose calls are in one chunk of a file.
const CHUNK: u64 = 10_000;

/// Ranks on a torus exchange messages with their four neighbours, wait for these, and then all add something up.
#[derive(Clone, Copy, Debug)]
pub struct Stencil {
    /// Ranks along each side of the torus.
    pub side: u32,
    /// Steps of each rank.
    pub steps: u64,
}

impl Stencil {
    /// Calls of a rank in a step: four receives, four sends, one wait, one allreduce.
    pub const CALLS: u64 = 10;

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.side * self.side
    }

    /// Writes the files of all ranks into a directory.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let write = |rank| fs::write(dir.join(format!("{rank:06}-host-app.falloff")), self.file(rank));
        (0..self.ranks()).into_par_iter().try_for_each(write)
    }

    /// The rank to the left, to the right, above or below.
    fn neighbour(&self, rank: u32, direction: usize) -> u32 {
        let (row, column, last) = (rank / self.side, rank % self.side, self.side - 1);
        let (row, column) =
            [(row, column + last), (row, column + 1), (row + last, column), (row + 1, column)][direction];
        row % self.side * self.side + column % self.side
    }

    fn file(&self, rank: u32) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.records(&self.records(rank));
        let mut clock = 1_000_000;
        for from in (0..self.steps).step_by(CHUNK as usize) {
            let mut items = Vec::new();
            for step in from..self.steps.min(from + CHUNK) {
                self.step(rank, step, &mut clock, &mut items);
            }
            writer.events(0, &items);
        }
        let mut head = header();
        (head.rank, head.ranks, head.pid, head.state) =
            (rank as i32, self.ranks() as i32, 1000 + rank, STATE_ENDED);
        head.run_id[..9].copy_from_slice(b"generated");
        writer.finish(head)
    }

    fn records(&self, rank: u32) -> Records {
        let mut records = Records::default();
        for (key, value) in
            [(keys::HOST, "host"), (keys::IMAGE, "app"), (keys::ARGV, "app"), (keys::EVENTS, "mpi")]
        {
            records.meta(key, value.as_bytes());
        }
        for (number, name) in FUNCTIONS {
            let function = FunctionRecord { number: number.into(), reserved: 0 };
            records.push(Kind::Function, function.as_bytes(), &[name.as_bytes()]);
        }
        let ranks = self.ranks();
        let members = (0..ranks).fold(u64::from(ranks), members_hash);
        let mut list = [0; 16];
        let length = encode_ranks(0..ranks, &mut list).expect("one range is short");
        let group = GroupRecord { id: 1, size: ranks, members };
        records.push(Kind::Group, group.as_bytes(), &[&list[..length]]);
        let scope = SCOPE_COMMUNICATOR;
        let world = CommunicatorRecord {
            id: 1,
            scope,
            group: 1,
            others: 0,
            ordinal: 0,
            rank,
            parent: 0,
            reserved: 0,
        };
        records.push(Kind::EventCommunicator, world.as_bytes(), &[]);
        records
    }

    /// The calls of a rank in a step, which begins at the clock's time.
    fn step(&self, rank: u32, step: u64, clock: &mut u64, items: &mut Vec<Item>) {
        let communicator = 1;
        let first = 9 * step;
        let post = |direction: usize| first + direction as u64;
        let mut call = |function, burst, inside: &mut dyn FnMut(&mut Vec<Item>)| {
            *clock += burst;
            items.push(Item::Enter { function, section: 0, context: NodeId(0), at_ns: *clock });
            inside(items);
            *clock += 1000;
            items.push(Item::Leave { at_ns: *clock });
        };
        for direction in 0..4 {
            let burst = if direction == 0 { 50_000 + (u64::from(rank) * 7 + step * 13) % 1000 } else { 100 };
            let (from, tag) = (Some(self.neighbour(rank, direction)), Some(direction as i32 ^ 1));
            call(0, burst, &mut |items| {
                items.push(Item::Receive { post: post(direction), from, tag, communicator });
            });
        }
        for direction in 0..4 {
            let (to, tag) = (self.neighbour(rank, direction), direction as i32);
            let (post, mode, bytes) = (post(4 + direction), Mode::Standard, MESSAGE);
            call(1, 100, &mut |items| {
                items.push(Item::Send { post, mode, to, tag, communicator, bytes });
            });
        }
        call(2, 100, &mut |items| {
            for direction in 0..4 {
                let (from, tag) = (self.neighbour(rank, direction), direction as i32 ^ 1);
                let message = Some(Message { from, tag, bytes: MESSAGE });
                items.push(Item::Complete { post: post(direction), message, void: false });
            }
            items.extend((4..8).map(|n| Item::Complete { post: post(n), message: None, void: false }));
        });
        let operation = Operation::AllReduce;
        call(3, 100, &mut |items| {
            let (post, sequence, root) = (post(8), step, None);
            items.push(Item::Collective {
                post,
                operation,
                communicator,
                sequence,
                root,
                sent: 8,
                received: 8,
            });
            items.push(Item::Complete { post, message: None, void: false });
        });
    }
}
