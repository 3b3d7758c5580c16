// SPDX-License-Identifier: GPL-2.0
// Closures, generics, a hash map, strings, and a panic that is caught.
use std::collections::HashMap;

#[inline(never)]
fn descend(depth: u32, f: &dyn Fn(u32) -> u64) -> u64 {
    if depth == 0 { f(0) } else { f(depth) + descend(depth - 1, f) }
}

fn once(i: u32) -> u64 {
    let mut map: HashMap<String, u64> = HashMap::new();
    for k in 0..50 {
        *map.entry(format!("{}", k % 17)).or_insert(0) += (k * i) as u64;
    }
    let mut all: Vec<_> = map.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let first = all[0].1;
    descend(12, &|d| first.wrapping_mul(d as u64))
}

fn main() {
    let n: u32 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1);
    std::panic::set_hook(Box::new(|_| {}));
    let sum: u64 = (0..10 * n).map(once).fold(0, u64::wrapping_add);
    let caught = std::panic::catch_unwind(|| { if n > 0 { panic!("bottom") } }).is_err();
    std::process::exit(if caught && sum > 0 { 0 } else { 1 });
}
