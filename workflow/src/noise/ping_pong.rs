//! Messages there and back between rank 0 and another rank, which sleeps until rank 0 orders something.

use std::time::{Duration, Instant};

use super::batches::{BATCHES, batches};
use super::loggp::LogGp;
use super::messages::{Pair, Times};
use super::mpi::Session;
use super::quantiles::Quantiles;
use crate::Result;

/// Largest message.
const BYTES_MAX: u64 = 4 << 20;
/// Sizes that are measured.
const SIZES: [u64; 19] = [
    0,
    1,
    8,
    64,
    256,
    1 << 10,
    2 << 10,
    4 << 10,
    8 << 10,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
    1 << 20,
    2 << 20,
    3 << 20,
    BYTES_MAX,
];
/// Messages before those that count, and those from which their number is planned.
const WARM_UP: u64 = 5;
/// Messages of a size at least and at most.
const COUNTS: (f64, f64) = (BATCHES as f64, 4000.0);
/// Messages that follow each other in a row, few enough for every library to take them before they are received.
const ROW: u64 = 64;
/// How long a receiver lets a message wait to see whether its sender waits too.
const LATE: Duration = Duration::from_millis(10);
/// Within this time a send that does not wait has returned.
const SOON: Duration = Duration::from_millis(8);
/// A send that did not return soon may have been disturbed.
const TRIES: u32 = 3;
/// Sizes up to which the time of a send is the overhead of a message.
const OVERHEAD_BYTES: u64 = 64;

/// What rank 0 wants of another rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// To send its own report.
    Report,
    /// To send back messages of a size, so many.
    Echo { bytes: u64, count: u64 },
    /// To receive so many messages of a byte and to answer the last.
    Take { count: u64 },
    /// To receive a message of a size after a while and to answer it.
    TakeLate { bytes: u64 },
    /// Nothing more.
    End,
}

/// Bytes of an order.
const ORDER_BYTES: usize = 24;

impl Order {
    fn encode(self) -> [u8; ORDER_BYTES] {
        let words = match self {
            Order::Report => [1, 0, 0],
            Order::Echo { bytes, count } => [2, bytes, count],
            Order::Take { count } => [3, 0, count],
            Order::TakeLate { bytes } => [4, bytes, 1],
            Order::End => [0, 0, 0],
        };
        let mut all = [0; ORDER_BYTES];
        all.chunks_exact_mut(8)
            .zip(words)
            .for_each(|(to, word): (_, u64)| to.copy_from_slice(&word.to_le_bytes()));
        all
    }

    fn decode(bytes: [u8; ORDER_BYTES]) -> Order {
        let word =
            |at: usize| bytes[8 * at..8 * at + 8].iter().rev().fold(0, |word, b| word << 8 | u64::from(*b));
        match word(0) {
            1 => Order::Report,
            2 => Order::Echo { bytes: word(1), count: word(2) },
            3 => Order::Take { count: word(2) },
            4 => Order::TakeLate { bytes: word(1) },
            _ => Order::End,
        }
    }

    /// Sends the order and waits until the other rank is awake.
    pub fn give(self, session: &Session, to: u32) -> Result<()> {
        session.send(to, &self.encode())?;
        session.receive(to, &mut [])
    }
}

/// Does what rank 0 orders until the end; `report` is what this rank found.
pub(super) fn serve(session: &Session, report: &[u8]) -> Result<()> {
    let mut room = vec![0u8; BYTES_MAX as usize];
    loop {
        let mut order = [0; ORDER_BYTES];
        session.receive_asleep(0, &mut order)?;
        let order = Order::decode(order);
        session.send(0, &[])?;
        match order {
            Order::Report => {
                session.send(0, &(report.len() as u64).to_le_bytes())?;
                session.send(0, report)?;
            }
            Order::Echo { bytes, count } => {
                let room = &mut room[..bytes.min(BYTES_MAX) as usize];
                for _ in 0..count {
                    session.receive(0, room)?;
                    session.send(0, room)?;
                }
            }
            Order::Take { count } => {
                for _ in 0..count {
                    session.receive(0, &mut room[..1])?;
                }
                session.send(0, &[])?;
            }
            Order::TakeLate { bytes } => {
                std::thread::sleep(LATE);
                session.receive(0, &mut room[..bytes.min(BYTES_MAX) as usize])?;
                session.send(0, &[])?;
            }
            Order::End => return Ok(()),
        }
    }
}

/// Memory for a message there and one back.
struct Rooms {
    there: Vec<u8>,
    back: Vec<u8>,
}

/// Measures messages between this rank, which is 0, and another for about a time.
pub(super) fn measure(session: &Session, with: u32, same_host: bool, time: Duration) -> Result<Pair> {
    let mut rooms = Rooms { there: vec![1; BYTES_MAX as usize], back: vec![1; BYTES_MAX as usize] };
    let share = time.as_secs_f64() / SIZES.len() as f64;
    let mut sizes = Vec::with_capacity(SIZES.len());
    for bytes in SIZES {
        sizes.push(times(session, with, bytes, share, &mut rooms)?);
    }
    let gap_ns = gap(session, with)?;
    let eager_limit_bytes = eager_limit(session, with, &rooms.there)?;
    let overheads: Vec<f64> =
        sizes.iter().filter(|t| t.bytes <= OVERHEAD_BYTES).map(|t| t.send_overhead_ns.median()).collect();
    let loggp = LogGp::fit(&sizes, eager_limit_bytes, Quantiles::of(overheads).median(), gap_ns.median());
    Ok(Pair { ranks: [0, with], same_host, sizes, gap_ns, eager_limit_bytes, loggp })
}

/// Times of messages of a size, as many as fit into some seconds.
fn times(session: &Session, with: u32, bytes: u64, seconds: f64, rooms: &mut Rooms) -> Result<Times> {
    let trial = echo(session, with, bytes, WARM_UP, rooms)?;
    let typical = Quantiles::of(trial.iter().map(|(round_trip, _)| *round_trip).collect()).median();
    let count = (seconds * 1e9 / typical.max(1.0)).clamp(COUNTS.0, COUNTS.1) as u64;
    let all = echo(session, with, bytes, count, rooms)?;
    let one_way: Vec<f64> = all.iter().map(|(round_trip, _)| round_trip / 2.0).collect();
    let batch_one_way_ns = batches(&one_way, |part| Quantiles::of(part.to_vec()).median());
    let one_way_ns = Quantiles::of(one_way);
    Ok(Times {
        bytes,
        bandwidth_megabytes_per_second: bytes as f64 / one_way_ns.median().max(1.0) * 1e3,
        send_overhead_ns: Quantiles::of(all.into_iter().map(|(_, send)| send).collect()),
        one_way_ns,
        batch_one_way_ns,
    })
}

/// Sends messages that come back: nanoseconds of each there and back, and those in which it was begun to be sent.
fn echo(session: &Session, with: u32, bytes: u64, count: u64, rooms: &mut Rooms) -> Result<Vec<(f64, f64)>> {
    let mut all = Vec::with_capacity(count as usize);
    let (there, back) = (&rooms.there[..bytes as usize], &mut rooms.back[..bytes as usize]);
    Order::Echo { bytes, count }.give(session, with)?;
    for _ in 0..count {
        let begin = Instant::now();
        let sending = session.begin_send(with, there)?;
        let begun = begin.elapsed();
        sending.end()?;
        session.receive(with, back)?;
        all.push((begin.elapsed().as_nanos() as f64, begun.as_nanos() as f64));
    }
    Ok(all)
}

/// Time for each of many messages of a byte that follow each other.
fn gap(session: &Session, with: u32) -> Result<Quantiles> {
    let mut gaps = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        Order::Take { count: ROW }.give(session, with)?;
        let begin = Instant::now();
        for _ in 0..ROW {
            session.send(with, &[0])?;
        }
        gaps.push(begin.elapsed().as_nanos() as f64 / ROW as f64);
        session.receive(with, &mut [])?;
    }
    Ok(Quantiles::of(gaps))
}

/// The largest message that is sent away before anybody receives it, to the byte.
fn eager_limit(session: &Session, with: u32, room: &[u8]) -> Result<Option<u64>> {
    largest(BYTES_MAX, |bytes| is_eager(session, with, &room[..bytes as usize]))
}

/// The largest number up to `most` for which something holds that holds up to some number and not beyond; `None` if for no number.
fn largest(most: u64, holds: impl Fn(u64) -> Result<bool>) -> Result<Option<u64>> {
    if !holds(0)? {
        return Ok(None);
    }
    let (mut yes, mut no) = (0, most + 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle)? {
            yes = middle;
        } else {
            no = middle;
        }
    }
    Ok(Some(yes))
}

/// Whether a send returns while its receiver still sleeps, which it does for some time after it was told to.
fn is_eager(session: &Session, with: u32, bytes: &[u8]) -> Result<bool> {
    for _ in 0..TRIES {
        // The receiver cannot have begun to sleep before the order was given.
        let ordered = Instant::now();
        Order::TakeLate { bytes: bytes.len() as u64 }.give(session, with)?;
        session.send(with, bytes)?;
        let returned = ordered.elapsed();
        session.receive(with, &mut [])?;
        if returned < SOON {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given() {
        for order in [
            Order::Report,
            Order::Echo { bytes: 1 << 40, count: 77 },
            Order::Take { count: 3 },
            Order::TakeLate { bytes: 4096 },
            Order::End,
        ] {
            assert_eq!(Order::decode(order.encode()), order);
        }
    }

    #[test]
    fn a_limit_is_found_to_the_byte() {
        for limit in [0, 1, 4095, 4096, 65_537, BYTES_MAX] {
            assert_eq!(largest(BYTES_MAX, |bytes| Ok(bytes <= limit)).unwrap(), Some(limit));
        }
        assert_eq!(largest(BYTES_MAX, |_| Ok(false)).unwrap(), None);
    }
}
