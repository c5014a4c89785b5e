//! A recursive problem with its data and its right answer, and the proof that a system runs each branch once; as
//! bench/recursion.cpp and bench/branch_watch.hpp.
use crate::recursion::*;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};

#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    Fib,
    Uts,
    Queens,
    Skynet,
    Matmul,
    Tree,
}

#[derive(Clone, Copy)]
pub struct Problem {
    pub name: &'static str,
    pub form: Form,
    pub size: u64,
}

/// The sizes of bench/problem.cpp.
pub const PROBLEMS: [Problem; 7] = [
    Problem { name: "fib", form: Form::Fib, size: 30 },
    Problem { name: "uts", form: Form::Uts, size: 800 },
    Problem { name: "nqueens", form: Form::Queens, size: 12 },
    Problem { name: "skynet", form: Form::Skynet, size: 1_000_000 },
    Problem { name: "matmul", form: Form::Matmul, size: 256 },
    Problem { name: "treesum1k", form: Form::Tree, size: 10 },
    Problem { name: "treesum4m", form: Form::Tree, size: 22 },
];
const SOLUTIONS: [u64; 16] =
    [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2_680, 14_200, 73_712, 365_596, 2_279_184];

fn fib_by_adding(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}
fn walk_unbalanced(children_of_root: u64) -> u64 {
    let mut open: Vec<u64> = (0..children_of_root).map(|i| child(ROOT, i)).collect();
    let mut found = counted(ROOT);
    while let Some(node) = open.pop() {
        found = found.wrapping_add(counted(node));
        if is_inner(node) {
            open.extend((0..CHILDREN).map(|i| child(node, i)));
        }
    }
    found
}
fn count_boards(columns: u64) -> u64 {
    let all = (1u32 << columns) - 1;
    let mut open = vec![(0u32, 0u32, 0u32)];
    let mut boards = 0;
    while let Some((taken, left, right)) = open.pop() {
        boards += 1;
        let mut free = all & !(taken | left | right);
        while free != 0 {
            let queen = free & free.wrapping_neg();
            open.push((taken | queen, (left | queen) << 1 & all, (right | queen) >> 1));
            free ^= queen;
        }
    }
    boards
}
fn leaf_products(side: u64) -> u64 {
    (side / LEAF as u64).pow(3)
}

impl Problem {
    /// What a figure is divided by.
    pub fn tasks(&self) -> u64 {
        match self.form {
            Form::Fib => fib_by_adding(self.size + 1) - 1,
            Form::Uts => walk_unbalanced(self.size) & 0xffff_ffff,
            Form::Queens => count_boards(self.size),
            Form::Skynet => self.size,
            Form::Matmul => leaf_products(self.size),
            Form::Tree => (1 << self.size) - 1,
        }
    }
    fn answer(&self) -> u64 {
        match self.form {
            Form::Fib => fib_by_adding(self.size),
            Form::Uts => walk_unbalanced(self.size),
            Form::Queens => SOLUTIONS[self.size as usize] * ONE_SOLUTION + self.tasks(),
            Form::Skynet => self.size * (self.size - 1) / 2,
            Form::Matmul => leaf_products(self.size),
            Form::Tree => self.tasks() * (self.tasks() - 1) / 2,
        }
    }
    pub fn shortened(mut self, tasks_max: u64) -> Problem {
        while self.tasks() > tasks_max {
            let (to, least) = match self.form {
                Form::Fib => (self.size - 1, 3),
                Form::Uts => (self.size / 2, 2),
                Form::Queens => (self.size - 1, 4),
                Form::Skynet => (self.size / 10, 10),
                Form::Matmul => (self.size / 2, 2 * LEAF as u64),
                Form::Tree => (self.size - 1, 2),
            };
            if to < least {
                break;
            }
            self.size = to;
        }
        self
    }
}

fn make_tree(levels: u64, next: &mut u64) -> Node {
    let number = *next;
    *next += 1;
    let children = (levels > 1).then(|| {
        let left = Box::new(make_tree(levels - 1, next));
        (left, Box::new(make_tree(levels - 1, next)))
    });
    Node { number, children }
}

pub struct Recursion {
    problem: Problem,
    pub expected: u64,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    tree: Node,
}

impl Recursion {
    pub fn new(problem: Problem) -> Self {
        let items = if problem.form == Form::Matmul { problem.size * problem.size } else { 0 };
        let levels = if problem.form == Form::Tree { problem.size } else { 1 };
        let numbers = |from: u64| (from..from + items).map(|i| (mixed(i) % 4 + 1) as f64).collect();
        let (a, b) = (numbers(0), numbers(items));
        Recursion { problem, expected: problem.answer(), a, b, c: vec![0.0; items as usize], tree: make_tree(levels, &mut 0) }
    }
    pub fn run<P: Place>(&mut self, at: P) -> u64 {
        let size = opaque(self.problem.size);
        match self.problem.form {
            Form::Fib => fib(at, size),
            Form::Uts => search_all(at, size),
            Form::Queens => queens(at, (1 << size) - 1, 0, 0, 0),
            Form::Skynet => skynet(at, 0, size),
            Form::Matmul => {
                let side = size as usize;
                let (a, b, c) = (self.a.as_ptr(), self.b.as_ptr(), self.c.as_mut_ptr());
                multiply(at, Product { a, b, c, side, stride: side })
            }
            Form::Tree => tree_sum(at, &self.tree),
        }
    }
    pub fn left_right(&self, passes: u64) -> bool {
        let n = if self.problem.form == Form::Matmul { self.problem.size as usize } else { 0 };
        (0..n).all(|i| {
            let mut row = vec![0.0; n];
            for k in 0..n {
                for j in 0..n {
                    row[j] += self.a[i * n + k] * self.b[k * n + j];
                }
            }
            (0..n).all(|j| self.c[i * n + j] == row[j] * passes as f64)
        })
    }
}

#[derive(Default)]
struct Branch {
    begun: AtomicU32,
    over: AtomicU32,
}

fn spin(rounds: u64) {
    (0..rounds).fold(rounds, |x, _| opaque(x.wrapping_mul(6364136223846793005)));
}

impl Branch {
    fn run(&self, number: u64, f: impl FnOnce() -> u64) -> u64 {
        self.begun.fetch_add(1, SeqCst);
        spin(number.wrapping_mul(0x9e3779b97f4a7c15) >> 58);
        let result = f();
        spin(number.wrapping_mul(0xd1342543de82ef95) >> 58);
        self.over.fetch_add(1, SeqCst);
        result
    }
    fn ran_once(&self) -> bool {
        self.begun.load(SeqCst) == 1 && self.over.load(SeqCst) == 1
    }
}

pub struct Watch {
    branches: Vec<Branch>,
    used: AtomicUsize,
    wrong: AtomicBool,
}

impl Watch {
    pub fn new(forks_max: u64) -> Self {
        let branches = (0..2 * forks_max).map(|_| Branch::default()).collect();
        Watch { branches, used: AtomicUsize::new(0), wrong: AtomicBool::new(false) }
    }
    pub fn all_right(&self) -> bool {
        let used = self.used.load(SeqCst);
        !self.wrong.load(SeqCst) && used <= self.branches.len() && self.branches[..used].iter().all(Branch::ran_once)
    }
}

/// A place whose forks are watched.
pub struct Watched<'a, P> {
    pub at: P,
    pub by: &'a Watch,
}
impl<P: Copy> Clone for Watched<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Copy> Copy for Watched<'_, P> {}

impl<P: Place> Place for Watched<'_, P> {
    fn fork<A, B>(self, first: A, second: B) -> (u64, u64)
    where
        A: FnOnce(Self) -> u64 + Send,
        B: FnOnce(Self) -> u64 + Send,
    {
        let by = self.by;
        let i = by.used.fetch_add(2, SeqCst);
        let (x, y) = (&by.branches[i], &by.branches[i + 1]); // a panic where there are more than there can be
        let number = i as u64;
        let result = self.at.fork(
            |at| x.run(number + 1, || first(Watched { at, by })),
            |at| y.run(number + 2, || second(Watched { at, by })),
        );
        if !x.ran_once() || !y.ran_once() {
            by.wrong.store(true, SeqCst);
        }
        result
    }
}
