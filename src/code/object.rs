//! One code object: target, image, kernels and variables.

use std::collections::{HashMap, HashSet};

use goblin::elf::header::{EI_ABIVERSION, EI_OSABI, ET_DYN, ET_REL};
use goblin::elf::section_header::{SHN_LORESERVE, SHN_UNDEF};
use goblin::elf::sym::{STT_FUNC, STT_NOTYPE, STT_OBJECT};

use super::elf::{self, Elf};
use super::error::{CodeError, WrongTarget};
use super::image::Image;
use super::kernel::{DESCRIPTOR_SIZE, Kernel};
use super::metadata::Metadata;
use super::relocatable;
use super::target::{AbiVersion, TargetId};

/// `ELFOSABI_AMDGPU_HSA`.
const OSABI_HSA: u8 = 64;

/// What a symbol stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// Code: a kernel's entry or a device function.
    Function,
    /// A kernel descriptor.
    Descriptor,
    /// A global variable.
    Variable,
}

/// A named part of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Name in the symbol table.
    pub name: String,
    /// Offset in the image, in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: SymbolKind,
}

/// A parsed AMD code object, ready to be placed in device memory.
#[derive(Debug, Clone)]
pub struct CodeObject {
    name: String,
    abi: AbiVersion,
    target: TargetId,
    image: Image,
    metadata: Metadata,
    kernels: Vec<Kernel>,
    by_name: HashMap<String, usize>,
    symbols: Vec<Symbol>,
}

impl CodeObject {
    /// Parses a code object: an ELF file of ABI V3 to V6 for AMDHSA. `name` stands for it in
    /// errors.
    ///
    /// Offload bundles and host files are opened by [`Archive`](super::Archive).
    ///
    /// # Errors
    /// Anything that makes the object unusable; see [`CodeError`].
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, CodeError> {
        let elf = Elf::parse(bytes, name)?;
        let (abi, target) = identify(&elf)?;
        let (image, symbols) = match elf.header.e_type {
            ET_DYN => {
                let image = Image::of_linked(&elf)?;
                let mut symbols = elf.dynamic_symbols()?;
                // Kernels that are not exported are only in the static table.
                symbols.extend(elf.static_symbols()?);
                let offset = |s: &elf::Symbol<'_>| s.sym.st_value.wrapping_sub(image.origin);
                let symbols = defined(&symbols).map(|s| (s, offset(&s))).collect::<Vec<_>>();
                (image, symbols)
            }
            ET_REL => {
                let symbols = elf.static_symbols()?;
                let laid_out = relocatable::lay_out(&elf, &symbols)?;
                let symbols = defined(&symbols)
                    .filter_map(|s| {
                        let start = (*laid_out.section_offsets.get(s.sym.st_shndx)?)?;
                        Some((s, start.wrapping_add(s.sym.st_value)))
                    })
                    .collect();
                (laid_out.image, symbols)
            }
            other => {
                return Err(elf.field("e_type", 16, "3 (ET_DYN) or 1 (ET_REL)", &other));
            }
        };
        let metadata = Metadata::from_notes(name, &elf.notes()?)?;
        let mut object = Self {
            name: name.to_owned(),
            abi,
            target,
            image,
            metadata,
            kernels: Vec::new(),
            by_name: HashMap::new(),
            symbols: Vec::new(),
        };
        object.read_symbols(&symbols)?;
        Ok(object)
    }

    /// The target of an ELF file, from its header alone.
    ///
    /// # Errors
    /// If it is not a code object of ABI V3 to V6, or for a processor that is not known.
    pub fn target_of(bytes: &[u8], name: &str) -> Result<TargetId, CodeError> {
        Ok(identify(&Elf::parse_header(bytes, name)?)?.1)
    }

    fn read_symbols(&mut self, symbols: &[(elf::Symbol<'_>, u64)]) -> Result<(), CodeError> {
        let mut metadata = HashMap::new();
        for kernel in &self.metadata.kernels {
            metadata.entry(kernel.symbol.as_str()).or_insert(kernel);
        }
        let mut seen = HashSet::new();
        for (symbol, offset) in symbols {
            let mut size = symbol.sym.st_size;
            let mut kind = match symbol.sym.st_type() {
                STT_FUNC => SymbolKind::Function,
                STT_OBJECT | STT_NOTYPE => SymbolKind::Variable,
                _ => continue,
            };
            // Hand-written assembly may leave the size out; metadata then says what it is.
            let descriptor = symbol.name.ends_with(".kd")
                && (size == DESCRIPTOR_SIZE || metadata.contains_key(symbol.name));
            if kind == SymbolKind::Variable && descriptor {
                (kind, size) = (SymbolKind::Descriptor, DESCRIPTOR_SIZE);
            }
            // Exported symbols are in both tables; labels and the linker's own have no size.
            if size == 0 || !seen.insert(symbol.name) {
                continue;
            }
            if kind != SymbolKind::Descriptor && self.image.segment_at(*offset, size).is_none() {
                continue;
            }
            if kind == SymbolKind::Descriptor {
                let metadata = metadata.get(symbol.name).map(|m| (*m).clone());
                let kernel = Kernel::read(&self.image, symbol.name, *offset, metadata)?;
                self.kernels.push(kernel);
            }
            self.symbols.push(Symbol { name: symbol.name.to_owned(), offset: *offset, size, kind });
        }
        for (index, kernel) in self.kernels.iter().enumerate() {
            self.by_name.entry(kernel.name().to_owned()).or_insert(index);
        }
        for (index, kernel) in self.kernels.iter().enumerate() {
            let symbol = kernel.symbol();
            self.by_name.entry(symbol.to_owned()).or_insert(index);
            let short = symbol.strip_suffix(".kd").unwrap_or(symbol);
            self.by_name.entry(short.to_owned()).or_insert(index);
        }
        Ok(())
    }

    /// Name given by the caller.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// ABI version.
    #[must_use]
    pub fn abi(&self) -> AbiVersion {
        self.abi
    }

    /// What it was compiled for.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        &self.target
    }

    /// The image for device memory.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Everything in the metadata notes, including kernels that have no descriptor.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The kernels that can be launched, in the order of the symbol table.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// The kernel of this name: the name in the metadata, that of the symbol, or that without
    /// `.kd`.
    ///
    /// # Errors
    /// If there is none; the error lists the kernels there are.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, CodeError> {
        self.by_name.get(name).map(|index| &self.kernels[*index]).ok_or_else(|| {
            let listed = self.kernels.iter().take(8).map(|k| format!("`{}`", k.name()));
            let listed = listed.collect::<Vec<_>>().join(", ");
            let available = match self.kernels.len() {
                0 => "the object has none".to_owned(),
                n @ 1..=8 => format!("the object has {n}: {listed}"),
                n => format!("the object has {n}, among them {listed}"),
            };
            CodeError::UnknownKernel { file: self.name.clone(), kernel: name.to_owned(), available }
        })
    }

    /// Kernel descriptors, functions and variables, in the order of the symbol tables; those that
    /// take no memory in the image (undefined ones, LDS) are left out.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The global variables.
    pub fn variables(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(|s| s.kind == SymbolKind::Variable)
    }

    /// Checks that the object runs on `device`.
    ///
    /// # Errors
    /// [`CodeError::WrongTarget`] with both targets and what differs.
    pub fn check_target(&self, device: &TargetId) -> Result<(), CodeError> {
        self.target.matches(device).map_err(|mismatch| {
            CodeError::WrongTarget(Box::new(WrongTarget::new(
                &self.name,
                device,
                [(self.target.to_string(), Some(self.target), mismatch.to_string())],
            )))
        })
    }
}

/// Checks the ELF header and reads ABI version and target.
fn identify(elf: &Elf<'_>) -> Result<(AbiVersion, TargetId), CodeError> {
    let header = &elf.header;
    if header.e_machine != elf::MACHINE_AMDGPU {
        return Err(elf.field("e_machine", 18, "224 (EM_AMDGPU)", &header.e_machine));
    }
    let osabi = header.e_ident[EI_OSABI];
    if osabi != OSABI_HSA {
        return Err(elf.field("EI_OSABI", 7, "64 (ELFOSABI_AMDGPU_HSA)", &osabi));
    }
    let version = header.e_ident[EI_ABIVERSION];
    let abi = AbiVersion::from_ident(version)
        .ok_or_else(|| elf.field("EI_ABIVERSION", 8, "1 to 4 (code object V3 to V6)", &version))?;
    let target = TargetId::from_e_flags(header.e_flags, abi).map_err(|mach| {
        elf.field("EF_AMDGPU_MACH of e_flags", 48, "a known processor", &format!("{mach:#04x}"))
    })?;
    Ok((abi, target))
}

/// Symbols with an address in the object.
fn defined<'s, 'a>(symbols: &'s [elf::Symbol<'a>]) -> impl Iterator<Item = elf::Symbol<'a>> + 's {
    symbols.iter().copied().filter(|s| {
        let section = s.sym.st_shndx as u32;
        section != SHN_UNDEF && section < SHN_LORESERVE
    })
}
