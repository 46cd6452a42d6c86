//! Random numbers that depend on what they are for and on nothing else.

/// What a random number is for. Of one event several may be drawn, one of each stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub seed: u64,
    pub rank: u32,
    pub stream: u32,
    pub event: u64,
}

/// Streams, beside which there is room for the rounds of collective operations.
pub(super) mod stream {
    pub const PHASE: u32 = 0;
    pub const LATENCY: u32 = 1;
    pub const BYTES: u32 = 2;
    pub const BACK: u32 = 3;
    /// Noise of a thread: this and its number.
    pub const NOISE: u32 = 1 << 8;
    /// Latency of a round of a collective operation: this and its number.
    pub const ROUND: u32 = 1 << 30;
}

/// A number uniform between 0 and 1, neither of them. The same key gives the same number, whatever was drawn before.
pub(super) fn uniform(key: Key) -> f64 {
    let place = u64::from(key.rank) << 32 | u64::from(key.stream);
    let bits = mix(mix(mix(key.seed) ^ place) ^ key.event);
    ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_uniform_over_ranks_streams_and_events() {
        let (mut sum, mut square, mut count) = (0.0, 0.0, 0.0);
        let mut bins = [0_u32; 16];
        for seed in 0..2 {
            for rank in 0..64 {
                for stream in [0, 1, stream::NOISE, stream::ROUND + 3] {
                    for event in 0..500 {
                        let u = uniform(Key { seed, rank, stream, event });
                        assert!(0.0 < u && u < 1.0);
                        bins[(u * 16.0) as usize] += 1;
                        (sum, square, count) = (sum + u, square + u * u, count + 1.0);
                    }
                }
            }
        }
        // Mean 1/2 and second moment 1/3, each within five standard errors; the bins by chi-square of 15 degrees at 0.1 %.
        assert!((sum / count - 0.5_f64).abs() < 5.0 * (1.0 / 12.0_f64 / count).sqrt());
        assert!((square / count - 1.0_f64 / 3.0).abs() < 5.0 * (4.0 / 45.0_f64 / count).sqrt());
        let wanted = count / 16.0;
        let chi: f64 = bins.iter().map(|&n| (f64::from(n) - wanted).powi(2) / wanted).sum();
        assert!(chi < 37.7, "{chi}");
    }
}
