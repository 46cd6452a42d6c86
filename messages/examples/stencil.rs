//! Matches and replays a log of any size that is made up as it is read: a stencil on a torus of ranks, with an allreduce each step.
//!
//! `cargo run --release -p falloff-messages --example stencil -- RANKS CALLS`
#![allow(clippy::print_stdout)]

use falloff_messages::{
    Broken, Call, Collective, CommId, Communicator, Completion, Distribution, Effect, Location, Log, Mode,
    Network, Noise, Op, Operation, Options, Perturbation, Receive, Scenario, Send, replay,
};
use std::time::Instant;

/// Four receives, four sends, a wait for all of them, an allreduce.
const CALLS: u64 = 10;

#[derive(Clone)]
struct Stencil {
    locations: Vec<Location>,
    communicators: Vec<Communicator>,
    side: u32,
    calls: u64,
    read: Vec<u64>,
    clocks: Vec<u64>,
}

impl Stencil {
    fn new(side: u32, calls: u64) -> Stencil {
        let ranks = side * side;
        Stencil {
            locations: (0..ranks).map(|rank| Location { rank, thread: 0 }).collect(),
            communicators: vec![Communicator { members: (0..ranks).collect(), others: Vec::new() }],
            side,
            calls,
            read: vec![0; ranks as usize],
            clocks: vec![0; ranks as usize],
        }
    }

    /// Left, right, above, below.
    fn neighbour(&self, rank: u32, direction: u32) -> u32 {
        let (row, column, last) = (rank / self.side, rank % self.side, self.side - 1);
        let (row, column) = match direction {
            0 => (row, (column + last) % self.side),
            1 => (row, (column + 1) % self.side),
            2 => ((row + last) % self.side, column),
            _ => ((row + 1) % self.side, column),
        };
        row * self.side + column
    }
}

impl Log for Stencil {
    fn locations(&self) -> &[Location] {
        &self.locations
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn last(&self, _: usize) -> Option<&Call> {
        None
    }

    fn clock(&self, _: usize) -> u32 {
        0
    }

    fn functions(&self) -> Vec<&str> {
        vec!["MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"]
    }

    fn next(&mut self, location: usize, call: &mut Call) -> Result<bool, Broken> {
        let read = self.read[location];
        if read == self.calls {
            return Ok(false);
        }
        self.read[location] += 1;
        let (step, which, rank) = (read / CALLS, (read % CALLS) as u32, location as u32);
        let first = step * 9;
        call.ops.clear();
        call.section = 0;
        let mut burst = 100;
        let done = |post| Completion { post, from: None, tag: None, bytes: 0, void: false };
        match which {
            0..4 => {
                call.function = 0;
                let from = Some(self.neighbour(rank, which));
                let tag = Some((which ^ 1) as i32);
                call.ops.push(Op::Receive(Receive {
                    post: first + u64::from(which),
                    from,
                    tag,
                    comm: CommId(0),
                }));
                if which == 0 {
                    burst = 50_000 + (u64::from(rank) * 7 + step * 13) % 1000;
                }
            }
            4..8 => {
                call.function = 1;
                let direction = which - 4;
                call.ops.push(Op::Send(Send {
                    post: first + u64::from(which),
                    mode: Mode::Standard,
                    to: self.neighbour(rank, direction),
                    tag: direction as i32,
                    comm: CommId(0),
                    bytes: 8192,
                }));
            }
            8 => {
                call.function = 2;
                for direction in 0..4_u32 {
                    let from = Some(self.neighbour(rank, direction));
                    let tag = Some((direction ^ 1) as i32);
                    let post = first + u64::from(direction);
                    call.ops.push(Op::Complete(Completion { from, tag, bytes: 8192, ..done(post) }));
                }
                call.ops.extend((4..8).map(|n| Op::Complete(done(first + n))));
            }
            _ => {
                call.function = 3;
                let post = first + 8;
                call.ops.push(Op::Collective(Collective {
                    post,
                    operation: Operation::AllReduce,
                    comm: CommId(0),
                    sequence: step,
                    root: None,
                    sent: 8,
                    received: 8,
                }));
                call.ops.push(Op::Complete(done(post)));
            }
        }
        call.context = u32::from(call.function);
        call.enter = self.clocks[location] + burst;
        call.leave = call.enter + 1000;
        self.clocks[location] = call.leave;
        Ok(true)
    }

    fn is_whole(&self, _: usize) -> bool {
        true
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |n: usize, otherwise| std::env::args().nth(n).map_or(Ok(otherwise), |text| text.parse());
    let (ranks, calls) = (number(1, 1024)?, number(2, 100_000_000)?);
    let side = (ranks as f64).sqrt() as u32;
    let log = Stencil::new(side, calls / u64::from(side * side) / CALLS * CALLS);
    let network = Network { overhead: 500, latency: 1500, gap: 200, byte_ps: 100, eager: 65536 };
    let base = Scenario::new(network);
    let noise = Distribution::Exponential(1000.0);
    let noisy = base.disturbed(Perturbation {
        seed: 1,
        local: Noise::PerBurst { length: noise, shortest: 10_000 },
        ..Perturbation::none()
    });
    let start = Instant::now();
    let replayed = replay(|| Ok(log.clone()), &[base, noisy], &Options::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = replayed.outcome.calls as f64 / seconds;
    println!("{}at most {} live entries", replayed.outcome, replayed.outcome.live_peak);
    println!("{:.0} calls a second, {seconds:.1} s", rate);
    let effect = Effect::of(&replayed.runs[0], &replayed.runs[1]);
    println!(
        "{} ns, {} ns more with noise, amplified {:?}",
        replayed.runs[0].end(),
        effect.whole,
        effect.amplification()
    );
    Ok(())
}
