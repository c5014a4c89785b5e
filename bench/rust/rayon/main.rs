//! rayon: `join`, in a pool of as many threads as workers; the thread that starts the passes waits outside of it.
#[path = "../recursion.rs"]
mod recursion;
#[path = "../runner.rs"]
mod runner;
#[path = "../trial.rs"]
mod trial;

use recursion::Place;

#[derive(Clone, Copy)]
struct Join;

impl Place for Join {
    #[inline(always)]
    fn fork<A, B>(self, first: A, second: B) -> (u64, u64)
    where
        A: FnOnce(Self) -> u64 + Send,
        B: FnOnce(Self) -> u64 + Send,
    {
        rayon_core::join(|| first(Join), || second(Join))
    }
}

struct Rayon(rayon_core::ThreadPool);

impl runner::System for Rayon {
    type Place = Join;
    const NAME: &'static str = "rayon";
    const REMARK: &'static str = "";

    fn new(workers: usize) -> Result<Self, String> {
        let pool = rayon_core::ThreadPoolBuilder::new().num_threads(workers).build();
        pool.map(Rayon).map_err(|e| e.to_string())
    }
    fn inside<R: Send>(&self, f: impl FnOnce(Join) -> R + Send) -> R {
        self.0.install(|| f(Join))
    }
}

fn main() {
    runner::main::<Rayon>();
}
