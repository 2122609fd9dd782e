//! One thread publishes numbers, another reads the newest, each as fast as it can.
use std::time::Instant;
use triple_buffer::TripleBuffer;

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(20_000_000, |text| text.parse().expect("a number of rounds"));
    let (mut input, mut output) = TripleBuffer::<u64>::default().split();
    let began = Instant::now();
    let writing = std::thread::spawn(move || {
        for number in 1..=rounds {
            input.write(number);
        }
    });
    let mut newest = 0;
    while newest < rounds {
        newest = *output.read();
    }
    writing.join().expect("the writer ended");
    println!("rounds {rounds}\nresult {newest}\nelapsed {:.3} s", began.elapsed().as_secs_f64());
}
