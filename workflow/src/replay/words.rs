//! Networks as users write them, and as they were measured.

use falloff_messages::Network;

use super::parameter::byte_ps;
use crate::error::{Error, Result};
use crate::noise::Signature;

/// The network that a run is taken to have had if nothing is said: two processes of one node that share memory.
pub const USUAL: Network = Network { overhead: 200, latency: 300, gap: 0, byte_ps: 200, eager: 4096 };

/// Reads `overhead=NS,latency=NS,gap=NS,bandwidth=BYTES_A_SECOND,eager=BYTES`; what is not said is as in `otherwise`.
///
/// ```
/// use falloff_workflow::replay::{USUAL, network};
/// let fast = network("latency=1500,bandwidth=12.5e9", &USUAL).unwrap();
/// assert_eq!((fast.latency, fast.byte_ps, fast.eager), (1500, 80, 4096));
/// assert!(network("speed=1", &USUAL).is_err());
/// ```
///
/// # Errors
/// [`Error::Usage`].
pub fn network(text: &str, otherwise: &Network) -> Result<Network> {
    let wrong = |reason: String| {
        Error::Usage {
        action: "read the network",
        reason,
        hint: "write it as latency=1500,overhead=300,bandwidth=12.5e9,eager=8192 (nanoseconds, bytes a second, bytes)".into(),
    }
    };
    let mut network = *otherwise;
    for word in text.split(',') {
        let (name, value) = word.split_once('=').ok_or_else(|| wrong(format!("`{word}` has no value")))?;
        let value: f64 = value.parse().map_err(|_| wrong(format!("`{value}` is no number")))?;
        if !(value >= 0.0 && value.is_finite()) {
            return Err(wrong(format!("`{word}` is not 0 or more")));
        }
        match name {
            "overhead" => network.overhead = value.round() as u64,
            "latency" => network.latency = value.round() as u64,
            "gap" => network.gap = value.round() as u64,
            "bandwidth" if value > 0.0 => network.byte_ps = byte_ps(value),
            "bandwidth" => return Err(wrong("a bandwidth of 0 moves nothing".into())),
            "eager" => network.eager = value.round() as u64,
            _ => return Err(wrong(format!("`{name}` is nothing that a network has"))),
        }
    }
    Ok(network)
}

/// The network of the first pair of ranks whose messages a model fits; what was not measured is as in `otherwise`.
pub fn measured_network(signature: &Signature, otherwise: &Network) -> Option<Network> {
    let pairs = signature.messages.iter().flat_map(|messages| &messages.pairs);
    pairs.filter_map(|pair| Some((pair, pair.loggp.as_ref()?))).next().map(|(pair, model)| Network {
        overhead: model.overhead_ns.max(0.0).round() as u64,
        latency: model.latency_ns.max(0.0).round() as u64,
        gap: model.gap_ns.max(0.0).round() as u64,
        byte_ps: (1e3 * model.gap_per_byte_ns.max(0.0)).round() as u64,
        eager: pair.eager_limit_bytes.unwrap_or(otherwise.eager),
    })
}
