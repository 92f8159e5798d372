//! A bounds-checked view of an ELF64 file: headers, symbols, relocations and notes, by goblin's
//! record types.
//!
//! Work and memory stay proportional to the file's size, whatever its headers say: ranges that
//! may be read together must not overlap, and names may not share bytes beyond what tail merging
//! does.

use goblin::container::{Container, Ctx};
use goblin::elf::dynamic::{self, Dyn};
use goblin::elf::header::{EI_CLASS, EI_DATA, ELFCLASS64, ELFDATA2LSB, Header};
use goblin::elf::program_header::{PT_DYNAMIC, PT_LOAD, PT_NOTE};
use goblin::elf::section_header::{SHT_DYNSYM, SHT_NOTE, SHT_RELA, SHT_SYMTAB, SectionHeader};
use goblin::elf::{ProgramHeader, RelocSection, Sym, Symtab};

use super::error::CodeError;

pub(super) const MAGIC: &[u8; 4] = b"\x7fELF";
/// `EM_AMDGPU`.
pub(super) const MACHINE_AMDGPU: u16 = 224;

const EHDR_SIZE: usize = 64;
const PHDR_SIZE: usize = 56;
const SHDR_SIZE: usize = 64;
const SYM_SIZE: u64 = 24;
const RELA_SIZE: u64 = 24;
const CONTEXT: Ctx = Ctx { container: Container::Big, le: goblin::container::Endian::Little };

/// A parsed ELF64 little-endian file.
#[derive(Debug)]
pub(super) struct Elf<'a> {
    pub(super) file: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) header: Header,
    pub(super) segments: Vec<ProgramHeader>,
    pub(super) sections: Vec<SectionHeader>,
}

/// A symbol with its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol<'a> {
    pub(super) name: &'a str,
    pub(super) sym: Sym,
}

/// A note record: its type, its contents and where in the file they start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note<'a> {
    pub(super) owner: &'a [u8],
    pub(super) kind: u32,
    pub(super) contents: &'a [u8],
    pub(super) offset: u64,
}

/// What `PT_DYNAMIC` says about relocations and symbols; addresses are ELF addresses.
#[derive(Debug, Default)]
struct DynamicTable {
    rela: [(u64, u64); 2],
    symtab: u64,
    strtab: (u64, u64),
    hash: u64,
}

impl<'a> Elf<'a> {
    /// Reads the header and both tables.
    pub(super) fn parse(bytes: &'a [u8], file: &'a str) -> Result<Self, CodeError> {
        let mut elf = Self::parse_header(bytes, file)?;
        let header = elf.header;
        if header.e_phnum > 0 {
            if usize::from(header.e_phentsize) != PHDR_SIZE {
                return Err(elf.field("e_phentsize", 0x36, "56", &header.e_phentsize));
            }
            let size = u64::from(header.e_phnum) * PHDR_SIZE as u64;
            elf.slice(header.e_phoff, size, "program header table")?;
            elf.segments = ProgramHeader::parse(
                bytes,
                header.e_phoff as usize,
                usize::from(header.e_phnum),
                CONTEXT,
            )
            .map_err(|e| elf.field("program header table", header.e_phoff, "valid entries", &e))?;
        }
        if header.e_shoff > 0 {
            if usize::from(header.e_shentsize) != SHDR_SIZE {
                return Err(elf.field("e_shentsize", 0x3a, "64", &header.e_shentsize));
            }
            let size = u64::from(header.e_shnum.max(1)) * SHDR_SIZE as u64;
            elf.slice(header.e_shoff, size, "section header table")?;
            elf.sections = SectionHeader::parse(
                bytes,
                header.e_shoff as usize,
                usize::from(header.e_shnum),
                CONTEXT,
            )
            .map_err(|e| elf.field("section header table", header.e_shoff, "valid entries", &e))?;
        }
        Ok(elf)
    }

    /// Reads the header only; the tables stay empty.
    pub(super) fn parse_header(bytes: &'a [u8], file: &'a str) -> Result<Self, CodeError> {
        let mut elf = Self {
            file,
            bytes,
            header: Header::new(CONTEXT),
            segments: Vec::new(),
            sections: Vec::new(),
        };
        let ident = elf.slice(0, EHDR_SIZE as u64, "ELF header")?;
        if !ident.starts_with(MAGIC) {
            return Err(elf.field("magic number", 0, "7f 45 4c 46", &hex(&ident[..4])));
        }
        if ident[EI_CLASS] != ELFCLASS64 {
            return Err(elf.field("EI_CLASS", 4, "2 (64-bit)", &ident[EI_CLASS]));
        }
        if ident[EI_DATA] != ELFDATA2LSB {
            return Err(elf.field("EI_DATA", 5, "1 (little-endian)", &ident[EI_DATA]));
        }
        elf.header = goblin::elf::Elf::parse_header(bytes)
            .map_err(|e| elf.field("ELF header", 0, "a valid header", &e))?;
        Ok(elf)
    }

    /// `len` bytes at `offset` of the file.
    pub(super) fn slice(&self, offset: u64, len: u64, what: &str) -> Result<&'a [u8], CodeError> {
        slice(self.file, self.bytes, offset, len, what)
    }

    /// A field with a value that cannot be used.
    pub(super) fn field(
        &self,
        field: &str,
        offset: u64,
        needed: &str,
        got: &dyn std::fmt::Display,
    ) -> CodeError {
        CodeError::Field {
            file: self.file.to_owned(),
            field: field.to_owned(),
            offset,
            needed: needed.to_owned(),
            got: got.to_string(),
        }
    }

    /// Contents of a section; empty for one that occupies no file space.
    pub(super) fn contents(&self, section: &SectionHeader) -> Result<&'a [u8], CodeError> {
        match section.file_range() {
            Some(_) => self.slice(section.sh_offset, section.sh_size, "section"),
            None => Ok(&[]),
        }
    }

    /// Name of a section, empty if it has none.
    pub(super) fn section_name(&self, section: &SectionHeader) -> &'a str {
        self.section_names().and_then(|table| c_str(table, section.sh_name)).unwrap_or("")
    }

    /// The first section of this name.
    pub(super) fn section_named(&self, name: &str) -> Option<&SectionHeader> {
        let table = self.section_names()?;
        self.sections.iter().find(|section| {
            table
                .get(section.sh_name..)
                .and_then(|tail| tail.strip_prefix(name.as_bytes()))
                .is_some_and(|rest| rest.first() == Some(&0))
        })
    }

    fn section_names(&self) -> Option<&'a [u8]> {
        let table = self.sections.get(usize::from(self.header.e_shstrndx))?;
        self.contents(table).ok()
    }

    /// File bytes behind `len` bytes of ELF address space at `address`, with their file offset.
    fn at_address(&self, address: u64, len: u64, what: &str) -> Result<(&'a [u8], u64), CodeError> {
        let offset = self
            .segments
            .iter()
            .filter(|s| s.p_type == PT_LOAD)
            .find_map(|s| {
                let within = address.checked_sub(s.p_vaddr)?;
                (within.checked_add(len)? <= s.p_filesz).then(|| s.p_offset.checked_add(within))?
            })
            .ok_or_else(|| {
                self.field(what, address, "an address within the file part of a PT_LOAD", &address)
            })?;
        Ok((self.slice(offset, len, what)?, offset))
    }

    fn dynamic(&self) -> Result<DynamicTable, CodeError> {
        let mut table = DynamicTable::default();
        let Some(segment) = self.segments.iter().find(|s| s.p_type == PT_DYNAMIC) else {
            return Ok(table);
        };
        let bytes = self.slice(segment.p_offset, segment.p_filesz, "PT_DYNAMIC")?;
        let (mut relr, mut rel) = (0, 0);
        for entry in bytes.chunks_exact(16) {
            let Dyn { d_tag, d_val } = Dyn { d_tag: u64_at(entry, 0), d_val: u64_at(entry, 8) };
            match d_tag {
                dynamic::DT_NULL => break,
                dynamic::DT_RELA => table.rela[0].0 = d_val,
                dynamic::DT_RELASZ => table.rela[0].1 = d_val,
                dynamic::DT_JMPREL => table.rela[1].0 = d_val,
                dynamic::DT_PLTRELSZ => table.rela[1].1 = d_val,
                dynamic::DT_RELAENT if d_val != RELA_SIZE => {
                    return Err(self.field("DT_RELAENT", segment.p_offset, "24", &d_val));
                }
                dynamic::DT_SYMENT if d_val != SYM_SIZE => {
                    return Err(self.field("DT_SYMENT", segment.p_offset, "24", &d_val));
                }
                dynamic::DT_RELSZ => rel = d_val,
                DT_RELRSZ | DT_ANDROID_RELSZ | DT_ANDROID_RELASZ => relr = d_val,
                dynamic::DT_SYMTAB => table.symtab = d_val,
                dynamic::DT_STRTAB => table.strtab.0 = d_val,
                dynamic::DT_STRSZ => table.strtab.1 = d_val,
                dynamic::DT_HASH => table.hash = d_val,
                _ => {}
            }
        }
        for (name, size) in [("DT_RELSZ", rel), ("packed relocation size", relr)] {
            if size != 0 {
                return Err(self.field(name, segment.p_offset, "0 (only DT_RELA is used)", &size));
            }
        }
        Ok(table)
    }

    /// Dynamic relocations of a linked object.
    pub(super) fn dynamic_relocations(&self) -> Result<Vec<RelocSection<'a>>, CodeError> {
        let mut all = Vec::new();
        for (address, size) in self.dynamic()?.rela {
            if size > 0 {
                let (_, offset) = self.at_address(address, size, "dynamic relocations")?;
                all.push(self.relocations(offset, size)?);
            }
        }
        Ok(all)
    }

    /// Relocations of a section of type `SHT_RELA`.
    pub(super) fn section_relocations(
        &self,
        section: &SectionHeader,
    ) -> Result<RelocSection<'a>, CodeError> {
        debug_assert_eq!(section.sh_type, SHT_RELA);
        self.relocations(section.sh_offset, section.sh_size)
    }

    fn relocations(&self, offset: u64, size: u64) -> Result<RelocSection<'a>, CodeError> {
        self.slice(offset, size, "relocations")?;
        if !size.is_multiple_of(RELA_SIZE) {
            return Err(self.field("relocation table size", offset, "a multiple of 24", &size));
        }
        RelocSection::parse(self.bytes, offset as usize, size as usize, true, CONTEXT)
            .map_err(|e| self.field("relocations", offset, "valid entries", &e))
    }

    /// The dynamic symbols: by the section header, else by `PT_DYNAMIC` and the hash table that
    /// holds their number.
    pub(super) fn dynamic_symbols(&self) -> Result<Vec<Symbol<'a>>, CodeError> {
        if let Some(section) = self.sections.iter().find(|s| s.sh_type == SHT_DYNSYM) {
            return self.section_symbols(section);
        }
        let table = self.dynamic()?;
        if table.symtab == 0 || table.hash == 0 {
            return Ok(Vec::new());
        }
        // DT_HASH: nbucket, nchain (System V ABI, "Hash Table"); nchain is the number of symbols.
        let (hash, _) = self.at_address(table.hash, 8, "DT_HASH")?;
        let count = u64::from(u32_at(hash, 4));
        let (_, offset) = self.at_address(table.symtab, count * SYM_SIZE, "DT_SYMTAB")?;
        let (names, _) = self.at_address(table.strtab.0, table.strtab.1, "DT_STRTAB")?;
        self.symbols(offset, count, names)
    }

    /// The symbols of the first section of type `SHT_SYMTAB`.
    pub(super) fn static_symbols(&self) -> Result<Vec<Symbol<'a>>, CodeError> {
        match self.sections.iter().find(|s| s.sh_type == SHT_SYMTAB) {
            Some(section) => self.section_symbols(section),
            None => Ok(Vec::new()),
        }
    }

    fn section_symbols(&self, section: &SectionHeader) -> Result<Vec<Symbol<'a>>, CodeError> {
        let names = self.sections.get(section.sh_link as usize).ok_or_else(|| {
            self.field(
                "sh_link of a symbol table",
                section.sh_offset,
                "a section",
                &section.sh_link,
            )
        })?;
        let names = self.contents(names)?;
        self.symbols(section.sh_offset, section.sh_size / SYM_SIZE, names)
    }

    fn symbols(
        &self,
        offset: u64,
        count: u64,
        names: &'a [u8],
    ) -> Result<Vec<Symbol<'a>>, CodeError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        self.slice(offset, count.saturating_mul(SYM_SIZE), "symbol table")?;
        let table = Symtab::parse(self.bytes, offset as usize, count as usize, CONTEXT)
            .map_err(|e| self.field("symbol table", offset, "valid entries", &e))?;
        // Linkers may let one name end inside another; a file whose names overlap much more than
        // that is built to exhaust memory.
        let mut budget = names.len() * 4;
        let mut symbols = Vec::with_capacity(table.len());
        for (index, sym) in table.iter().enumerate() {
            let at = offset + index as u64 * SYM_SIZE;
            let name = match sym.st_name {
                0 => "",
                start => c_str(names, start).ok_or_else(|| {
                    self.field("st_name", at, "the offset of a NUL-terminated UTF-8 name", &start)
                })?,
            };
            budget = budget.checked_sub(name.len()).ok_or_else(|| {
                self.field("st_name", at, "symbol names that do not overlap", &sym.st_name)
            })?;
            symbols.push(Symbol { name, sym });
        }
        Ok(symbols)
    }

    /// All note records, of the `PT_NOTE` segments, or of the note sections where there are no
    /// segments. There can be thousands: Tensile writes one metadata note a kernel.
    pub(super) fn notes(&self) -> Result<Vec<Note<'a>>, CodeError> {
        let mut ranges: Vec<(u64, u64)> = self
            .segments
            .iter()
            .filter(|s| s.p_type == PT_NOTE)
            .map(|s| (s.p_offset, s.p_filesz))
            .collect();
        if self.segments.is_empty() {
            ranges.extend(
                self.sections
                    .iter()
                    .filter(|s| s.sh_type == SHT_NOTE)
                    .map(|s| (s.sh_offset, s.sh_size)),
            );
        }
        ranges.sort_unstable();
        ranges.dedup();
        let mut notes = Vec::new();
        let mut end = 0;
        for (offset, size) in ranges {
            let bytes = self.slice(offset, size, "notes")?;
            if offset < end {
                return Err(self.field(
                    "offset of notes",
                    offset,
                    "no overlap with others",
                    &offset,
                ));
            }
            end = offset + size;
            self.read_notes(bytes, offset, &mut notes)?;
        }
        Ok(notes)
    }

    /// Note records: name size, contents size, type; name and contents padded to four bytes
    /// (System V ABI, "Note Section"; LLVM, User Guide for AMDGPU Backend, "Note Records").
    fn read_notes(
        &self,
        bytes: &'a [u8],
        start: u64,
        notes: &mut Vec<Note<'a>>,
    ) -> Result<(), CodeError> {
        let len = bytes.len() as u64;
        let mut at = 0;
        // Fewer than 12 bytes are padding at the end.
        while at + 12 <= len {
            let header = &bytes[at as usize..];
            let (name, size) = (u64::from(u32_at(header, 0)), u64::from(u32_at(header, 4)));
            let kind = u32_at(header, 8);
            let name_end = at + 12 + name;
            let contents_start = name_end.next_multiple_of(4);
            let contents_end = contents_start + size;
            if contents_end > len {
                return Err(CodeError::Truncated {
                    file: self.file.to_owned(),
                    what: format!("note of type {kind}"),
                    offset: start + at,
                    needed: contents_end - at,
                    available: len - at,
                });
            }
            notes.push(Note {
                owner: &bytes[(at + 12) as usize..name_end as usize],
                kind,
                contents: &bytes[contents_start as usize..contents_end as usize],
                offset: start + contents_start,
            });
            at = contents_end.next_multiple_of(4);
        }
        Ok(())
    }
}

/// `DT_RELRSZ`, `DT_ANDROID_RELSZ`, `DT_ANDROID_RELASZ` (LLVM, `DynamicTags.def`).
const DT_RELRSZ: u64 = 35;
const DT_ANDROID_RELSZ: u64 = 0x6000_0010;
const DT_ANDROID_RELASZ: u64 = 0x6000_0012;

/// `len` bytes at `offset` of `bytes`, which are (part of) `file`.
pub(super) fn slice<'a>(
    file: &str,
    bytes: &'a [u8],
    offset: u64,
    len: u64,
    what: &str,
) -> Result<&'a [u8], CodeError> {
    offset
        .checked_add(len)
        .filter(|end| *end <= bytes.len() as u64)
        .map(|end| &bytes[offset as usize..end as usize])
        .ok_or_else(|| CodeError::Truncated {
            file: file.to_owned(),
            what: what.to_owned(),
            offset,
            needed: len,
            available: (bytes.len() as u64).saturating_sub(offset),
        })
}

/// The NUL-terminated UTF-8 string at `start`.
fn c_str(table: &[u8], start: usize) -> Option<&str> {
    let tail = table.get(start..)?;
    let end = tail.iter().position(|b| *b == 0)?;
    std::str::from_utf8(&tail[..end]).ok()
}

/// Little-endian word at `at`; the caller has checked that it is there.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

/// Little-endian double word at `at`; the caller has checked that it is there.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Bytes in hexadecimal, separated by spaces.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}
