//! Kernel metadata: MessagePack in `NT_AMDGPU_METADATA` notes.
//!
//! Keys and meanings: LLVM, User Guide for AMDGPU Backend, "Code Object V3 Metadata" to
//! "Code Object V5 Metadata" (V6 has V5's). An object may carry one note or thousands, one a
//! kernel; all are read and joined.

use rmpv::ValueRef;
use rmpv::decode::read_value_ref_with_max_depth;

use super::elf::Note;
use super::error::CodeError;

/// `NT_AMDGPU_METADATA`.
const NOTE_TYPE: u32 = 32;
/// Owner of the note; the name size in the record may count the NUL or not.
const NOTE_OWNER: &[u8] = b"AMDGPU";
/// Nesting that is accepted. Real metadata nests to 5 (map, kernels, kernel, arguments, argument);
/// rmpv counts up to three levels a value.
const MAX_DEPTH: usize = 24;
/// Largest note that is read, in bytes. The largest seen in a library has 15 MB.
const MAX_NOTE_BYTES: u64 = 64 << 20;

/// What an argument is and who sets it (`.value_kind`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// Copied into the segment as it is.
    ByValue,
    /// Pointer to global memory.
    GlobalBuffer,
    /// 32-bit LDS offset of memory allocated at dispatch.
    DynamicSharedPointer,
    /// Pointer to a sampler resource.
    Sampler,
    /// Pointer to an image resource.
    Image,
    /// Pointer to an OpenCL pipe.
    Pipe,
    /// Pointer to an OpenCL queue.
    Queue,
    /// Grid offset in X.
    HiddenGlobalOffsetX,
    /// Grid offset in Y.
    HiddenGlobalOffsetY,
    /// Grid offset in Z.
    HiddenGlobalOffsetZ,
    /// Space that the kernel does not use.
    HiddenNone,
    /// Pointer to the printf buffer.
    HiddenPrintfBuffer,
    /// Pointer to the host call buffer.
    HiddenHostcallBuffer,
    /// Pointer to the default device queue.
    HiddenDefaultQueue,
    /// Pointer for device enqueue.
    HiddenCompletionAction,
    /// Pointer for synchronisation between grids.
    HiddenMultigridSyncArg,
    /// Number of workgroups in X.
    HiddenBlockCountX,
    /// Number of workgroups in Y.
    HiddenBlockCountY,
    /// Number of workgroups in Z.
    HiddenBlockCountZ,
    /// Workgroup size in X.
    HiddenGroupSizeX,
    /// Workgroup size in Y.
    HiddenGroupSizeY,
    /// Workgroup size in Z.
    HiddenGroupSizeZ,
    /// Size of the partial workgroup in X, 0 if there is none.
    HiddenRemainderX,
    /// Size of the partial workgroup in Y, 0 if there is none.
    HiddenRemainderY,
    /// Size of the partial workgroup in Z, 0 if there is none.
    HiddenRemainderZ,
    /// Number of grid dimensions.
    HiddenGridDims,
    /// Pointer to the device heap.
    HiddenHeapV1,
    /// Bytes of LDS allocated at dispatch.
    HiddenDynamicLdsSize,
    /// High 32 bits of the private aperture.
    HiddenPrivateBase,
    /// High 32 bits of the shared aperture.
    HiddenSharedBase,
    /// Pointer to the AQL queue.
    HiddenQueuePtr,
    /// Any other text.
    Other(String),
}

/// Kinds with their text in metadata.
const KINDS: &[(&str, ArgumentKind)] = &[
    ("by_value", ArgumentKind::ByValue),
    ("global_buffer", ArgumentKind::GlobalBuffer),
    ("dynamic_shared_pointer", ArgumentKind::DynamicSharedPointer),
    ("sampler", ArgumentKind::Sampler),
    ("image", ArgumentKind::Image),
    ("pipe", ArgumentKind::Pipe),
    ("queue", ArgumentKind::Queue),
    ("hidden_global_offset_x", ArgumentKind::HiddenGlobalOffsetX),
    ("hidden_global_offset_y", ArgumentKind::HiddenGlobalOffsetY),
    ("hidden_global_offset_z", ArgumentKind::HiddenGlobalOffsetZ),
    ("hidden_none", ArgumentKind::HiddenNone),
    ("hidden_printf_buffer", ArgumentKind::HiddenPrintfBuffer),
    ("hidden_hostcall_buffer", ArgumentKind::HiddenHostcallBuffer),
    ("hidden_default_queue", ArgumentKind::HiddenDefaultQueue),
    ("hidden_completion_action", ArgumentKind::HiddenCompletionAction),
    ("hidden_multigrid_sync_arg", ArgumentKind::HiddenMultigridSyncArg),
    ("hidden_block_count_x", ArgumentKind::HiddenBlockCountX),
    ("hidden_block_count_y", ArgumentKind::HiddenBlockCountY),
    ("hidden_block_count_z", ArgumentKind::HiddenBlockCountZ),
    ("hidden_group_size_x", ArgumentKind::HiddenGroupSizeX),
    ("hidden_group_size_y", ArgumentKind::HiddenGroupSizeY),
    ("hidden_group_size_z", ArgumentKind::HiddenGroupSizeZ),
    ("hidden_remainder_x", ArgumentKind::HiddenRemainderX),
    ("hidden_remainder_y", ArgumentKind::HiddenRemainderY),
    ("hidden_remainder_z", ArgumentKind::HiddenRemainderZ),
    ("hidden_grid_dims", ArgumentKind::HiddenGridDims),
    ("hidden_heap_v1", ArgumentKind::HiddenHeapV1),
    ("hidden_dynamic_lds_size", ArgumentKind::HiddenDynamicLdsSize),
    ("hidden_private_base", ArgumentKind::HiddenPrivateBase),
    ("hidden_shared_base", ArgumentKind::HiddenSharedBase),
    ("hidden_queue_ptr", ArgumentKind::HiddenQueuePtr),
];

impl ArgumentKind {
    fn from_text(text: &str) -> Self {
        match KINDS.iter().find(|(name, _)| *name == text) {
            Some((_, kind)) => kind.clone(),
            None => Self::Other(text.to_owned()),
        }
    }

    /// The text in metadata.
    #[must_use]
    pub fn as_str(&self) -> &str {
        if let Self::Other(text) = self {
            return text;
        }
        KINDS.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name)
    }

    /// Whether the runtime fills the argument, not the caller.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.as_str().starts_with("hidden_")
    }
}

impl std::fmt::Display for ArgumentKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One argument in a kernel's kernarg segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Name in the source, if kept.
    pub name: Option<String>,
    /// Type in the source, if kept.
    pub type_name: Option<String>,
    /// Offset in the kernarg segment, in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// What it is.
    pub kind: ArgumentKind,
    /// Alignment of what a `dynamic_shared_pointer` points to, in bytes.
    pub pointee_align: Option<u32>,
    /// `global`, `constant`, `local`, `generic`, `private` or `region`, for pointers.
    pub address_space: Option<String>,
    /// `read_only`, `write_only` or `read_write`, as declared.
    pub access: Option<String>,
    /// The same, as the compiler saw it used.
    pub actual_access: Option<String>,
    /// Qualified `const`.
    pub is_const: bool,
    /// Qualified `restrict`.
    pub is_restrict: bool,
    /// Qualified `volatile`.
    pub is_volatile: bool,
    /// Qualified `pipe`.
    pub is_pipe: bool,
}

impl Argument {
    /// Offset of the byte after the argument.
    #[must_use]
    pub fn end(&self) -> u64 {
        u64::from(self.offset) + u64::from(self.size)
    }
}

/// What metadata says of one kernel. Sizes are in bytes; counts are registers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelMetadata {
    /// `.name`: name in the source.
    pub name: String,
    /// `.symbol`: name of the descriptor's symbol.
    pub symbol: String,
    /// `.language`, for example `OpenCL C`.
    pub language: Option<String>,
    /// `.language_version`: major, minor.
    pub language_version: Option<[u32; 2]>,
    /// `.kind`: `normal`, `init` or `fini`.
    pub kind: Option<String>,
    /// `.args` in the order of the file.
    pub arguments: Vec<Argument>,
    /// `.kernarg_segment_size`.
    pub kernarg_segment_size: u32,
    /// `.kernarg_segment_align`.
    pub kernarg_segment_align: u32,
    /// `.group_segment_fixed_size`: LDS.
    pub group_segment_fixed_size: u32,
    /// `.private_segment_fixed_size`: scratch a work-item.
    pub private_segment_fixed_size: u32,
    /// `.wavefront_size`: 32 or 64.
    pub wavefront_size: u32,
    /// `.sgpr_count`.
    pub sgpr_count: u32,
    /// `.vgpr_count`.
    pub vgpr_count: u32,
    /// `.agpr_count`.
    pub agpr_count: Option<u32>,
    /// `.sgpr_spill_count`.
    pub sgpr_spill_count: Option<u32>,
    /// `.vgpr_spill_count`.
    pub vgpr_spill_count: Option<u32>,
    /// `.max_flat_workgroup_size`: work-items.
    pub max_flat_workgroup_size: u32,
    /// `.reqd_workgroup_size`.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// `.workgroup_size_hint`.
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// `.vec_type_hint`.
    pub vec_type_hint: Option<String>,
    /// `.device_enqueue_symbol`.
    pub device_enqueue_symbol: Option<String>,
    /// `.uses_dynamic_stack`: recursion or indirect calls; the private size is then a lower bound.
    pub uses_dynamic_stack: bool,
    /// `.workgroup_processor_mode`.
    pub workgroup_processor_mode: Option<bool>,
    /// `.uniform_work_group_size`: grids must be whole multiples of the workgroup.
    pub uniform_work_group_size: bool,
}

/// Metadata of a code object, all notes joined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// `amdhsa.version`: major, minor.
    pub version: Option<[u32; 2]>,
    /// `amdhsa.target`, for example `amdgcn-amd-amdhsa--gfx1151`.
    pub target: Option<String>,
    /// `amdhsa.printf`: `ID:N:S[0]:…:S[N-1]:FormatString`.
    pub printf: Vec<String>,
    /// `amdhsa.kernels`.
    pub kernels: Vec<KernelMetadata>,
}

impl Metadata {
    /// Reads every `NT_AMDGPU_METADATA` note among `notes`.
    pub(super) fn from_notes(file: &str, notes: &[Note<'_>]) -> Result<Self, CodeError> {
        let mut metadata = Self::default();
        for note in notes.iter().filter(|n| n.kind == NOTE_TYPE) {
            if note.owner.strip_suffix(b"\0").unwrap_or(note.owner) == NOTE_OWNER {
                metadata.read(file, note.offset, note.contents)?;
            }
        }
        Ok(metadata)
    }

    /// Reads the contents of one metadata note.
    ///
    /// # Errors
    /// If the bytes are not MessagePack, nest too deeply or lack a key that is required; `file`
    /// names them in the error.
    pub fn parse(file: &str, contents: &[u8]) -> Result<Self, CodeError> {
        let mut metadata = Self::default();
        metadata.read(file, 0, contents)?;
        Ok(metadata)
    }

    fn read(&mut self, file: &str, offset: u64, contents: &[u8]) -> Result<(), CodeError> {
        if contents.len() as u64 > MAX_NOTE_BYTES {
            return Err(CodeError::TooLarge {
                file: file.to_owned(),
                what: "metadata note".to_owned(),
                offset,
                got: contents.len() as u64,
                limit: MAX_NOTE_BYTES,
                remedy: "split the object",
            });
        }
        let fail = |reason: String| CodeError::Metadata { file: file.to_owned(), offset, reason };
        let mut rest = contents;
        let value = read_value_ref_with_max_depth(&mut rest, MAX_DEPTH).map_err(|e| {
            fail(format!("not MessagePack after {} bytes: {e}", contents.len() - rest.len()))
        })?;
        let root = Map::new(&value, "document").map_err(&fail)?;
        self.merge(&root).map_err(&fail)
    }

    fn merge(&mut self, root: &Map<'_>) -> Result<(), String> {
        if let Some(version) = root.numbers("amdhsa.version")? {
            self.version.get_or_insert(version);
        }
        if let Some(target) = root.text("amdhsa.target")? {
            match &self.target {
                Some(first) if *first != target => {
                    return Err(format!("amdhsa.target is {target}, another note has {first}"));
                }
                _ => self.target = Some(target),
            }
        }
        for line in root.list("amdhsa.printf")? {
            self.printf.push(text("amdhsa.printf", line)?);
        }
        for (index, kernel) in root.list("amdhsa.kernels")?.iter().enumerate() {
            let at = |e| format!("amdhsa.kernels[{index}]{e}");
            let kernel = Map::new(kernel, "").map_err(at)?;
            self.kernels.push(KernelMetadata::read(&kernel).map_err(at)?);
        }
        Ok(())
    }
}

impl KernelMetadata {
    fn read(map: &Map<'_>) -> Result<Self, String> {
        let required = |key| map.number(key)?.ok_or_else(|| format!("{key} is missing"));
        let mut arguments = Vec::new();
        for (index, argument) in map.list(".args")?.iter().enumerate() {
            let at = |e| format!(".args[{index}]{e}");
            arguments.push(Map::new(argument, "").and_then(|m| Argument::read(&m)).map_err(at)?);
        }
        Ok(Self {
            name: map.text(".name")?.ok_or(".name is missing")?,
            symbol: map.text(".symbol")?.ok_or(".symbol is missing")?,
            language: map.text(".language")?,
            language_version: map.numbers(".language_version")?,
            kind: map.text(".kind")?,
            arguments,
            kernarg_segment_size: required(".kernarg_segment_size")?,
            kernarg_segment_align: required(".kernarg_segment_align")?,
            group_segment_fixed_size: required(".group_segment_fixed_size")?,
            private_segment_fixed_size: required(".private_segment_fixed_size")?,
            wavefront_size: required(".wavefront_size")?,
            sgpr_count: required(".sgpr_count")?,
            vgpr_count: required(".vgpr_count")?,
            agpr_count: map.number(".agpr_count")?,
            sgpr_spill_count: map.number(".sgpr_spill_count")?,
            vgpr_spill_count: map.number(".vgpr_spill_count")?,
            max_flat_workgroup_size: required(".max_flat_workgroup_size")?,
            reqd_workgroup_size: map.numbers(".reqd_workgroup_size")?,
            workgroup_size_hint: map.numbers(".workgroup_size_hint")?,
            vec_type_hint: map.text(".vec_type_hint")?,
            device_enqueue_symbol: map.text(".device_enqueue_symbol")?,
            uses_dynamic_stack: map.flag(".uses_dynamic_stack")?.unwrap_or(false),
            workgroup_processor_mode: map.flag(".workgroup_processor_mode")?,
            uniform_work_group_size: map.flag(".uniform_work_group_size")?.unwrap_or(false),
        })
    }
}

impl Argument {
    fn read(map: &Map<'_>) -> Result<Self, String> {
        let required = |key| map.number(key)?.ok_or_else(|| format!("{key} is missing"));
        let kind = map.text(".value_kind")?.ok_or(".value_kind is missing")?;
        Ok(Self {
            name: map.text(".name")?,
            type_name: map.text(".type_name")?,
            offset: required(".offset")?,
            size: required(".size")?,
            kind: ArgumentKind::from_text(&kind),
            pointee_align: map.number(".pointee_align")?,
            address_space: map.text(".address_space")?,
            access: map.text(".access")?,
            actual_access: map.text(".actual_access")?,
            is_const: map.flag(".is_const")?.unwrap_or(false),
            is_restrict: map.flag(".is_restrict")?.unwrap_or(false),
            is_volatile: map.flag(".is_volatile")?.unwrap_or(false),
            is_pipe: map.flag(".is_pipe")?.unwrap_or(false),
        })
    }
}

/// A MessagePack map with text keys. Of a key that occurs twice the first counts.
struct Map<'a>(&'a [(ValueRef<'a>, ValueRef<'a>)]);

impl<'a> Map<'a> {
    fn new(value: &'a ValueRef<'a>, what: &str) -> Result<Self, String> {
        match value {
            ValueRef::Map(entries) => Ok(Self(entries)),
            other => Err(format!("{what}: needed a map, got {}", shape(other))),
        }
    }

    fn get(&self, key: &str) -> Option<&'a ValueRef<'a>> {
        let is_key = |k: &ValueRef<'_>| matches!(k, ValueRef::String(s) if s.as_str() == Some(key));
        self.0.iter().find(|(k, _)| is_key(k)).map(|(_, value)| value)
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        self.get(key).map(|value| text(key, value)).transpose()
    }

    fn number(&self, key: &str) -> Result<Option<u32>, String> {
        self.get(key).map(|value| number(key, value)).transpose()
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(ValueRef::Boolean(flag)) => Ok(Some(*flag)),
            // Written as 0 or 1 by some assemblers' YAML.
            Some(other) => match other.as_u64() {
                Some(n @ 0..=1) => Ok(Some(n == 1)),
                _ => Err(format!("{key}: needed true or false, got {}", shape(other))),
            },
        }
    }

    fn list(&self, key: &str) -> Result<&'a [ValueRef<'a>], String> {
        match self.get(key) {
            None => Ok(&[]),
            Some(ValueRef::Array(items)) => Ok(items),
            Some(other) => Err(format!("{key}: needed a list, got {}", shape(other))),
        }
    }

    fn numbers<const N: usize>(&self, key: &str) -> Result<Option<[u32; N]>, String> {
        if self.get(key).is_none() {
            return Ok(None);
        }
        let items = self.list(key)?;
        if items.len() != N {
            return Err(format!("{key}: needed {N} numbers, got {}", items.len()));
        }
        let mut numbers = [0; N];
        for (slot, item) in numbers.iter_mut().zip(items) {
            *slot = number(key, item)?;
        }
        Ok(Some(numbers))
    }
}

fn text(key: &str, value: &ValueRef<'_>) -> Result<String, String> {
    match value {
        ValueRef::String(text) => match text.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("{key}: not UTF-8")),
        },
        other => Err(format!("{key}: needed text, got {}", shape(other))),
    }
}

fn number(key: &str, value: &ValueRef<'_>) -> Result<u32, String> {
    value
        .as_u64()
        .and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| format!("{key}: needed a number from 0 to 2^32-1, got {}", shape(value)))
}

fn shape(value: &ValueRef<'_>) -> String {
    match value {
        ValueRef::Nil => "nil".to_owned(),
        ValueRef::Boolean(_) | ValueRef::Integer(_) | ValueRef::F32(_) | ValueRef::F64(_) => {
            value.to_string()
        }
        ValueRef::String(_) => "text".to_owned(),
        ValueRef::Binary(_) => "binary data".to_owned(),
        ValueRef::Array(items) => format!("a list of {}", items.len()),
        ValueRef::Map(entries) => format!("a map of {}", entries.len()),
        ValueRef::Ext(..) => "an extension".to_owned(),
    }
}
