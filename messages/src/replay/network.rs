//! What messages cost.

/// The costs of messages by the LogGPS model: overhead, latency and gap of Culler et al. (1993), the gap of each byte of
/// Alexandrov et al. (1995), and the eager limit of Ino et al. (2001). Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Time that a processor needs for each message that it sends or receives, o.
    pub overhead: u64,
    /// Time from one processor to another, L.
    pub latency: u64,
    /// Least time between two messages that a processor sends, g.
    pub gap: u64,
    /// Time of each byte but the first, G, in picoseconds: the inverse of the bandwidth.
    pub byte_ps: u64,
    /// Messages of more bytes wait for their receive, S.
    pub eager: u64,
}

impl Network {
    /// One that costs nothing and on which no message waits for its receive.
    pub const IDEAL: Network = Network { overhead: 0, latency: 0, gap: 0, byte_ps: 0, eager: u64::MAX };

    /// Time of the bytes of a message but the first.
    ///
    /// ```
    /// use falloff_messages::Network;
    /// assert_eq!(Network { byte_ps: 100, ..Network::IDEAL }.bytes(1001), 100);
    /// ```
    pub fn bytes(&self, bytes: u64) -> i64 {
        (bytes.saturating_sub(1).saturating_mul(self.byte_ps) / 1000) as i64
    }

    /// A call that takes so many nanoseconds longer than it must waits for something else than the network.
    pub(super) fn stall(&self) -> i64 {
        stall_beyond((self.latency + 2 * self.overhead) as f64) as i64
    }

    pub(super) fn is_eager(&self, bytes: u64) -> bool {
        bytes <= self.eager
    }

    /// Costs nothing, but messages wait for their receives as on this one.
    pub(super) fn without_costs(&self) -> Network {
        Network { eager: self.eager, ..Network::IDEAL }
    }
}

/// By how many nanoseconds more than what messages take on an undisturbed network something else must be why.
pub(super) fn stall_beyond(time: f64) -> f64 {
    (10.0 * time).max(20_000.0)
}
