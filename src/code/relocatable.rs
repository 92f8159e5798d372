//! Relocatable objects (`ET_REL`): the sections are laid out one after the other and the few
//! relocations that need no linker are resolved.

use goblin::elf::section_header::{
    SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHN_ABS, SHN_LORESERVE, SHN_UNDEF, SHT_NOBITS, SHT_REL,
    SHT_RELA, SectionHeader,
};

use super::elf::{Elf, Symbol};
use super::error::CodeError;
use super::image::{
    Image, MAX_IMAGE_BYTES, PAGE, R_AMDGPU_ABS64, R_AMDGPU_NONE, R_AMDGPU_REL64, Relocation,
    RelocationKind, RelocationTarget, Segment, UndefinedSymbols, relocation_name,
};

/// An image made of sections.
#[derive(Debug)]
pub(super) struct LaidOut {
    pub(super) image: Image,
    /// Offset of each section in the image; `None` for sections that take no memory.
    pub(super) section_offsets: Vec<Option<u64>>,
}

/// Lays out the allocated sections of `elf` and resolves their relocations.
pub(super) fn lay_out(elf: &Elf<'_>, symbols: &[Symbol<'_>]) -> Result<LaidOut, CodeError> {
    let mut section_offsets = vec![None; elf.sections.len()];
    let mut segments = Vec::new();
    let (mut at, mut align, mut in_file) = (0u64, PAGE, 0u64);
    for (index, section) in elf.sections.iter().enumerate() {
        if section.sh_flags & u64::from(SHF_ALLOC) == 0 || section.sh_size == 0 {
            continue;
        }
        let section_align = section.sh_addralign.max(1);
        if !section_align.is_power_of_two() || section_align > MAX_IMAGE_BYTES {
            return Err(elf.field(
                "sh_addralign",
                section.sh_offset,
                "a power of two",
                &section.sh_addralign,
            ));
        }
        align = align.max(section_align);
        let contents = elf.contents(section)?;
        in_file = in_file.saturating_add(contents.len() as u64);
        if in_file > elf.bytes.len() as u64 {
            return Err(elf.field(
                "section",
                section.sh_offset,
                "sections without overlap in the file",
                &in_file,
            ));
        }
        let offset = at.next_multiple_of(section_align);
        at = offset.saturating_add(section.sh_size);
        if at > MAX_IMAGE_BYTES {
            return Err(CodeError::TooLarge {
                file: elf.file.to_owned(),
                what: "image (allocated sections)".to_owned(),
                offset: section.sh_offset,
                got: at,
                limit: MAX_IMAGE_BYTES,
                remedy: "the header is damaged, or the object too large for any device",
            });
        }
        section_offsets[index] = Some(offset);
        segments.push(Segment {
            offset,
            size: section.sh_size,
            read: true,
            write: section.sh_flags & u64::from(SHF_WRITE) != 0,
            execute: section.sh_flags & u64::from(SHF_EXECINSTR) != 0,
            contents: contents.to_vec(),
        });
        debug_assert!(section.sh_type == SHT_NOBITS || contents.len() as u64 == section.sh_size);
    }
    if segments.is_empty() {
        return Err(elf.field("sections", elf.header.e_shoff, "one with SHF_ALLOC", &"none"));
    }
    let image = Image {
        file: elf.file.to_owned(),
        origin: 0,
        size: at,
        align,
        segments,
        relocations: Vec::new(),
        undefined: Vec::new(),
    };
    let mut laid_out = LaidOut { image, section_offsets };
    laid_out.resolve(elf, symbols)?;
    Ok(laid_out)
}

impl LaidOut {
    fn resolve(&mut self, elf: &Elf<'_>, symbols: &[Symbol<'_>]) -> Result<(), CodeError> {
        let mut undefined = UndefinedSymbols::default();
        let mut total = 0;
        for table in elf.sections.iter().filter(|s| matches!(s.sh_type, SHT_REL | SHT_RELA)) {
            let Some((section, start)) = self.relocated_section(elf, table) else {
                continue; // debug information
            };
            let fail = |kind: u32, place: u64, why: &str| CodeError::Relocatable {
                file: elf.file.to_owned(),
                reason: format!(
                    "relocation {} (type {kind}) at {}+{place:#x} {why}",
                    relocation_name(kind),
                    elf.section_name(section),
                ),
            };
            if table.sh_type == SHT_REL {
                return Err(fail(0, 0, "has no addend (SHT_REL)"));
            }
            total = table.sh_size.saturating_add(total);
            if total > elf.bytes.len() as u64 {
                let needed = "relocation tables without overlap";
                return Err(elf.field("relocation section", table.sh_offset, needed, &total));
            }
            for relocation in elf.section_relocations(table)?.iter() {
                let (r_type, place) = (relocation.r_type, relocation.r_offset);
                let fail = |why: &str| fail(r_type, place, why);
                let kind = match r_type {
                    R_AMDGPU_NONE => continue,
                    R_AMDGPU_ABS64 => RelocationKind::Absolute64,
                    R_AMDGPU_REL64 => RelocationKind::Relative64,
                    _ => return Err(fail("needs a linker")),
                };
                let symbol = symbols
                    .get(relocation.r_sym)
                    .ok_or_else(|| fail("names a symbol that is not in the table"))?;
                let value = symbol.sym.st_value;
                let (target, value) = match symbol.sym.st_shndx as u32 {
                    SHN_UNDEF => (undefined.index(relocation.r_sym, symbol), 0),
                    SHN_ABS => (RelocationTarget::Constant, value),
                    SHN_LORESERVE.. => return Err(fail("needs an LDS or common symbol")),
                    section => match self.section_offsets.get(section as usize) {
                        Some(Some(offset)) => (RelocationTarget::Image, offset.wrapping_add(value)),
                        _ => return Err(fail("needs a symbol in a section without memory")),
                    },
                };
                if place.checked_add(8).is_none_or(|end| end > section.sh_size) {
                    return Err(fail("is outside of its section"));
                }
                let place = start + place;
                if self.image.bytes(place, 8).is_none() {
                    return Err(fail("is in a section without contents"));
                }
                let addend = value.wrapping_add(relocation.r_addend.unwrap_or(0) as u64);
                self.image.relocations.push(Relocation { place, kind, target, addend });
            }
        }
        self.image.relocations.sort_by_key(|r| r.place);
        self.image.undefined = undefined.names;
        Ok(())
    }

    /// The section that `table` relocates, with its offset, if it takes memory.
    fn relocated_section<'e>(
        &self,
        elf: &'e Elf<'_>,
        table: &SectionHeader,
    ) -> Option<(&'e SectionHeader, u64)> {
        let index = table.sh_info as usize;
        Some((elf.sections.get(index)?, (*self.section_offsets.get(index)?)?))
    }
}
