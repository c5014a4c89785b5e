//! chili: `Scope::join`, the scope handed along. The thread that starts the passes is a worker, and there is a thread
//! more for the heartbeat.
#[path = "../recursion.rs"]
mod recursion;
#[path = "../runner.rs"]
mod runner;
#[path = "../trial.rs"]
mod trial;

use recursion::Place;

/// A scope without its lifetime, which a trait of Rust 1.63 cannot have: each branch makes one from the scope it gets,
/// and uses it no longer than it has that scope.
#[derive(Clone, Copy)]
struct Scope(*mut chili::Scope<'static>);

impl Scope {
    #[inline(always)]
    fn of(scope: &mut chili::Scope<'_>) -> Self {
        Scope((scope as *mut chili::Scope<'_>).cast())
    }
}

impl Place for Scope {
    #[inline(always)]
    fn fork<A, B>(self, first: A, second: B) -> (u64, u64)
    where
        A: FnOnce(Self) -> u64 + Send,
        B: FnOnce(Self) -> u64 + Send,
    {
        // SAFETY: the scope is that of the body that calls, which waits in this function.
        unsafe { &mut *self.0 }.join(|s| first(Scope::of(s)), |s| second(Scope::of(s)))
    }
}

struct Chili(chili::ThreadPool);

impl runner::System for Chili {
    type Place = Scope;
    const NAME: &'static str = "chili";
    const REMARK: &'static str = "chili offers others one join in 64 and calls the branches of the rest";

    fn new(workers: usize) -> Result<Self, String> {
        let thread_count = std::num::NonZero::new(workers);
        Ok(Chili(chili::ThreadPool::with_config(chili::Config { thread_count, ..Default::default() })))
    }
    fn inside<R: Send>(&self, f: impl FnOnce(Scope) -> R + Send) -> R {
        f(Scope::of(&mut self.0.scope()))
    }
}

fn main() {
    runner::main::<Chili>();
}
