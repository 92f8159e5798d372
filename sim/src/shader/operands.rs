//! What can be settled about an instruction's operands when it is decoded.

use super::generation::Registers;
use super::wave::Stop;
use super::{Launch, staged};
use amdgpu_isa::{Fields, Flags, Instruction, OpInfo, Opcode, OperandKind, Src};

/// The values of the sources that are constants: inline, literal, or an aperture.
pub(super) fn constants(instruction: &Instruction, launch: &Launch) -> [u64; 3] {
    let literal = instruction.literal.unwrap_or(0);
    let value = |source: Src, kind: OperandKind| match source.0 {
        235 => u64::from(launch.shared_aperture_hi) << 32,
        236 => u64::from(launch.shared_aperture_hi) << 32 | 0xffff_ffff,
        237 => u64::from(launch.private_aperture_hi) << 32,
        238 => u64::from(launch.private_aperture_hi) << 32 | 0xffff_ffff,
        255 => kind.literal(literal),
        // A double-precision operand takes the double, any other 64-bit one sees the same bits; singles in pairs do
        // not.
        240..=248 if kind.dwords(true) == 2 && kind != OperandKind::PkF32 => {
            OperandKind::F64.inline_constant(source).unwrap_or(0)
        }
        _ => kind.inline_constant(source).unwrap_or(0),
    };
    let kinds = instruction.opcode.info().src;
    match &instruction.fields {
        Fields::Valu(v) => std::array::from_fn(|i| value(v.src[i], kinds[i])),
        Fields::Vop3p { src, .. } | Fields::Matrix { src, .. } => {
            std::array::from_fn(|i| value(src[i], kinds[i]))
        }
        Fields::Vopd { x, y } => {
            let y_kinds = y.opcode.info().src;
            [value(x.src0, kinds[0]), value(y.src0, y_kinds[0]), literal.into()]
        }
        Fields::Sop1 { ssrc0, .. } => [value(*ssrc0, kinds[0]), 0, 0],
        Fields::Sop2 { ssrc0, ssrc1, .. } | Fields::Sopc { ssrc0, ssrc1 } => {
            [value(*ssrc0, kinds[0]), value(*ssrc1, kinds[1]), literal.into()]
        }
        Fields::Mubuf { soffset, .. } => [value(*soffset, OperandKind::U32), 0, 0],
        _ => [0; 3],
    }
}

/// Refuses what no correct program asks for:
/// - dual issue in wave64, which is for wave32 only (RDNA3 ISA document, 7.6 "Dual issue VALU");
/// - a tuple of SGPRs that does not begin at an even one, or at a multiple of four when it is longer than two
///   (RDNA3 ISA document, "SGPR alignment"; the hardware, and LLVM when it disassembles, drops the low bits);
/// - a VGPR beyond the `allocated` ones. The hardware would read VGPR 0 and drop the write (RDNA3 ISA document,
///   3.3.2.1).
pub(super) fn check(
    instruction: &Instruction,
    allocated: Registers,
    wave32: bool,
) -> Result<(), Stop> {
    let name = instruction.opcode.name();
    if let Some(what) = unmodelled(instruction) {
        return Err(Stop::not_modelled(format!("{name} {what} is not modelled")));
    }
    if matches!(instruction.fields, Fields::Vopd { .. }) && !wave32 {
        return Err(Stop::not_modelled(format!("{name} in VOPD, which wave64 does not have")));
    }
    if let Some((first, dwords)) = misaligned_sgprs(instruction, wave32) {
        return Err(Stop::not_modelled(format!(
            "{name} of {dwords} SGPRs from s{first}, which is not a multiple of {}",
            alignment(dwords)
        )));
    }
    let [vector, accumulation] = highest_vgprs(instruction, wave32);
    let (vgprs, accumulators) = (allocated.vgprs, allocated.all - allocated.vgprs);
    match (vector, accumulation) {
        (Some(register), _) if register >= vgprs => Err(Stop::not_modelled(format!(
            "{name} uses v{register}, but the dispatch allocates {vgprs} VGPRs to a wave (COMPUTE_PGM_RSRC1.VGPRS)"
        ))),
        (_, Some(register)) if register >= accumulators => Err(Stop::not_modelled(format!(
            "{name} uses a{register}, but the dispatch allocates {accumulators} accumulation VGPRs to a wave"
        ))),
        _ => Ok(()),
    }
}

/// What of an instruction nothing here executes.
fn unmodelled(instruction: &Instruction) -> Option<&'static str> {
    const LDS_DIRECT: u16 = 254;
    let direct = |sources: &[Src]| sources.iter().any(|source| source.0 == LDS_DIRECT);
    match &instruction.fields {
        Fields::Flat { lds: true, .. } | Fields::Mubuf { lds: true, .. }
            if staged::of(instruction).is_none() =>
        {
            Some("into LDS")
        }
        Fields::Valu(v) if direct(&v.src) => Some("of LDS_DIRECT"),
        Fields::Vop3p { src, .. } if direct(src) => Some("of LDS_DIRECT"),
        Fields::Sop1 { ssrc0, .. } if direct(&[*ssrc0]) => Some("of LDS_DIRECT"),
        Fields::Sop2 { ssrc0, ssrc1, .. } | Fields::Sopc { ssrc0, ssrc1 }
            if instruction.opcode != Opcode::S_SET_GPR_IDX_ON && direct(&[*ssrc0, *ssrc1]) =>
        {
            Some("of LDS_DIRECT")
        }
        _ => None,
    }
}

/// What the first of so many SGPRs must be a multiple of.
fn alignment(dwords: u8) -> u16 {
    match dwords {
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// The first tuple of SGPRs that is misaligned, and its length.
fn misaligned_sgprs(instruction: &Instruction, wave32: bool) -> Option<(u16, u8)> {
    let info = instruction.opcode.info();
    let dwords = |kind: OperandKind| kind.dwords(wave32);
    let scalar = |source: Src, kind: OperandKind| (source.0, dwords(kind));
    let named = |code: u8, kind: OperandKind| (u16::from(code), dwords(kind));
    let [first, second, third] = info.src;
    const NONE: (u16, u8) = (0, 0);
    let tuples = match &instruction.fields {
        Fields::Sop1 { sdst, ssrc0 } => [named(*sdst, info.dst), scalar(*ssrc0, first), NONE, NONE],
        Fields::Sop2 { sdst, ssrc0, ssrc1 } => {
            [named(*sdst, info.dst), scalar(*ssrc0, first), scalar(*ssrc1, second), NONE]
        }
        Fields::Sopc { ssrc0, ssrc1 } => {
            [scalar(*ssrc0, first), scalar(*ssrc1, second), NONE, NONE]
        }
        Fields::Sopk { sdst, .. } => [named(*sdst, info.dst), NONE, NONE, NONE],
        Fields::Smem { sdata, sbase, .. } => {
            [named(*sdata, info.dst), named(*sbase, first), NONE, NONE]
        }
        Fields::Valu(v) => [
            named(v.sdst, OperandKind::Mask),
            scalar(v.src[0], first),
            scalar(v.src[1], second),
            scalar(v.src[2], third),
        ],
        Fields::Mubuf { srsrc, .. } => [named(*srsrc, OperandKind::B128), NONE, NONE, NONE],
        Fields::Flat { saddr, .. } if instruction.opcode.name().starts_with("GLOBAL") => {
            [scalar(*saddr, OperandKind::U64), NONE, NONE, NONE]
        }
        _ => return None,
    };
    tuples.into_iter().find(|&(code, dwords)| code < 128 && code % alignment(dwords) != 0)
}

/// The last register of a run.
fn last(first: u8, kind: OperandKind, wave32: bool) -> Option<usize> {
    match usize::from(kind.dwords(wave32)) {
        0 => None,
        dwords => Some(usize::from(first) + dwords - 1),
    }
}

/// The highest VGPR and the highest accumulation VGPR.
fn highest_vgprs(instruction: &Instruction, wave32: bool) -> [Option<usize>; 2] {
    let info = instruction.opcode.info();
    let file = |accumulation: bool, highest: Option<usize>| {
        if accumulation { [None, highest] } else { [highest, None] }
    };
    match &instruction.fields {
        Fields::Matrix { vdst, src, cbsz, blgp, scale, .. } => {
            let sources = instruction.opcode.matrix_sources(*cbsz, *blgp);
            let scales = scale.iter().flat_map(|scale| scale.src);
            let kinds = [info.dst].into_iter().chain(sources).chain([OperandKind::B32; 2]);
            let operands = [*vdst].into_iter().chain(*src).chain(scales).zip(kinds);
            operands.fold([None, None], |[vector, accumulation], (operand, kind)| {
                let run = |register: Option<u8>| last(register?, kind, wave32);
                [vector.max(run(operand.vgpr())), accumulation.max(run(operand.accumulator()))]
            })
        }
        Fields::Valu(v) if instruction.opcode == Opcode::V_ACCVGPR_MOV_B32 => {
            let source = v.src[0].accumulator().map(usize::from);
            [None, source.max(Some(v.vdst.into()))]
        }
        Fields::Ds { acc, addr, .. } if *acc => {
            let [_, data] = file(true, highest_vgpr(instruction, wave32, false));
            [Some(usize::from(*addr)), data]
        }
        Fields::Flat { acc: true, .. } | Fields::Mubuf { acc: true, .. } => {
            [highest_vgpr(instruction, wave32, true), highest_vgpr(instruction, wave32, false)]
        }
        _ => {
            let address = highest_vgpr(instruction, wave32, true);
            [address.max(highest_vgpr(instruction, wave32, false)), None]
        }
    }
}

/// The highest register of the address, or of everything else.
fn highest_vgpr(instruction: &Instruction, wave32: bool, addresses: bool) -> Option<usize> {
    let info = instruction.opcode.info();
    let is_memory = matches!(
        instruction.fields,
        Fields::Ds { .. } | Fields::Flat { .. } | Fields::Mubuf { .. }
    );
    if addresses && !is_memory {
        return None;
    }
    // Operations without an address access nothing: DS_NOP, GWS, write-backs.
    let accesses = info.flags.intersects(Flags::LOAD | Flags::STORE | Flags::ATOMIC);
    let sources = |src: &[Src; 3], info: &OpInfo| {
        let runs = src.iter().zip(info.src);
        runs.filter_map(|(source, kind)| last(source.vgpr()?, kind, wave32)).max()
    };
    match &instruction.fields {
        Fields::Valu(v) => {
            let scalar = info.flags.contains(Flags::SCALAR_DST) || info.dst == OperandKind::Mask;
            let destination = if scalar { None } else { last(v.vdst, info.dst, wave32) };
            destination.max(sources(&v.src, info))
        }
        Fields::Vop3p { vdst, src, .. } => last(*vdst, info.dst, wave32).max(sources(src, info)),
        Fields::Vopd { x, y } => [x, y]
            .into_iter()
            .flat_map(|half| [Some(half.vdst), Some(half.vsrc1), half.src0.vgpr()])
            .flatten()
            .map(usize::from)
            .max(),
        Fields::Ds { vdst, addr, data0, data1, .. } => {
            let [first, second, _] = info.src;
            if addresses {
                let permutes = info.dst != OperandKind::None;
                return (accesses || permutes).then_some(usize::from(*addr));
            }
            last(*vdst, info.dst, wave32)
                .max(last(*data0, first, wave32))
                .max(last(*data1, second, wave32))
        }
        Fields::Flat { vdst, addr, data, saddr, sve, glc, .. } => {
            let name = instruction.opcode.name();
            let address = if name.starts_with("SCRATCH") {
                sve.then_some(usize::from(*addr))
            } else if !accesses {
                None
            } else if *saddr == Src::NULL {
                Some(usize::from(*addr) + 1)
            } else if name.contains("ADDTID") {
                None
            } else {
                Some(usize::from(*addr))
            };
            let (dst, src) = match instruction.opcode {
                Opcode::GLOBAL_LOAD_ADDTID_B32 => (OperandKind::B32, OperandKind::None),
                Opcode::GLOBAL_STORE_ADDTID_B32 => (OperandKind::None, OperandKind::B32),
                _ => (info.dst, info.src[0]),
            };
            if addresses {
                return address;
            }
            let returns = *glc || !name.contains("ATOMIC");
            let destination = if returns { last(*vdst, dst, wave32) } else { None };
            destination.max(last(*data, src, wave32))
        }
        Fields::Mubuf { vdata, vaddr, offen, idxen, .. } => {
            let address = match u8::from(*offen) + u8::from(*idxen) {
                0 => None,
                count => Some(usize::from(*vaddr) + usize::from(count) - 1),
            };
            if addresses {
                return address;
            }
            last(*vdata, info.dst, wave32).max(last(*vdata, info.src[0], wave32))
        }
        _ => None,
    }
}
