//! Matrix operations of gfx12, with elements where AMD's calculator has them.

use super::*;
use crate::shader::float;
use crate::shader::generation::Registers;

/// First registers of A, B, C and the places of a sparse matrix's elements; D.
const A: usize = 16;
const B: usize = 32;
const C: usize = 48;
const PLACES: usize = 64;
const D: usize = 80;

/// Where an element is in the first lane that has its kind.
#[derive(Clone, Copy)]
struct At {
    lane: usize,
    register: usize,
    shift: u32,
}

/// The elements of line 5 of a matrix, as `tests/data/matrix/SOURCE` says.
fn line(text: &str) -> Vec<At> {
    let location = |item: &str| {
        let mut numbers = item.split(':').map(|number| number.parse::<usize>().unwrap());
        let mut next = || numbers.next().unwrap();
        At { lane: next() - 5, register: next(), shift: next() as u32 }
    };
    text.split(' ').map(location).collect()
}

/// The element of another line.
fn put(wave: &mut Wave, base: usize, at: At, line: usize, bits: u32) {
    let (register, lane) = (base + at.register, at.lane + line);
    let old = wave.lane(register, lane);
    wave.set_lane(register, lane, old | bits << at.shift);
}

/// The bits of 0, 1, 2 and −1 as elements.
fn elements(kind: &str) -> [u32; 4] {
    match kind {
        "f16" => [0, 0x3c00, 0x4000, 0xbc00],
        "bf16" => [0, 0x3f80, 0x4000, 0xbf80],
        "fp8" => [0, 0x38, 0x40, 0xb8],
        "bf8" => [0, 0x3c, 0x40, 0xbc],
        "iu8" => [0, 1, 2, 0xff],
        "iu4" => [0, 1, 2, 0xf],
        "f32" => [0, 1f32.to_bits(), 2f32.to_bits(), (-1f32).to_bits()],
        "i32" => [0, 1, 2, u32::MAX],
        other => panic!("{other}"),
    }
}

const NUMBERS: [i32; 4] = [0, 1, 2, -1];

/// The number that an element of D is.
fn number(kind: &str, bits: u32) -> f32 {
    match kind {
        "f16" => float::f16_to_f32(bits & 0xffff),
        "bf16" => f32::from_bits(bits << 16),
        "f32" => f32::from_bits(bits),
        _ => bits as i32 as f32,
    }
}

/// The number of an operation in VOP3P.
fn opcode(name: &str) -> u32 {
    let name = name.to_uppercase();
    let is = |number: &u32| {
        let words = [0xcc00_0000 | number << 16, 0x0442_0110];
        amdgpu_isa::decode(Target::Gfx1201, &words)
            .is_ok_and(|instruction| instruction.opcode.name().trim_end_matches("_GFX12") == name)
    };
    (64..=90).find(is).unwrap()
}

/// Multiplies matrices of small numbers by an operation; `set` of a sparse one is the part of the register of places
/// that counts.
fn multiply(name: &str, wave32: bool, lines: &[Vec<At>; 3], places: Option<&[At]>, set: u32) {
    let parts: Vec<&str> = name.split('_').collect();
    let (result, a_kind, b_kind) = (parts[2], parts[4], parts[parts.len() - 1]);
    let mut rig = Rig::gfx12(wave32);
    rig.launch.rsrc1 = 0x3f;
    rig.wave = Wave::new(wave32, Traits::of(Target::Gfx1201), Registers { vgprs: 256, all: 256 });
    rig.wave.mode = Mode::without_switches(DENORMALS);
    let [a_line, b_line, d_line] = lines;
    let depth = b_line.len();
    let (mut a, mut b) = ([[0; 64]; 16], [[0; 64]; 16]);
    for line in 0..16 {
        for k in 0..depth {
            let value = (line * 5 + k * k * 3 + k / 7) % 4;
            b[line][k] = NUMBERS[value];
            put(&mut rig.wave, B, b_line[k], line, elements(b_kind)[value]);
        }
        let Some(places) = places else {
            for k in 0..depth {
                let value = (line * 3 + k * 7 + k / 5) % 4;
                a[line][k] = NUMBERS[value];
                put(&mut rig.wave, A, a_line[k], line, elements(a_kind)[value]);
            }
            continue;
        };
        let width = match a_kind {
            "f16" | "bf16" => 16,
            "iu4" => 4,
            _ => 8,
        };
        for quad in 0..depth / 4 {
            // Two of the four elements.
            let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
            let (first, second) = pairs[(line + quad * 5) % 6];
            let at = places[quad];
            let at = At { shift: at.shift + set, ..at };
            put(&mut rig.wave, PLACES, at, line, first | second << 2);
            for (slot, place) in [(0, first), (1, second)] {
                let value = (line * 3 + quad * 7 + slot as usize * 2 + quad / 3 + 1) % 4;
                a[line][4 * quad + place as usize] = NUMBERS[value];
                let at = a_line[quad];
                let at = At { shift: at.shift + slot * width, ..at };
                put(&mut rig.wave, A, at, line, elements(a_kind)[value]);
            }
        }
    }
    let c = |m: usize, n: usize| (m * 3 + n) % 4;
    let (c_base, third) = if places.is_some() { (D, PLACES) } else { (C, C) };
    for n in 0..16 {
        for (m, &at) in d_line.iter().enumerate() {
            put(&mut rig.wave, c_base, at, n, elements(result)[c(m, n)]);
        }
    }
    let signs = if result == "i32" { 3 << 29 } else { 0 };
    let bits = |places: &[At]| places.iter().map(|at| at.shift + 4).max();
    let chosen = places.and_then(bits).map_or(0, |bits| set / bits);
    let words = [
        0xcc00_4000 | opcode(name) << 16 | chosen << 11 | D as u32,
        signs | 3 << 27 | (256 + third as u32) << 18 | (256 + B as u32) << 9 | (256 + A as u32),
    ];
    rig.execute(&words).unwrap();
    for m in 0..16 {
        for n in 0..16 {
            let products: i32 = a[m].iter().zip(&b[n]).map(|(x, y)| x * y).sum();
            let At { lane, register, shift } = d_line[m];
            let value = number(result, rig.wave.lane(D + register, lane + n) >> shift);
            assert_eq!(value, (products + NUMBERS[c(m, n)]) as f32, "{name} {wave32} {m} {n}");
        }
    }
}

#[test]
fn layouts_are_those_of_the_calculator() {
    let text = include_str!("../../../../tests/data/matrix/rdna4.txt");
    let mut lines = text.lines().peekable();
    let mut count = 0;
    while let Some(first) = lines.next() {
        let (head, a) = first.split_once(" A ").unwrap();
        let (name, lanes) = head.split_once(' ').unwrap();
        let mut next = |matrix: &str| {
            let text = lines.next_if(|line| line.starts_with(head))?;
            Some(line(text.strip_prefix(head)?.strip_prefix(matrix)?))
        };
        let operands = [line(a), next(" B ").unwrap(), next(" D ").unwrap()];
        let places = next(" K ");
        let widest = places.iter().flatten().map(|at| at.shift + 4).max().unwrap_or(32);
        for set in (0..32).step_by(widest as usize) {
            multiply(name, lanes == "32", &operands, places.as_deref(), set);
        }
        count += 1;
    }
    assert_eq!(count, 44);
}
