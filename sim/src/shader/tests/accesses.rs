//! What `access` says that an instruction is about to write is what it writes: LLVM's listings, executed.

use super::*;
use crate::shader::access::{Accesses, collect};
use crate::shader::finding::{AccessKind, Space};
use crate::shader::staged;
use crate::shader::transfer::Transfer;
use amdgpu_isa::{Fields, decode};
use std::collections::BTreeSet;

const MEMORY: u64 = 256 << 10;
const LDS: u32 = 64 << 10;
/// Lanes 0, 1 and 3.
const LANES: u64 = 0b1011;
/// No byte of it is 0.
const DATA: u32 = 0xa5a5_a5a5;

/// Bytes that are not 0.
fn written(load: impl Fn(u64) -> u32, bytes: u64) -> impl Iterator<Item = u64> {
    (0..bytes).step_by(4).flat_map(move |at| {
        let word = load(at).to_le_bytes();
        (at..).zip(word).filter(|(_, byte)| *byte != 0).map(|(at, _)| at)
    })
}

/// Executes the stores and atomic operations of a listing; how many were compared.
fn compare(target: Target, wave32: bool, listing: &str) -> usize {
    let mut compared = 0;
    for line in listing.lines() {
        let Some((hex, text)) = line.split_once('\t').filter(|(_, text)| !text.is_empty()) else {
            continue;
        };
        let words: Vec<u32> =
            hex.split(' ').map(|word| u32::from_str_radix(word, 16).expect("hex")).collect();
        let Ok(instruction) = decode(target, &words) else { continue };
        let (address, registers, data) = match instruction.fields {
            Fields::Flat { addr, data, .. } => (addr, [Some(addr), addr.checked_add(1)], [data; 2]),
            Fields::Mubuf { vaddr, vdata, .. } => {
                (vaddr, [Some(vaddr), vaddr.checked_add(1)], [vdata; 2])
            }
            Fields::Ds { addr, data0, data1, gds: false, .. } => {
                (addr, [Some(addr), None], [data0, data1])
            }
            _ => continue,
        };
        // Data that is an address has zeros.
        let overlaps = registers
            .into_iter()
            .flatten()
            .any(|register| data.iter().any(|&first| register >= first && register - first < 4));
        let mut rig = Rig::on(target, wave32);
        (rig.launch.rsrc1, rig.launch.rsrc3) = (0x3f, 0x1f);
        (rig.launch.rsrc2, rig.launch.lds_bytes) = (1, LDS);
        let traits = Traits::of(target);
        rig.wave = Wave::new(wave32, traits, traits.registers(&rig.launch));
        rig.wave.set_mask(EXEC, LANES);
        rig.lds.reset(LDS, 0);
        for register in 0..traits.registers(&rig.launch).all {
            (0..4).for_each(|lane| rig.wave.set_lane(register, lane, DATA));
        }
        for register in registers.into_iter().flatten() {
            let first = u32::from(register == address);
            (0..4).for_each(|lane| {
                rig.wave.set_lane(register.into(), lane, 64 * first * lane as u32)
            });
        }
        if let Fields::Mubuf { srsrc, .. } = instruction.fields {
            rig.wave.set_sgpr(srsrc + 2, MEMORY as u32);
            rig.wave.set_sgpr(srsrc + 3, 3 << 28);
        }
        let space = Arc::new(AddressSpace::new());
        let (memory, code) = (Arc::new(Backing::zeroed(MEMORY)), Arc::new(Backing::zeroed(4096)));
        assert!(space.map(0, MEMORY, memory.clone(), 0, Permissions::READ | Permissions::WRITE));
        for (offset, &word) in (0..).step_by(4).zip(&words) {
            code.store_u32(offset, word);
        }
        assert!(space.map(CODE, 4096, code, 0, Permissions::READ | Permissions::EXECUTE));
        let staged = staged::of(&instruction).is_some_and(|transfer| {
            matches!(transfer, Transfer::Load(_) | Transfer::LoadSmall { .. })
        });
        if staged {
            (0..MEMORY).step_by(4).for_each(|at| memory.store_u32(at, DATA));
        }
        let mut memory_view = View::new(space);
        let cache = InstructionCache::default();
        let mut code = Code::new(target, &rig.launch, &cache);
        let Ok(op) = code.at(CODE, &mut memory_view) else { continue };
        let mut accesses = Accesses::default();
        collect(&rig.wave, op, &rig.launch, &mut accesses);
        let mut env = Env {
            memory: &mut memory_view,
            lds: &mut rig.lds,
            barriers: &mut rig.barriers,
            launch: &rig.launch,
            outside: &Clock(1),
            wide: false,
            invalidate_code: false,
        };
        let step = (op.run)(&mut rig.wave, op, &mut env);
        let scratch = accesses.list.iter().any(|access| access.space == Space::Scratch);
        if step.is_err() || scratch || accesses.kind == Some(AccessKind::Load) && !staged {
            continue;
        }
        let in_lds = written(|at| rig.lds.load32(at as u32), LDS.into()).map(|at| (Space::Lds, at));
        let in_memory = written(|at| memory.load_u32(at), MEMORY).map(|at| (Space::Global, at));
        let found: BTreeSet<_> = match staged {
            true => in_lds.collect(),
            false => in_lds.chain(in_memory).collect(),
        };
        let told: BTreeSet<_> = accesses
            .parts()
            .filter(|(kind, _)| *kind != AccessKind::Load)
            .flat_map(|(_, list)| list)
            .flat_map(|access| {
                (0..u64::from(access.bytes)).map(|at| (access.space, access.address + at))
            })
            .filter(|&(space, at)| space != Space::Lds || at < LDS.into())
            .collect();
        // Atomic operations may leave what was there.
        let equal = match accesses.kind {
            _ if overlaps => found.is_subset(&told),
            // Small numbers become the zeros that were there, and LDS holds zeros.
            _ if staged && (text.contains("byte") || text.contains("short")) => {
                // The register's upper bytes are 0.
                found.is_subset(&told)
            }
            _ if text.contains("_format_") || text.starts_with("buffer_store_lds") => {
                found.is_subset(&told)
            }
            Some(AccessKind::Atomic) => found.is_subset(&told),
            _ => found == told,
        };
        assert!(equal, "{target:?}: {text}: told {told:?}, found {found:?}");
        compared += 1;
    }
    compared
}

macro_rules! listing {
    ($name:literal) => {
        include_str!(concat!("../../../../isa/tests/data/", $name, ".txt"))
    };
}

#[test]
fn what_is_written_was_told() {
    for (target, wave32, listing) in [
        (Target::Gfx1151, true, listing!("gfx1151.wave32.llvm19")),
        (Target::Gfx1201, true, listing!("gfx1201.wave32.llvm19")),
        (Target::Gfx1030, true, listing!("gfx1030.wave32.llvm19")),
        (Target::Gfx906, false, listing!("gfx906.llvm19")),
        (Target::Gfx90a, false, listing!("gfx90a.llvm19")),
        (Target::Gfx942, false, listing!("gfx942.llvm19")),
        (Target::Gfx950, false, listing!("gfx950.llvm22")),
    ] {
        let compared = compare(target, wave32, listing);
        println!("{target:?}: {compared} instructions");
        assert!(compared >= 100, "{target:?}: {compared}");
    }
}
