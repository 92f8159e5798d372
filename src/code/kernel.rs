//! A kernel: descriptor, entry and arguments.

use aql::KernelDescriptor;

use super::error::CodeError;
use super::image::Image;
use super::metadata::{Argument, ArgumentKind, KernelMetadata};

/// Size and alignment of a kernel descriptor in bytes.
pub(super) const DESCRIPTOR_SIZE: u64 = aql::descriptor::BYTES as u64;

/// Alignment of a kernarg segment for which nothing states one: that of an AQL packet's
/// `kernarg_address` (HSA Runtime Specification, "`kernarg_address`": 16).
const KERNARG_ALIGN: u32 = 16;

/// A kernel of a code object.
#[derive(Debug, Clone)]
pub struct Kernel {
    name: String,
    symbol: String,
    descriptor_offset: u64,
    descriptor: KernelDescriptor,
    entry_offset: u64,
    metadata: Option<KernelMetadata>,
}

impl Kernel {
    /// Reads the descriptor at `offset` of `image` and checks it against the metadata.
    pub(super) fn read(
        image: &Image,
        symbol: &str,
        offset: u64,
        mut metadata: Option<KernelMetadata>,
    ) -> Result<Self, CodeError> {
        let name = match &metadata {
            Some(metadata) => metadata.name.clone(),
            None => symbol.strip_suffix(".kd").unwrap_or(symbol).to_owned(),
        };
        let fail = |reason: String| CodeError::Kernel {
            file: image.file.clone(),
            kernel: name.clone(),
            reason,
        };
        let address = image.origin.wrapping_add(offset);
        if !offset.is_multiple_of(DESCRIPTOR_SIZE) {
            return Err(fail(format!("descriptor at {address:#x} is not 64-byte aligned")));
        }
        let bytes = image
            .bytes(offset, DESCRIPTOR_SIZE)
            .and_then(<[u8]>::first_chunk)
            .ok_or_else(|| fail(format!("descriptor at {address:#x} is not in the file")))?;
        let descriptor = KernelDescriptor::decode(bytes);
        // In a relocatable object the entry is a relocation, known before the load address is.
        let entry = image
            .relative_field(offset + 16)
            .map_or(descriptor.kernel_code_entry_byte_offset, |distance| distance as i64);
        let entry_offset = offset.wrapping_add_signed(entry);
        if !image.segment_at(entry_offset, 4).is_some_and(|s| s.execute) {
            return Err(fail(format!(
                "entry at {:#x} is not in executable code",
                image.origin.wrapping_add(entry_offset)
            )));
        }
        if let Some(metadata) = &mut metadata {
            check(metadata).map_err(&fail)?;
        }
        Ok(Self {
            name,
            symbol: symbol.to_owned(),
            descriptor_offset: offset,
            descriptor,
            entry_offset,
            metadata,
        })
    }

    /// Name in the metadata, or the symbol's without `.kd`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Symbol of the descriptor.
    #[must_use]
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// Offset of the descriptor in the image: `kernel_object` of a dispatch packet is the load
    /// address plus this.
    #[must_use]
    pub fn descriptor_offset(&self) -> u64 {
        self.descriptor_offset
    }

    /// The descriptor as in the file, before relocation.
    #[must_use]
    pub fn descriptor(&self) -> &KernelDescriptor {
        &self.descriptor
    }

    /// Offset of the entry in the image (what firmware adds for preloaded arguments is not in it).
    #[must_use]
    pub fn entry_offset(&self) -> u64 {
        self.entry_offset
    }

    /// The kernel's metadata, if the object has any; its arguments are sorted by offset.
    #[must_use]
    pub fn metadata(&self) -> Option<&KernelMetadata> {
        self.metadata.as_ref()
    }

    /// Arguments by ascending offset, explicit and hidden, each within
    /// [`kernarg_size`](Self::kernarg_size); empty without metadata.
    #[must_use]
    pub fn arguments(&self) -> &[Argument] {
        self.metadata.as_ref().map_or(&[], |m| &m.arguments)
    }

    /// Arguments that the caller gives.
    pub fn explicit_arguments(&self) -> impl Iterator<Item = &Argument> {
        self.arguments().iter().filter(|a| !a.kind.is_hidden())
    }

    /// Arguments that the runtime fills.
    pub fn hidden_arguments(&self) -> impl Iterator<Item = &Argument> {
        self.arguments().iter().filter(|a| a.kind.is_hidden())
    }

    /// The hidden argument of this kind.
    #[must_use]
    pub fn hidden(&self, kind: &ArgumentKind) -> Option<&Argument> {
        self.hidden_arguments().find(|a| a.kind == *kind)
    }

    /// Bytes from the start of the kernarg segment to the end of the last argument that the
    /// caller gives; without metadata the whole segment is the caller's.
    #[must_use]
    pub fn explicit_size(&self) -> u32 {
        match self.metadata {
            // Every end is at most kernarg_size.
            Some(_) => self.explicit_arguments().map(|a| a.end() as u32).max().unwrap_or(0),
            None => self.kernarg_size(),
        }
    }

    /// Size of the kernarg segment in bytes: the larger of metadata's and descriptor's (0 in the
    /// descriptor is "unspecified").
    #[must_use]
    pub fn kernarg_size(&self) -> u32 {
        let metadata = self.metadata.as_ref().map_or(0, |m| m.kernarg_segment_size);
        metadata.max(self.descriptor.kernarg_size)
    }

    /// Alignment of the kernarg segment in bytes, a power of two, at least 16.
    #[must_use]
    pub fn kernarg_align(&self) -> u32 {
        self.metadata.as_ref().map_or(0, |m| m.kernarg_segment_align).max(KERNARG_ALIGN)
    }

    /// Fixed size of the group segment (LDS) in bytes.
    #[must_use]
    pub fn group_size(&self) -> u32 {
        let metadata = self.metadata.as_ref().map_or(0, |m| m.group_segment_fixed_size);
        metadata.max(self.descriptor.group_segment_fixed_size)
    }

    /// Fixed size of the private segment (scratch) in bytes a work-item.
    #[must_use]
    pub fn private_size(&self) -> u32 {
        let metadata = self.metadata.as_ref().map_or(0, |m| m.private_segment_fixed_size);
        metadata.max(self.descriptor.private_segment_fixed_size)
    }

    /// Lanes of a wave, 32 or 64. The descriptor's bit is what the hardware obeys; it exists from
    /// gfx10 on and is zero, meaning 64, elsewhere.
    #[must_use]
    pub fn wavefront_size(&self) -> u32 {
        if self.descriptor.properties().enable_wavefront_size32() { 32 } else { 64 }
    }

    /// Whether the kernel needs more scratch than [`private_size`](Self::private_size) says, by an
    /// amount that the compiler could not know.
    #[must_use]
    pub fn uses_dynamic_stack(&self) -> bool {
        self.descriptor.properties().uses_dynamic_stack()
            || self.metadata.as_ref().is_some_and(|m| m.uses_dynamic_stack)
    }
}

/// Sorts the arguments and checks sizes that the runtime relies on.
fn check(metadata: &mut KernelMetadata) -> Result<(), String> {
    metadata.arguments.sort_by_key(|a| a.offset);
    let size = metadata.kernarg_segment_size;
    for (index, argument) in metadata.arguments.iter().enumerate() {
        if argument.end() > u64::from(size) {
            return Err(format!(
                "argument {index} (`{}`, {}) ends at byte {} of a kernarg segment of {size} bytes",
                argument.name.as_deref().unwrap_or(""),
                argument.kind,
                argument.end(),
            ));
        }
    }
    let align = metadata.kernarg_segment_align;
    if align > 4096 || (align > 0 && !align.is_power_of_two()) {
        return Err(format!(".kernarg_segment_align is {align}: needed a power of two up to 4096"));
    }
    Ok(())
}
