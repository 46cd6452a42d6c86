//! Which contexts there are, which process holds which, and what they cost.

/// A run: one process of one thread for each location.
///
/// Context 0 is the outermost function; each other one is called by an earlier one, so that paths get about twenty deep
/// with 100,000 contexts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Processes.
    pub locations: u32,
    /// Contexts of all processes together.
    pub contexts: u32,
    /// Share of the contexts in which each process has a cost of its own. There is always a process that has.
    pub density: f64,
}

impl Shape {
    /// The caller of a context.
    pub fn caller(&self, context: u32) -> Option<u32> {
        let farthest = context.checked_sub(1)?;
        let near = u64::from(context) * 11 / 20;
        let spread = u64::from(context) / 10 + 1;
        Some(((near + mixed(context.into()) % spread) as u32).min(farthest))
    }

    /// Cost of a context's own at a location: CPU time in nanoseconds, and samples. Nothing for most.
    pub fn cost(&self, location: u32, context: u32) -> Option<[u64; 2]> {
        let hash = mixed(u64::from(location) << 32 | u64::from(context));
        let chosen = (hash >> 11) as f64 / (1u64 << 53) as f64;
        let held = chosen < self.density || context % self.locations.max(1) == location;
        held.then(|| {
            let samples = 1 + hash % 3;
            [samples * 5_000_000 + hash % 1000, samples]
        })
    }

    /// Address of a context's code in [`Shape::MODULE`].
    pub fn address(context: u32) -> u64 {
        0x1000 + u64::from(context) * 16
    }

    /// The one module, of which there is no file.
    pub const MODULE: &'static str = "/nowhere/app";

    /// Name of a context in reports.
    pub fn name(context: u32) -> String {
        format!("app+0x{:x}", Shape::address(context))
    }
}

/// The finaliser of the splitmix64 generator: every bit depends on every bit.
fn mixed(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}
