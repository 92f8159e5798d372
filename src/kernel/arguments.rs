//! What a caller passes to a kernel.

use crate::memory::{Buffer, BufferView};

/// One explicit argument of a dispatch, in the order of the kernel's declaration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Argument<'a> {
    /// A pointer to a buffer, or into it. The submission keeps the buffer until the device is done.
    Buffer(BufferView<'a>),
    /// A null pointer.
    Null,
    /// A value's bytes, as many as the kernel declares.
    Bytes(&'a [u8]),
    /// A value of at most 16 bytes, held here: the first `.1` bytes of `.0`.
    Value([u8; 16], u8),
    /// Bytes of LDS for a `local` pointer argument.
    Local(u32),
    /// A raw device address for a pointer argument. Nothing keeps what is there alive.
    Address(u64),
}

impl<'a> From<&'a Buffer> for Argument<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Argument::Buffer(buffer.view())
    }
}

impl<'a> From<BufferView<'a>> for Argument<'a> {
    fn from(view: BufferView<'a>) -> Self {
        Argument::Buffer(view)
    }
}

impl<'a> From<&'a [u8]> for Argument<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Argument::Bytes(bytes)
    }
}

macro_rules! value {
    ($($type:ty)*) => {
        $(impl From<$type> for Argument<'_> {
            fn from(value: $type) -> Self {
                const SIZE: usize = size_of::<$type>();
                let mut bytes = [0; 16];
                bytes[..SIZE].copy_from_slice(&value.to_le_bytes());
                Argument::Value(bytes, SIZE as u8)
            }
        })*
    };
}

value!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 f32 f64);
