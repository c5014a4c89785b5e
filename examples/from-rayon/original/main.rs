// rayon: which numbers below three million have a Collatz sequence of more than 400 steps, by map, filter and collect.
use rayon::prelude::*;

fn steps(from: u64) -> u32 {
    let (mut x, mut steps) = (from, 0);
    while x != 1 {
        x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
        steps += 1;
    }
    steps
}

fn main() {
    let found: Vec<u64> = (1..3_000_000)
        .into_par_iter()
        .map(|n| (n, steps(n)))
        .filter(|&(_, steps)| steps > 400)
        .map(|(n, _)| n)
        .collect();
    let ordered = found.windows(2).all(|pair| pair[0] < pair[1]);
    println!("{} numbers, the first is {}", found.len(), found[0]);
    std::process::exit(if ordered && found[0] == 230_631 { 0 } else { 1 });
}
