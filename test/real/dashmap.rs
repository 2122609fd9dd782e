//! Two threads count in one map, each in a shard of its own, the two beside each other.
use dashmap::DashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::time::Instant;

/// A key's hash is the key, so that it chooses its shard.
#[derive(Default)]
struct SameHasher(u64);

impl Hasher for SameHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// The map takes the shard from the hash's bits behind the seven highest: of 8 shards from three bits.
const SHARD_BIT: u64 = 1 << 54;

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(50_000_000, |text| text.parse().expect("a number of rounds"));
    let map: Arc<DashMap<u64, u64, BuildHasherDefault<SameHasher>>> = Arc::new(DashMap::with_hasher_and_shard_amount(Default::default(), 8));
    let began = Instant::now();
    let threads: Vec<_> = (0..2u64)
        .map(|thread| {
            let map = map.clone();
            std::thread::spawn(move || {
                for round in 0..rounds {
                    *map.entry((2 + thread) * SHARD_BIT + round % 16).or_insert(0) += 1;
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("a counting thread ended");
    }
    let sum: u64 = map.iter().map(|entry| *entry.value()).sum();
    println!("rounds {rounds}\nresult {sum}\nelapsed {:.3} s", began.elapsed().as_secs_f64());
}
