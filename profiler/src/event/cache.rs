//! Cache events, named as perf names them: `L1-dcache-load-misses`, `LLC-loads`, `dTLB-store-misses`.

use super::table::{CACHE, DEFAULT_RATE_HZ, PerfEvent, Sampling};

/// Name, number in `perf_hw_cache_id`, and the operations that it has.
const CACHES: [(&str, u64, &[Operation]); 7] = [
    ("L1-dcache", 0, &[LOAD, STORE, PREFETCH]),
    ("L1-icache", 1, &[LOAD, PREFETCH]),
    ("LLC", 2, &[LOAD, STORE, PREFETCH]),
    ("dTLB", 3, &[LOAD, STORE, PREFETCH]),
    ("iTLB", 4, &[LOAD]),
    ("branch", 5, &[LOAD]),
    ("node", 6, &[LOAD, STORE, PREFETCH]),
];

/// One, many, and the number in `perf_hw_cache_op_id`.
type Operation = (&'static str, &'static str, u64);
const LOAD: Operation = ("load", "loads", 0);
const STORE: Operation = ("store", "stores", 1);
const PREFETCH: Operation = ("prefetch", "prefetches", 2);

/// All cache events.
pub(super) fn events() -> impl Iterator<Item = PerfEvent> {
    CACHES.iter().flat_map(|(cache, id, operations)| {
        operations.iter().flat_map(move |(one, many, operation)| {
            [
                event(format!("{cache}-{many}"), id | operation << 8, format!("{many} of {cache}")),
                event(
                    format!("{cache}-{one}-misses"),
                    id | operation << 8 | 1 << 16,
                    format!("{many} that miss {cache}"),
                ),
            ]
        })
    })
}

fn event(name: String, config: u64, counts: String) -> PerfEvent {
    PerfEvent { name, kind: CACHE, config, counts, default: Sampling::Rate(DEFAULT_RATE_HZ) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_kernel() {
        let config = |name: &str| events().find(|e| e.name == name).map(|e| e.config);
        assert_eq!(config("L1-dcache-load-misses"), Some(0x1_0000));
        assert_eq!(config("LLC-loads"), Some(2));
        assert_eq!(config("dTLB-store-misses"), Some(0x1_0103));
        assert_eq!(config("iTLB-stores"), None);
        assert_eq!(events().count(), 32);
    }
}
