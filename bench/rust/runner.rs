//! The main program of a system in Rust; takes the command line of bench/runner.cpp and prints the same line of JSON.
use crate::recursion::Place;
use crate::trial::*;
use std::time::Instant;

pub trait System: Sized {
    type Place: Place;
    const NAME: &'static str;
    const REMARK: &'static str;

    fn new(workers: usize) -> Result<Self, String>;
    /// Calls f, which starts all passes, where branches may be created.
    fn inside<R: Send>(&self, f: impl FnOnce(Self::Place) -> R + Send) -> R;
}

const PROOF_TASKS_MAX: u64 = 2_000;

#[derive(Default)]
struct Request {
    problem: String,
    workers: usize,
    milliseconds: f64,
    passes: u64,
    tasks_max: u64,
}

struct Sample {
    ns: f64,
    counts_right: bool,
    order_right: bool,
}

fn measure<S: System>(p: Problem, r: &Request) -> Result<Sample, String> {
    let system = S::new(r.workers)?;
    let tasks = p.tasks();
    let proof = p.shortened(PROOF_TASKS_MAX);
    let (mut small, mut whole) = (Recursion::new(proof), Recursion::new(p));
    let watch = Watch::new(4 * proof.tasks());
    // A place stays on the thread that it was given to; the call that gets it waits there.
    Ok(system.inside(|at| {
        let found = small.run(Watched { at, by: &watch });
        let order_right = watch.all_right() && found == small.expected && small.left_right(1);
        let (mut done, mut answers_right) = (0, true);
        let mut timed = |passes: u64| {
            let start = Instant::now();
            for _ in 0..passes {
                answers_right &= whole.run(at) == whole.expected;
            }
            done += passes;
            start.elapsed().as_secs_f64() * 1e9
        };
        timed(1);
        let (mut ns, mut passes, mut batch) = (0.0, 0, 1);
        if r.passes > 0 {
            ns = timed(r.passes);
            passes = r.passes;
        }
        while passes == 0 || (r.passes == 0 && ns < r.milliseconds * 1e6) {
            ns += timed(batch);
            passes += batch;
            batch *= 2;
        }
        let counts_right = !order_right || (answers_right && whole.left_right(done));
        Sample { ns: ns / passes as f64 / tasks as f64, counts_right, order_right }
    }))
}

extern "C" {
    fn getsid(pid: i32) -> i32;
    fn prctl(option: i32, ...) -> i32;
}

/// As in bench/runner.cpp: a session of its own, which ends with the tool.
fn ask_for_priority() -> bool {
    const PR_SET_PDEATHSIG: i32 = 1;
    const SIGKILL: std::os::raw::c_ulong = 9;
    // SAFETY: neither touches memory.
    let session = unsafe {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        getsid(0)
    };
    session as u32 == std::process::id() && std::fs::write("/proc/self/autogroup", "-20").is_ok()
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    if arguments.len() < 2 || arguments.len() % 2 != 0 {
        return Err("usage: SYSTEM PROBLEM [--option VALUE]...".into());
    }
    let mut r = Request { workers: 1, milliseconds: 100.0, tasks_max: u64::MAX, ..Default::default() };
    r.problem = arguments[1].clone();
    for pair in arguments[2..].chunks(2) {
        let number = || match pair[1].parse::<f64>() {
            Ok(n) if n > 0.0 => Ok(n),
            _ => Err(format!("{}: no number: {}", pair[0], pair[1])),
        };
        match pair[0].as_str() {
            "--policy" => {}
            "--workers" => r.workers = number()? as usize,
            "--milliseconds" => r.milliseconds = number()?,
            "--passes" => r.passes = number()? as u64,
            "--tasks" => r.tasks_max = number()? as u64,
            _ => return Err(format!("unknown option {}", pair[0])),
        }
    }
    Ok(r)
}

fn run<S: System>(arguments: &[String]) -> Result<(), String> {
    let priority = ask_for_priority();
    let r = parse(arguments)?;
    if arguments[0] != S::NAME {
        return Err(format!("no system {}", arguments[0]));
    }
    let whole = PROBLEMS.iter().find(|p| p.name == r.problem).ok_or(format!("unknown problem {}", r.problem))?;
    let p = whole.shortened(r.tasks_max);
    let got = measure::<S>(p, &r)?;
    println!(
        "{{\"system\": \"{}\", \"version\": \"{}\", \"problem\": \"{}\", \"workers\": {}, \"value\": {}, \
         \"above\": false, \"counts_right\": {}, \"order_right\": {}, \"tasks\": {}, \"priority\": {}, \
         \"comparable\": true, \"remark\": \"{}\"}}",
        S::NAME,
        option_env!("WEFT_PEER_VERSION").unwrap_or(S::NAME),
        p.name,
        r.workers,
        got.ns,
        got.counts_right,
        got.order_right,
        p.tasks(),
        priority,
        S::REMARK
    );
    Ok(())
}

fn check<S: System>() -> Result<(), String> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut wrong = 0;
    for whole in PROBLEMS {
        let p = whole.shortened(500);
        for workers in 1..=cores.min(4) {
            let got = measure::<S>(p, &Request { workers, passes: 1, ..Default::default() })?;
            let right = got.counts_right && got.order_right;
            println!("{} {}, {} workers: {}", S::NAME, p.name, workers, if right { "right" } else { "WRONG" });
            wrong += if right { 0 } else { 1 };
        }
    }
    if wrong == 0 { Ok(()) } else { std::process::exit(1) }
}

pub fn main<S: System>() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = if arguments == ["--check"] { check::<S>() } else { run::<S>(&arguments) };
    if let Err(why) = done {
        eprintln!("{}", why);
        std::process::exit(2);
    }
}
