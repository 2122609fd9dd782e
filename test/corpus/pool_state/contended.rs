// The state of a pool behind an Arc: a count that one thread writes, beside a limit that another one reads.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;

#[repr(C)]
// @definition PoolState
struct PoolState {
    limit: AtomicU64,
    completed: AtomicU64,
}

fn complete(state: &PoolState, rounds: u64) {
    for _ in 0..rounds {
        state.completed.fetch_add(1, Ordering::Relaxed); // @contended PoolState.completed
    }
}

fn plan(state: &PoolState, rounds: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..16 * rounds {
        sum += state.limit.load(Ordering::Acquire); // @contended PoolState.limit
    }
    sum
}

fn main() {
    let rounds = match std::env::args().nth(1) {
        None => 30_000_000,
        Some(text) => text
            .parse()
            .ok()
            .filter(|&value| value > 0)
            .unwrap_or_else(|| {
                eprintln!("usage: pool_state [ROUNDS], not '{text}'");
                std::process::exit(2);
            }),
    };
    let state = Arc::new(PoolState {
        limit: AtomicU64::new(3),
        completed: AtomicU64::new(0),
    });
    let start = Instant::now();
    let worker = {
        let state = Arc::clone(&state);
        std::thread::spawn(move || complete(&state, rounds))
    };
    let planner = {
        let state = Arc::clone(&state);
        std::thread::spawn(move || plan(&state, rounds))
    };
    worker.join().unwrap();
    let sum = planner.join().unwrap() + state.completed.load(Ordering::Relaxed);
    println!(
        "rounds {rounds}\nresult {sum}\nelapsed {:.3} s",
        start.elapsed().as_secs_f64()
    );
}
