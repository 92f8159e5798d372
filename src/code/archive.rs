//! Any file with device code in it, and the choice of what fits a device.

use std::borrow::Cow;
use std::ops::Range;

use super::bundle;
use super::compressed::{self, CompressedBundle};
use super::elf::{self, Elf, hex};
use super::error::{CodeError, WrongTarget};
use super::object::CodeObject;
use super::target::TargetId;

/// Section of a host program that holds offload bundles.
const FATBIN_SECTION: &str = ".hip_fatbin";
/// First bytes of LLVM bitcode, plain and wrapped.
const BITCODE: [&[u8]; 2] = [b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];

/// What a file may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that all compressed bundles of a file may unpack to, together.
    pub max_unpacked_bytes: u64,
}

impl Default for Limits {
    /// 1 GiB of unpacked bundles.
    fn default() -> Self {
        Self { max_unpacked_bytes: 1 << 30 }
    }
}

/// How device code is kept in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Container {
    /// The file itself is a code object.
    Raw,
    /// An offload bundle.
    Bundle,
    /// A compressed offload bundle.
    Compressed(CompressedBundle),
}

/// An offload bundle of a file, or the file itself if it is a code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// How it is kept.
    pub container: Container,
    /// Where it starts in the file, in bytes.
    pub offset: u64,
}

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contents {
    /// A code object for a target that is known.
    CodeObject(TargetId),
    /// Device code that must be compiled first: LLVM bitcode.
    Bitcode,
    /// The host's part, usually empty.
    Host,
    /// Anything else: an ELF file that is not a code object we know, SPIR-V, nothing.
    Other,
}

#[derive(Debug)]
struct Slot {
    member: usize,
    id: String,
    target: Option<TargetId>,
    contents: Contents,
    range: Range<usize>,
}

/// A file with device code: a code object, offload bundles (plain or compressed, one or several),
/// or a host program or library with such bundles in its section `.hip_fatbin`.
#[derive(Debug)]
pub struct Archive<'a> {
    file: String,
    members: Vec<(Member, Cow<'a, [u8]>)>,
    slots: Vec<Slot>,
}

/// An entry of an [`Archive`].
#[derive(Debug, Clone, Copy)]
pub struct Entry<'s> {
    archive: &'s Archive<'s>,
    slot: &'s Slot,
}

impl<'a> Archive<'a> {
    /// Opens a file by its bytes; `name` stands for it in errors.
    ///
    /// Compressed bundles are unpacked here, within the default [`Limits`].
    ///
    /// # Errors
    /// If the bytes are no container of device code, or are damaged.
    pub fn open(bytes: &'a [u8], name: &str) -> Result<Self, CodeError> {
        Self::open_with(bytes, name, Limits::default())
    }

    /// [`open`](Self::open) with other limits.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(bytes: &'a [u8], name: &str, limits: Limits) -> Result<Self, CodeError> {
        let mut archive = Self { file: name.to_owned(), members: Vec::new(), slots: Vec::new() };
        if bytes.starts_with(elf::MAGIC) {
            let header = Elf::parse_header(bytes, name)?.header;
            if header.e_machine == elf::MACHINE_AMDGPU {
                let target = CodeObject::target_of(bytes, name)?;
                archive.add_member(Container::Raw, 0, Cow::Borrowed(bytes));
                archive.slots.push(Slot {
                    member: 0,
                    id: format!("amdgcn-amd-amdhsa--{target}"),
                    target: Some(target),
                    contents: Contents::CodeObject(target),
                    range: 0..bytes.len(),
                });
                return Ok(archive);
            }
            let host = Elf::parse(bytes, name)?;
            let section =
                host.section_named(FATBIN_SECTION).ok_or_else(|| CodeError::NotDeviceCode {
                    file: name.to_owned(),
                    got: format!(
                        "an ELF file for machine {} without a section {FATBIN_SECTION}",
                        header.e_machine
                    ),
                })?;
            let (offset, size) = (section.sh_offset, host.contents(section)?.len() as u64);
            let contents = elf::slice(name, bytes, offset, size, FATBIN_SECTION)?;
            archive.add_bundles(contents, offset, limits)?;
        } else if bytes.starts_with(bundle::MAGIC) || bytes.starts_with(compressed::MAGIC) {
            archive.add_bundles(bytes, 0, limits)?;
        } else {
            return Err(CodeError::NotDeviceCode { file: name.to_owned(), got: describe(bytes) });
        }
        Ok(archive)
    }

    fn add_member(&mut self, container: Container, offset: u64, bytes: Cow<'a, [u8]>) -> usize {
        self.members.push((Member { container, offset }, bytes));
        self.members.len() - 1
    }

    /// Adds bundles that follow each other. Where one ends is said by its own header: the bytes of
    /// a magic number may well occur inside a payload.
    fn add_bundles(
        &mut self,
        bytes: &'a [u8],
        base: u64,
        mut limits: Limits,
    ) -> Result<(), CodeError> {
        let mut at = 0;
        loop {
            // Bundles are aligned; the gaps are zero.
            at += bytes[at..].iter().take_while(|b| **b == 0).count();
            let rest = &bytes[at..];
            let offset = base + at as u64;
            if rest.is_empty() {
                return Ok(());
            } else if rest.starts_with(bundle::MAGIC) {
                let (entries, used) = bundle::read(&self.file, rest, offset)?;
                let member =
                    self.add_member(Container::Bundle, offset, Cow::Borrowed(&rest[..used]));
                self.add_entries(member, entries);
                at += used;
            } else if rest.starts_with(compressed::MAGIC) {
                let header = CompressedBundle::parse(&self.file, rest, offset)?;
                let (unpacked, used) =
                    header.unpack(&self.file, rest, offset, limits.max_unpacked_bytes)?;
                limits.max_unpacked_bytes -= unpacked.len() as u64;
                if !unpacked.starts_with(bundle::MAGIC) {
                    return Err(CodeError::Compressed {
                        file: self.file.clone(),
                        bundle: header.to_string(),
                        offset,
                        reason: format!("it holds no offload bundle but {}", describe(&unpacked)),
                    });
                }
                let inside = format!("{} (unpacked from offset {offset:#x})", self.file);
                let (entries, _) = bundle::read(&inside, &unpacked, 0)?;
                let container = Container::Compressed(header);
                let member = self.add_member(container, offset, Cow::Owned(unpacked));
                self.add_entries(member, entries);
                at += used;
            } else {
                return Err(CodeError::Field {
                    file: self.file.clone(),
                    field: "bytes after an offload bundle".to_owned(),
                    offset,
                    needed: "zeros or another bundle".to_owned(),
                    got: describe(rest),
                });
            }
        }
    }

    fn add_entries(&mut self, member: usize, entries: Vec<bundle::BundleEntry>) {
        for bundle::BundleEntry { id, range } in entries {
            let bytes = &self.members[member].1[range.clone()];
            let by_id = bundle::target_of_id(&id);
            let contents = if bundle::is_host_id(&id) {
                Contents::Host
            } else if BITCODE.iter().any(|magic| bytes.starts_with(magic)) {
                Contents::Bitcode
            } else if let Ok(target) = CodeObject::target_of(bytes, &id) {
                // What the object says of itself counts; ids of code object V3 cannot say "any".
                Contents::CodeObject(target)
            } else {
                Contents::Other
            };
            let target = match contents {
                Contents::CodeObject(target) => Some(target),
                _ => by_id,
            };
            self.slots.push(Slot { member, id, target, contents, range });
        }
    }

    /// Name given by the caller.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file
    }

    /// The bundles of the file in order; one for a file that is a code object.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().map(|(member, _)| member)
    }

    /// All entries, those of the host included.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.slots.iter().map(|slot| Entry { archive: self, slot })
    }

    /// The entries that are code objects.
    pub fn code_objects(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries().filter(|e| matches!(e.slot.contents, Contents::CodeObject(_)))
    }

    /// The code object that fits `device` best: one for its very processor before a generic one,
    /// one with its very features before one for any. Of equals the first counts.
    ///
    /// # Errors
    /// [`CodeError::WrongTarget`], with every target in the file and what differs.
    pub fn select(&self, device: &TargetId) -> Result<Entry<'_>, CodeError> {
        let fitting = self.fitting(device).map(|(target, entry)| (target.specificity(), entry));
        best(fitting).ok_or_else(|| self.wrong_target(device))
    }

    /// The best code object of each bundle that has one: a program made of several source files
    /// has a bundle for each.
    ///
    /// # Errors
    /// As [`select`](Self::select), if no bundle has one.
    pub fn select_all(&self, device: &TargetId) -> Result<Vec<Entry<'_>>, CodeError> {
        let mut chosen: Vec<((bool, usize), Entry<'_>)> = Vec::new();
        // Slots are in the order of their members.
        for (target, entry) in self.fitting(device) {
            let specificity = target.specificity();
            match chosen.last_mut() {
                Some(last) if last.1.slot.member == entry.slot.member => {
                    if specificity > last.0 {
                        *last = (specificity, entry);
                    }
                }
                _ => chosen.push((specificity, entry)),
            }
        }
        if chosen.is_empty() {
            return Err(self.wrong_target(device));
        }
        Ok(chosen.into_iter().map(|(_, entry)| entry).collect())
    }

    fn fitting(&self, device: &TargetId) -> impl Iterator<Item = (TargetId, Entry<'_>)> {
        self.entries().filter_map(|entry| match entry.slot.contents {
            Contents::CodeObject(target) if target.matches(device).is_ok() => Some((target, entry)),
            _ => None,
        })
    }

    fn wrong_target(&self, device: &TargetId) -> CodeError {
        let targets = self.slots.iter().filter(|s| s.contents != Contents::Host).map(|slot| {
            let text = slot.target.map_or_else(|| slot.id.clone(), |t| t.to_string());
            let reason = match (slot.contents, slot.target) {
                (Contents::CodeObject(target), _) => match target.matches(device) {
                    Ok(()) => String::new(),
                    Err(mismatch) => mismatch.to_string(),
                },
                (Contents::Bitcode, _) => "LLVM bitcode, compile it first".to_owned(),
                _ => "not a code object".to_owned(),
            };
            (text, slot.target, reason)
        });
        CodeError::WrongTarget(Box::new(WrongTarget::new(&self.file, device, targets)))
    }
}

/// The first of the entries with the highest rank.
fn best<'s>(ranked: impl Iterator<Item = ((bool, usize), Entry<'s>)>) -> Option<Entry<'s>> {
    ranked.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, entry)| entry)
}

impl<'s> Entry<'s> {
    /// Entry id in the bundle, for example `hipv4-amdgcn-amd-amdhsa--gfx1151`; for a file that is
    /// a code object its triple and target.
    #[must_use]
    pub fn id(&self) -> &'s str {
        &self.slot.id
    }

    /// Target of the code object, or that in the id for what is none.
    #[must_use]
    pub fn target(&self) -> Option<TargetId> {
        self.slot.target
    }

    /// What it holds.
    #[must_use]
    pub fn contents(&self) -> Contents {
        self.slot.contents
    }

    /// The bundle it is in.
    #[must_use]
    pub fn member(&self) -> &'s Member {
        &self.archive.members[self.slot.member].0
    }

    /// Its bytes, unpacked.
    #[must_use]
    pub fn bytes(&self) -> &'s [u8] {
        &self.archive.members[self.slot.member].1[self.slot.range.clone()]
    }

    /// Parses it as a code object.
    ///
    /// # Errors
    /// As [`CodeObject::parse`]; the name in errors is `file[id]`.
    pub fn parse(&self) -> Result<CodeObject, CodeError> {
        let name = match self.member().container {
            Container::Raw => self.archive.file.clone(),
            _ => format!("{}[{}]", self.archive.file, self.slot.id),
        };
        CodeObject::parse(self.bytes(), &name)
    }
}

/// What bytes look like, in words.
fn describe(bytes: &[u8]) -> String {
    let known: &[(&[u8], &str)] = &[
        (elf::MAGIC, "an ELF file"),
        (BITCODE[0], "LLVM bitcode"),
        (BITCODE[1], "LLVM bitcode"),
        (b"MZ", "a Windows program"),
        (b"\x28\xb5\x2f\xfd", "a zstd file without bundle header"),
        (b"\x1f\x8b", "a gzip file"),
        (b"!<arch>\n", "a static library: extract or link its objects first"),
        (b"\x03\x02\x23\x07", "SPIR-V"),
    ];
    match known.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, name)) => (*name).to_owned(),
        None if bytes.is_empty() => "no bytes at all".to_owned(),
        None => format!("bytes {}", hex(&bytes[..bytes.len().min(8)])),
    }
}
