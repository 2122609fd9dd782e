//! Two threads pin themselves again and again, and each time leave an object for later destruction.
use crossbeam_epoch as epoch;
use std::time::Instant;

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(50_000_000, |text| text.parse().expect("a number of rounds"));
    let began = Instant::now();
    let threads: Vec<_> = (0..2u64)
        .map(|thread| {
            std::thread::spawn(move || {
                let mut sum = 0u64;
                for round in 0..rounds {
                    let guard = epoch::pin();
                    if round % 16 == 0 {
                        let object = epoch::Owned::new(round ^ thread).into_shared(&guard);
                        unsafe { guard.defer_destroy(object) };
                    }
                    sum = sum.wrapping_add(round);
                }
                sum
            })
        })
        .collect();
    let sum = threads.into_iter().fold(0u64, |sum, thread| sum.wrapping_add(thread.join().expect("a thread ended")));
    println!("rounds {rounds}\nresult {sum}\nelapsed {:.3} s", began.elapsed().as_secs_f64());
}
