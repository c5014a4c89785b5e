//! The recursions of bench/recursion.hpp in Rust: the same trees, the same calls, the same answers.

/// Where a body is, and how it forks.
pub trait Place: Copy {
    fn fork<A, B>(self, first: A, second: B) -> (u64, u64)
    where
        A: FnOnce(Self) -> u64 + Send,
        B: FnOnce(Self) -> u64 + Send;
}

/// Keeps the compiler from seeing where a number comes from.
#[inline(always)]
pub fn opaque(mut x: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe { std::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}

/// leaf(place, i) for each i from first to last - 1, added up; sums of hashes run over.
fn sum_range<P: Place, L: Fn(P, u64) -> u64 + Sync>(at: P, first: u64, last: u64, leaf: &L) -> u64 {
    if last - first == 1 {
        return leaf(at, first);
    }
    let middle = first + (last - first) / 2;
    let (a, b) = at.fork(|p| sum_range(p, first, middle, leaf), |p| sum_range(p, middle, last, leaf));
    opaque(a).wrapping_add(opaque(b))
}

pub fn fib<P: Place>(at: P, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = at.fork(|p| fib(p, n - 1), |p| fib(p, n - 2));
    opaque(a) + opaque(b)
}

pub const CHILDREN: u64 = 8;
pub const ROOT: u64 = mixed(12);
const THRESHOLD: u64 = (0.1245 * 18446744073709551616.0) as u64;

pub const fn mixed(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e3779b97f4a7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
    z ^ z >> 31
}
pub fn is_inner(node: u64) -> bool {
    node < THRESHOLD
}
pub fn child(node: u64, i: u64) -> u64 {
    mixed(node.wrapping_mul(31).wrapping_add(i + 1))
}
pub fn counted(node: u64) -> u64 {
    (node >> 32 << 32) + 1
}
fn search<P: Place>(at: P, node: u64) -> u64 {
    if !is_inner(node) {
        return counted(node);
    }
    counted(node).wrapping_add(sum_range(at, 0, CHILDREN, &|p, i| search(p, child(node, i))))
}
pub fn search_all<P: Place>(at: P, children_of_root: u64) -> u64 {
    counted(ROOT).wrapping_add(sum_range(at, 0, children_of_root, &|p, i| search(p, child(ROOT, i))))
}
pub const ONE_SOLUTION: u64 = 1 << 32;

fn queens_on<P: Place>(at: P, all: u32, taken: u32, left: u32, right: u32, open: u32) -> u64 {
    let first = open & open.wrapping_neg();
    let rest = open ^ first;
    let on_first = |p| queens(p, all, taken | first, (left | first) << 1 & all, (right | first) >> 1);
    if rest == 0 {
        return on_first(at);
    }
    let (a, b) = at.fork(on_first, |p| queens_on(p, all, taken, left, right, rest));
    opaque(a) + opaque(b)
}
pub fn queens<P: Place>(at: P, all: u32, taken: u32, left: u32, right: u32) -> u64 {
    if taken == all {
        return ONE_SOLUTION + 1;
    }
    match all & !(taken | left | right) {
        0 => 1,
        open => 1 + queens_on(at, all, taken, left, right, open),
    }
}

pub fn skynet<P: Place>(at: P, first: u64, leaves: u64) -> u64 {
    const WAYS: u64 = 10;
    if leaves == 1 {
        return first;
    }
    let part = leaves / WAYS;
    sum_range(at, 0, WAYS, &|p, i| skynet(p, first + i * part, part))
}

/// C += A B by quarters of C.
#[derive(Clone, Copy)]
pub struct Product {
    pub a: *const f64,
    pub b: *const f64,
    pub c: *mut f64,
    pub side: usize,
    pub stride: usize,
}
// SAFETY: branches write different quarters of C.
unsafe impl Send for Product {}
unsafe impl Sync for Product {}

pub const LEAF: usize = 16;

impl Product {
    fn part(&self, row: usize, column: usize, inner: usize) -> Product {
        let h = self.side / 2;
        // SAFETY: inside of the three matrices.
        unsafe {
            Product {
                a: self.a.add((row * self.stride + inner) * h),
                b: self.b.add((inner * self.stride + column) * h),
                c: self.c.add((row * self.stride + column) * h),
                side: h,
                ..*self
            }
        }
    }
    fn compute(&self) {
        for i in 0..LEAF {
            // SAFETY: rows of LEAF numbers inside of the three matrices.
            unsafe {
                let to = self.c.add(i * self.stride) as *mut [f64; LEAF];
                let mut row = *to;
                for k in 0..LEAF {
                    let factors = &*(self.b.add(k * self.stride) as *const [f64; LEAF]);
                    let x = *self.a.add(i * self.stride + k);
                    for j in 0..LEAF {
                        row[j] += x * factors[j];
                    }
                }
                *to = row;
            }
        }
    }
}
pub fn multiply<P: Place>(at: P, x: Product) -> u64 {
    if x.side == LEAF {
        x.compute();
        return 1;
    }
    let half = |inner| {
        sum_range(at, 0, 4, &move |p, quarter: u64| multiply(p, x.part(quarter as usize / 2, quarter as usize % 2, inner)))
    };
    half(0) + half(1)
}

pub struct Node {
    pub number: u64,
    pub children: Option<(Box<Node>, Box<Node>)>,
}
pub fn tree_sum<P: Place>(at: P, n: &Node) -> u64 {
    match &n.children {
        None => n.number,
        Some((left, right)) => {
            let (a, b) = at.fork(|p| tree_sum(p, left), |p| tree_sum(p, right));
            n.number + opaque(a) + opaque(b)
        }
    }
}
