//! The loaded form of a code object: segments, and the relocations that depend on where it goes.

use std::borrow::Cow;

use goblin::elf::program_header::{PF_R, PF_W, PF_X, PT_LOAD};
use goblin::elf::section_header::{SHN_ABS, SHN_LORESERVE, SHN_UNDEF};
use goblin::elf::sym::STB_WEAK;

use super::elf::{Elf, Symbol};
use super::error::CodeError;

/// Largest image that is accepted, in bytes. Device code reaches its globals by 32-bit offsets in
/// practice; more than this is a damaged header.
pub const MAX_IMAGE_BYTES: u64 = 1 << 30;

/// Alignment that every image gets at least: the GPU's page, as ROCm's loader does.
pub(super) const PAGE: u64 = 4096;

/// A part of the image with one protection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the image, in bytes.
    pub offset: u64,
    /// Size in memory, in bytes; what is not in the file is zero.
    pub size: u64,
    /// Readable.
    pub read: bool,
    /// Writable.
    pub write: bool,
    /// Executable.
    pub execute: bool,
    pub(super) contents: Vec<u8>,
}

impl Segment {
    /// The part that the file holds, before relocation; the rest up to `size` is zero.
    #[must_use]
    pub fn contents(&self) -> &[u8] {
        &self.contents
    }

    fn end(&self) -> u64 {
        self.offset + self.size
    }
}

/// How a relocated field is computed (LLVM, User Guide for AMDGPU Backend, "Relocation Records").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelocationKind {
    /// `R_AMDGPU_ABS64` and `R_AMDGPU_RELATIVE64`: the 64-bit address of the target.
    Absolute64,
    /// `R_AMDGPU_REL64`: the 64-bit distance from the field to the target.
    Relative64,
}

/// What a relocation refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelocationTarget {
    /// This image, at an offset that may lie outside of it (addends may be negative).
    Image,
    /// A symbol of another object: index in [`Image::undefined`].
    Undefined(usize),
    /// A number that does not move.
    Constant,
}

/// A 64-bit field that depends on the load address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    /// Offset of the field in the image.
    pub place: u64,
    /// How it is computed.
    pub kind: RelocationKind,
    /// What it refers to.
    pub target: RelocationTarget,
    /// What is added to the address of the target (wrapping): for this image the target's offset
    /// in it, for a constant the constant.
    pub addend: u64,
}

/// A symbol that other objects must define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undefined {
    /// Its name.
    pub name: String,
    /// Weak: zero if nobody defines it.
    pub weak: bool,
}

/// The image of a code object: what goes to device memory.
#[derive(Debug, Clone)]
pub struct Image {
    pub(super) file: String,
    /// ELF address of offset 0.
    pub(super) origin: u64,
    pub(super) size: u64,
    pub(super) align: u64,
    pub(super) segments: Vec<Segment>,
    pub(super) relocations: Vec<Relocation>,
    pub(super) undefined: Vec<Undefined>,
}

impl Image {
    /// Bytes from the first to past the last one in memory.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Alignment that the load address needs, in bytes; a power of two, at least 4096.
    #[must_use]
    pub fn align(&self) -> u64 {
        self.align
    }

    /// The segments, ascending and without overlap.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The relocations, ascending by place.
    #[must_use]
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations
    }

    /// Symbols that relocations need from other objects.
    #[must_use]
    pub fn undefined(&self) -> &[Undefined] {
        &self.undefined
    }

    /// The ELF address that image offset 0 was linked at; symbols in other tools' listings are
    /// relative to address 0.
    #[must_use]
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// The whole image as it must be in memory at GPU address `base`.
    ///
    /// # Errors
    /// As for [`write`](Self::write); undefined symbols that are not weak are errors.
    pub fn load(&self, base: u64) -> Result<Vec<u8>, CodeError> {
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        let mut memory = Vec::new();
        memory
            .try_reserve_exact(size)
            .map_err(|_| CodeError::OutOfMemory { file: self.file.clone(), needed: self.size })?;
        self.write(base, |_| None, |_, bytes| memory.extend_from_slice(bytes))?;
        Ok(memory)
    }

    /// Gives the image, as it must be in memory at GPU address `base`, to `sink` piece by piece:
    /// offset and bytes, ascending, every byte exactly once.
    ///
    /// `define` gives the addresses of symbols that this object does not define.
    ///
    /// # Errors
    /// If `base` is not aligned or the image does not fit above it, or a symbol that is not weak
    /// stays undefined; nothing has been written then.
    pub fn write(
        &self,
        base: u64,
        define: impl Fn(&str) -> Option<u64>,
        mut sink: impl FnMut(u64, &[u8]),
    ) -> Result<(), CodeError> {
        let refuse =
            |needed: String| CodeError::LoadAddress { file: self.file.clone(), base, needed };
        if !base.is_multiple_of(self.align) {
            return Err(refuse(format!("a multiple of {:#x}", self.align)));
        }
        if base.checked_add(self.size).is_none() {
            return Err(refuse(format!("{} bytes above it", self.size)));
        }
        let symbols = self.undefined.iter().map(|u| define(&u.name)).collect::<Vec<_>>();
        let values = self
            .relocations
            .iter()
            .map(|r| self.value(r, base, &symbols))
            .collect::<Result<Vec<_>, _>>()?;
        let mut patches = self.relocations.iter().zip(values).peekable();
        let mut at = 0;
        for segment in &self.segments {
            zeros(at, segment.offset, &mut sink);
            let mut contents = Cow::Borrowed(segment.contents.as_slice());
            while let Some((relocation, value)) =
                patches.next_if(|(relocation, _)| relocation.place < segment.end())
            {
                // Parsing has put every place, in order, inside the contents of one segment.
                let at = (relocation.place - segment.offset) as usize;
                contents.to_mut()[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            sink(segment.offset, &contents);
            zeros(segment.offset + contents.len() as u64, segment.end(), &mut sink);
            at = segment.end();
        }
        zeros(at, self.size, &mut sink);
        Ok(())
    }

    fn value(
        &self,
        relocation: &Relocation,
        base: u64,
        symbols: &[Option<u64>],
    ) -> Result<u64, CodeError> {
        let target = match relocation.target {
            RelocationTarget::Image => base,
            RelocationTarget::Constant => 0,
            RelocationTarget::Undefined(index) => match (symbols[index], &self.undefined[index]) {
                (Some(address), _) => address,
                (None, undefined) if undefined.weak => 0,
                (None, undefined) => {
                    return Err(CodeError::UndefinedSymbol {
                        file: self.file.clone(),
                        symbol: undefined.name.clone(),
                        place: self.origin.wrapping_add(relocation.place),
                    });
                }
            },
        };
        let value = target.wrapping_add(relocation.addend);
        Ok(match relocation.kind {
            RelocationKind::Absolute64 => value,
            RelocationKind::Relative64 => value.wrapping_sub(base.wrapping_add(relocation.place)),
        })
    }

    /// The segment that holds image bytes `offset..offset + len` entirely.
    pub(super) fn segment_at(&self, offset: u64, len: u64) -> Option<&Segment> {
        let after = self.segments.partition_point(|s| s.offset <= offset);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        (offset.checked_add(len)? <= segment.end()).then_some(segment)
    }

    /// `len` bytes of the file's part of the image at `offset`, before relocation.
    #[must_use]
    pub fn bytes(&self, offset: u64, len: u64) -> Option<&[u8]> {
        let segment = self.segment_at(offset, len)?;
        let start = (offset - segment.offset) as usize;
        segment.contents.get(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    /// The value of a relocated field that does not depend on the load address: a distance within
    /// the image.
    pub(super) fn relative_field(&self, place: u64) -> Option<u64> {
        let index = self.relocations.binary_search_by_key(&place, |r| r.place).ok()?;
        let relocation = &self.relocations[index];
        let fixed = relocation.kind == RelocationKind::Relative64
            && relocation.target == RelocationTarget::Image;
        fixed.then(|| relocation.addend.wrapping_sub(place))
    }

    /// The image of a linked object: its `PT_LOAD` segments.
    pub(super) fn of_linked(elf: &Elf<'_>) -> Result<Self, CodeError> {
        let loads = elf.segments.iter().filter(|s| s.p_type == PT_LOAD);
        let mut segments = Vec::new();
        let (mut align, mut end, mut in_file, mut first) = (PAGE, 0, 0u64, None);
        let mut at = 0;
        let too_large = |at, got| CodeError::TooLarge {
            file: elf.file.to_owned(),
            what: "image (PT_LOAD segments)".to_owned(),
            offset: at,
            got,
            limit: MAX_IMAGE_BYTES,
            remedy: "the header is damaged, or the object too large for any device",
        };
        for load in loads {
            at = load.p_offset;
            if load.p_filesz > load.p_memsz {
                let needed = format!("at most p_memsz ({})", load.p_memsz);
                return Err(elf.field("p_filesz of a PT_LOAD", at, &needed, &load.p_filesz));
            }
            if load.p_memsz == 0 {
                continue;
            }
            if load.p_align > 1 {
                if !load.p_align.is_power_of_two() || load.p_align > MAX_IMAGE_BYTES {
                    return Err(elf.field("p_align", at, "a power of two", &load.p_align));
                }
                align = align.max(load.p_align);
            }
            let contents = elf.slice(at, load.p_filesz, "PT_LOAD segment")?;
            in_file = in_file.saturating_add(load.p_filesz);
            if in_file > elf.bytes.len() as u64 {
                return Err(elf.field(
                    "PT_LOAD",
                    at,
                    "segments without overlap in the file",
                    &in_file,
                ));
            }
            let first = *first.get_or_insert(load.p_vaddr);
            if load.p_vaddr < end {
                return Err(elf.field(
                    "p_vaddr of a PT_LOAD",
                    at,
                    "ascending addresses without overlap",
                    &format!("{:#x} after {end:#x}", load.p_vaddr),
                ));
            }
            end = load
                .p_vaddr
                .checked_add(load.p_memsz)
                .filter(|end| end - first <= MAX_IMAGE_BYTES)
                .ok_or_else(|| too_large(at, load.p_vaddr.saturating_add(load.p_memsz) - first))?;
            segments.push(Segment {
                offset: load.p_vaddr,
                size: load.p_memsz,
                read: load.p_flags & PF_R != 0,
                write: load.p_flags & PF_W != 0,
                execute: load.p_flags & PF_X != 0,
                contents: contents.to_vec(),
            });
        }
        let Some(first) = first else {
            return Err(elf.field("program headers", elf.header.e_phoff, "a PT_LOAD", &"none"));
        };
        let origin = first & !(align - 1);
        // Rounding down makes it larger than its segments.
        if end - origin > MAX_IMAGE_BYTES {
            return Err(too_large(at, end - origin));
        }
        for segment in &mut segments {
            segment.offset -= origin;
        }
        let mut image = Self {
            file: elf.file.to_owned(),
            origin,
            size: end - origin,
            align,
            segments,
            relocations: Vec::new(),
            undefined: Vec::new(),
        };
        image.read_dynamic_relocations(elf)?;
        Ok(image)
    }

    fn read_dynamic_relocations(&mut self, elf: &Elf<'_>) -> Result<(), CodeError> {
        let tables = elf.dynamic_relocations()?;
        if tables.iter().all(|t| t.is_empty()) {
            return Ok(());
        }
        let symbols = elf.dynamic_symbols()?;
        let mut undefined = UndefinedSymbols::default();
        for relocation in tables.iter().flat_map(|t| t.iter()) {
            let fail =
                |reason: &str| failed(elf.file, relocation.r_type, relocation.r_offset, reason);
            let addend = relocation.r_addend.unwrap_or(0) as u64;
            let (target, addend) = match relocation.r_type {
                R_AMDGPU_NONE => continue,
                R_AMDGPU_RELATIVE64 => (RelocationTarget::Image, addend.wrapping_sub(self.origin)),
                R_AMDGPU_ABS64 => {
                    let symbol = symbols
                        .get(relocation.r_sym)
                        .ok_or_else(|| fail("its symbol is not in the table"))?;
                    match symbol.sym.st_shndx as u32 {
                        SHN_UNDEF => (undefined.index(relocation.r_sym, symbol), addend),
                        SHN_ABS => {
                            (RelocationTarget::Constant, symbol.sym.st_value.wrapping_add(addend))
                        }
                        SHN_LORESERVE.. => return Err(fail("its symbol has no address")),
                        _ => (
                            RelocationTarget::Image,
                            symbol.sym.st_value.wrapping_add(addend).wrapping_sub(self.origin),
                        ),
                    }
                }
                _ => {
                    return Err(fail("only R_AMDGPU_ABS64 and R_AMDGPU_RELATIVE64 are applied"));
                }
            };
            let place = relocation.r_offset.wrapping_sub(self.origin);
            if self.bytes(place, 8).is_none() {
                return Err(fail("the field is not in the file part of a PT_LOAD"));
            }
            let kind = RelocationKind::Absolute64;
            self.relocations.push(Relocation { place, kind, target, addend });
        }
        self.relocations.sort_by_key(|r| r.place);
        self.undefined = undefined.names;
        Ok(())
    }
}

/// Undefined symbols met so far, each once.
#[derive(Debug, Default)]
pub(super) struct UndefinedSymbols {
    pub(super) names: Vec<Undefined>,
    seen: std::collections::HashMap<usize, usize>,
}

impl UndefinedSymbols {
    pub(super) fn index(&mut self, number: usize, symbol: &Symbol<'_>) -> RelocationTarget {
        let names = &mut self.names;
        RelocationTarget::Undefined(*self.seen.entry(number).or_insert_with(|| {
            let weak = symbol.sym.st_bind() == STB_WEAK;
            names.push(Undefined { name: symbol.name.to_owned(), weak });
            names.len() - 1
        }))
    }
}

pub(super) const R_AMDGPU_NONE: u32 = 0;
pub(super) const R_AMDGPU_ABS64: u32 = 3;
pub(super) const R_AMDGPU_REL64: u32 = 5;
pub(super) const R_AMDGPU_RELATIVE64: u32 = 13;

/// Relocation types by number (LLVM, User Guide for AMDGPU Backend, "Relocation Records").
pub(super) fn relocation_name(kind: u32) -> &'static str {
    match kind {
        R_AMDGPU_NONE => "R_AMDGPU_NONE",
        1 => "R_AMDGPU_ABS32_LO",
        2 => "R_AMDGPU_ABS32_HI",
        R_AMDGPU_ABS64 => "R_AMDGPU_ABS64",
        4 => "R_AMDGPU_REL32",
        R_AMDGPU_REL64 => "R_AMDGPU_REL64",
        6 => "R_AMDGPU_ABS32",
        7 => "R_AMDGPU_GOTPCREL",
        8 => "R_AMDGPU_GOTPCREL32_LO",
        9 => "R_AMDGPU_GOTPCREL32_HI",
        10 => "R_AMDGPU_REL32_LO",
        11 => "R_AMDGPU_REL32_HI",
        R_AMDGPU_RELATIVE64 => "R_AMDGPU_RELATIVE64",
        14 => "R_AMDGPU_REL16",
        _ => "unknown",
    }
}

fn failed(file: &str, kind: u32, place: u64, reason: &str) -> CodeError {
    CodeError::Relocation {
        file: file.to_owned(),
        kind,
        name: relocation_name(kind),
        place,
        reason: reason.to_owned(),
    }
}

/// Gives the zeros from `start` to `end` to `sink`.
fn zeros(start: u64, end: u64, sink: &mut impl FnMut(u64, &[u8])) {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut at = start;
    while at < end {
        let len = (end - at).min(ZEROS.len() as u64);
        sink(at, &ZEROS[..len as usize]);
        at += len;
    }
}
