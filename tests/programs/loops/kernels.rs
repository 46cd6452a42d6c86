// Loops of Rust, compiled by LLVM. The marks are explained in kernels.c.
use std::hint::black_box;

// loops triple: i(j(k))
#[inline(never)]
pub fn triple(c: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    for i in 0..n { // @i
        for j in 0..n { // @j
            let mut sum = 0.0;
            for k in 0..n { // @k
                sum += a[i * n + k] * b[k * n + j];
            }
            c[i * n + j] = sum;
        }
    }
}

// loops total: sum
#[inline(never)]
pub fn total(v: &[i32]) -> i32 {
    let mut t = 0;
    for x in v { // @sum
        t += x ^ 5;
    }
    t
}

// loops position_of: find
#[inline(never)]
pub fn position_of(v: &[i32], key: i32) -> Option<usize> {
    let mut i = 0;
    while i < v.len() { // @find
        if v[i] == key {
            return Some(i);
        }
        i += 1;
    }
    None
}

fn main() {
    let v: Vec<i32> = (0..1000).collect();
    let f: Vec<f64> = v.iter().map(|x| *x as f64).collect();
    let mut c = vec![0.0; 900];
    triple(black_box(&mut c), black_box(&f), black_box(&f), 30);
    println!("{} {:?} {}", total(black_box(&v)), position_of(black_box(&v), 77), c[5]);
}
