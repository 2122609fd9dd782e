// contended.rs with a line for each thread's meter; nothing else differs.
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const MOST_THREADS: usize = 8;

#[repr(align(64))]
struct Meter {
    hits: AtomicU64,
    bytes: AtomicU64,
}

// The table begins a cache line, so that the first four meters lie on one in each build.
#[repr(align(64))]
struct Table([Meter; MOST_THREADS]);

static METERS: Table = Table(
    [const {
        Meter {
            hits: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }; MOST_THREADS],
);

fn count(own: &Meter, rounds: u64) {
    for i in 0..rounds {
        own.hits.fetch_add(1, Ordering::Relaxed);
        own.bytes.fetch_add(i & 1023, Ordering::Relaxed);
    }
}

fn argument(number: usize, standard: u64) -> u64 {
    match std::env::args().nth(number) {
        None => standard,
        Some(text) => text
            .parse()
            .ok()
            .filter(|&value| value > 0)
            .unwrap_or_else(|| {
                eprintln!("usage: meter_array [ROUNDS [THREADS]], not '{text}'");
                std::process::exit(2);
            }),
    }
}

fn main() {
    let rounds = argument(1, 6_000_000);
    let threads = (argument(2, 2) as usize).min(MOST_THREADS);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for own in &METERS.0[..threads] {
            scope.spawn(move || count(own, rounds));
        }
    });
    let sum: u64 = METERS
        .0
        .iter()
        .map(|one| one.hits.load(Ordering::Relaxed) + one.bytes.load(Ordering::Relaxed))
        .sum();
    println!(
        "rounds {rounds}\nresult {sum}\nelapsed {:.3} s",
        start.elapsed().as_secs_f64()
    );
}
