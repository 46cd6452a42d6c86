//! Where what is known of a network is from.

use falloff_messages::Calibration;

/// Where the network that a run is taken to have had is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The calls in its log; what they do not tell is usual.
    Log(Calibration),
    /// What the user says.
    Words,
    /// A file that `falloff noise` wrote.
    Signature,
}

impl Origin {
    /// As one word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Origin::Log(_) => "log",
            Origin::Words => "words",
            Origin::Signature => "signature",
        }
    }

    /// What the log does not tell of the network, if it is from there.
    pub fn usual(&self) -> Vec<&'static str> {
        let Origin::Log(calibration) = self else { return Vec::new() };
        let all = [
            ("overhead", calibration.overhead),
            ("latency", calibration.one_way),
            ("gap", calibration.gap),
            ("bandwidth", calibration.byte_ps),
            ("eager", calibration.eager),
        ];
        all.into_iter().filter(|(_, known)| known.is_none()).map(|(name, _)| name).collect()
    }
}
