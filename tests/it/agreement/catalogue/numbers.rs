//! Numbers: every width, within and without bounds.

use std::num::{NonZeroI16, NonZeroU8};

use tool_sdk::prelude::*;

use super::echo;

#[tool]
fn agree_integers(
    i8: i8,
    i16: i16,
    i32: i32,
    i64: i64,
    isize: isize,
    u8: u8,
    u16: u16,
    u32: u32,
    u64: u64,
    usize: usize,
) -> Value {
    echo!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize)
}

#[tool]
fn agree_optional_integers(
    i8: Option<i8>,
    i16: Option<i16>,
    i32: Option<i32>,
    i64: Option<i64>,
    isize: Option<isize>,
    u8: Option<u8>,
    u16: Option<u16>,
    u32: Option<u32>,
    u64: Option<u64>,
    usize: Option<usize>,
) -> Value {
    echo!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize)
}

#[tool]
fn agree_bounded_integers(
    #[arg(min = -5, max = 5)] i8: i8,
    #[arg(exclusive_min = -300, exclusive_max = 300)] i16: i16,
    #[arg(min = i32::MIN + 1)] i32: i32,
    #[arg(min = -9_007_199_254_740_993_i64, max = 9_007_199_254_740_993_i64)] i64: i64,
    #[arg(exclusive_min = isize::MIN)] isize: isize,
    #[arg(min = 1)] u8: u8,
    #[arg(exclusive_min = 9, max = 100)] u16: u16,
    #[arg(exclusive_max = u32::MAX)] u32: u32,
    #[arg(max = 9_007_199_254_740_993_u64)] u64: u64,
    #[arg(min = 9_007_199_254_740_993_usize)] usize: usize,
    #[arg(min = 1, max = 20)] optional: Option<u8>,
    #[arg(exclusive_min = 0, exclusive_max = 9)] list: Vec<i32>,
    #[arg(min = -1, max = 1)] optional_list: Option<Vec<i64>>,
    #[arg(min = 0, max = 100)] nested: Vec<Vec<Option<u8>>>,
    #[arg(max = 7)] array: [u64; 2],
) -> Value {
    echo!(
        i8,
        i16,
        i32,
        i64,
        isize,
        u8,
        u16,
        u32,
        u64,
        usize,
        optional,
        list,
        optional_list,
        nested,
        array,
    )
}

#[tool]
fn agree_nonzero_integers(byte: NonZeroU8, signed: NonZeroI16, list: Vec<NonZeroU8>) -> Value {
    echo!(byte, signed, list)
}

#[tool]
fn agree_floats(plain: f64, optional: Option<f64>, list: Vec<f64>) -> Value {
    echo!(plain, optional, list)
}

#[tool_type]
struct Singles {
    plain: f32,
    optional: Option<f32>,
}

#[tool_type]
enum Single {
    One(f32),
    Both(Singles),
}

#[tool]
fn agree_single_floats(
    plain: f32,
    optional: Option<f32>,
    list: Vec<f32>,
    singles: Singles,
    single: Single,
) -> Value {
    echo!(plain, optional, list, singles, single)
}

#[tool]
fn agree_bounded_floats(
    #[arg(min = 0, max = 1)] ratio: f64,
    #[arg(exclusive_min = -0.1, exclusive_max = 0.1)] near: f64,
    #[arg(min = 1e300)] huge: f64,
    #[arg(max = 1.5)] optional: Option<f64>,
    #[arg(min = -1.5, exclusive_max = 2)] list: Vec<f64>,
    #[arg(exclusive_min = 0)] array: [f64; 2],
) -> Value {
    echo!(ratio, near, huge, optional, list, array)
}

#[tool]
fn agree_bounded_single_floats(
    #[arg(min = -0.5, max = 0.5)] plain: f32,
    #[arg(min = 0)] optional: Option<f32>,
    #[arg(max = 1e30)] list: Vec<f32>,
) -> Value {
    echo!(plain, optional, list)
}
