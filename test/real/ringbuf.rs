//! One thread fills a ring buffer of 1,024 numbers, another empties it.
use ringbuf::RingBuffer;
use std::time::Instant;

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(20_000_000, |text| text.parse().expect("a number of rounds"));
    let (mut producer, mut consumer) = RingBuffer::<u64>::new(1024).split();
    let began = Instant::now();
    let filling = std::thread::spawn(move || {
        for number in 0..rounds {
            while producer.push(number).is_err() {
                std::hint::spin_loop();
            }
        }
    });
    let mut sum = 0u64;
    for _ in 0..rounds {
        sum = sum.wrapping_add(loop {
            match consumer.pop() {
                Some(number) => break number,
                None => std::hint::spin_loop(),
            }
        });
    }
    filling.join().expect("the producer ended");
    println!("rounds {rounds}\nresult {sum}\nelapsed {:.3} s", began.elapsed().as_secs_f64());
}
