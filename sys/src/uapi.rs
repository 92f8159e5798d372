//! What every UAPI description shares: ioctl request words and structs whose layout is known.
//!
//! [`uapi_structs!`](crate::uapi_structs) writes a kernel struct once and gets the Rust type, its
//! byte views, and a [`Layout`] that tests compare with the C headers and tracers use to print an
//! argument field by field.

/// The direction bits of an ioctl request word, seen from user space (`_IOC_DIR`,
/// `include/uapi/asm-generic/ioctl.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `_IO`: no argument.
    None = 0,
    /// `_IOW`: user space writes, the kernel reads.
    Write = 1,
    /// `_IOR`: the kernel writes, user space reads.
    Read = 2,
    /// `_IOWR`: both.
    ReadWrite = 3,
}

/// An ioctl request word: direction 31:30, size 29:16, type 15:8, number 7:0
/// (`include/uapi/asm-generic/ioctl.h`, `_IOC`).
///
/// # Panics
/// At compile time, where all uses are: when `size` needs more than 14 bits.
pub const fn request(direction: Direction, kind: u8, number: u8, size: usize) -> u32 {
    assert!(size < 1 << 14, "the size field of an ioctl request word has 14 bits");
    (direction as u32) << 30 | (size as u32) << 16 | (kind as u32) << 8 | number as u32
}

/// The number (bits 7:0) of a request word.
pub const fn number(request: u32) -> u8 {
    request as u8
}

/// The type letter (bits 15:8) of a request word.
pub const fn kind(request: u32) -> u8 {
    (request >> 8) as u8
}

/// The argument size in bytes (bits 29:16) of a request word.
pub const fn size(request: u32) -> usize {
    (request >> 16 & 0x3fff) as usize
}

/// Where one field of a UAPI struct lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in Rust: the C name in snake case, `type_` for `type`.
    pub name: &'static str,
    /// Its offset in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

/// How a UAPI struct lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The name in C, with `struct` or `union`.
    pub c_name: &'static str,
    /// The name in Rust.
    pub name: &'static str,
    /// The size in bytes.
    pub size: usize,
    /// The fields, in order. Together they cover every byte.
    pub fields: &'static [Field],
}

/// Declares UAPI structs: `Name = "struct c_name" { field: type, ... }`.
///
/// Each becomes a `#[repr(C)]` struct with public fields, all-zeroes `Default`, equality and
/// zerocopy's byte views (which refuse implicit padding at compile time); the module also gets
/// `LAYOUTS`, the layout of all of them.
#[macro_export]
macro_rules! uapi_structs {
    ($(
        $(#[$meta:meta])*
        $name:ident = $c_name:literal {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty, )*
        }
    )*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(
                Clone, Copy, Debug, PartialEq, Eq,
                zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout,
            )]
            pub struct $name {
                $( $(#[$field_meta])* pub $field: $type, )*
            }

            impl Default for $name {
                fn default() -> Self {
                    zerocopy::FromZeros::new_zeroed()
                }
            }
        )*

        /// The layouts of this module's structs.
        pub const LAYOUTS: &[$crate::uapi::Layout] = &[$(
            $crate::uapi::Layout {
                c_name: $c_name,
                name: stringify!($name),
                size: size_of::<$name>(),
                fields: &[$(
                    $crate::uapi::Field {
                        name: stringify!($field),
                        offset: core::mem::offset_of!($name, $field),
                        size: size_of::<$type>(),
                    },
                )*],
            },
        )*];
    };
}

/// Reads a union member out of its storage.
pub fn member<T, S>(storage: &S) -> T
where
    T: zerocopy::FromBytes + zerocopy::IntoBytes,
    S: zerocopy::IntoBytes + zerocopy::Immutable,
{
    const { assert!(size_of::<T>() <= size_of::<S>()) };
    let mut value = T::new_zeroed();
    value.as_mut_bytes().copy_from_slice(&storage.as_bytes()[..size_of::<T>()]);
    value
}

/// Writes a union member into its storage, leaving the bytes past it alone.
pub fn set_member<T, S>(storage: &mut S, value: &T)
where
    T: zerocopy::IntoBytes + zerocopy::Immutable,
    S: zerocopy::IntoBytes + zerocopy::FromBytes,
{
    const { assert!(size_of::<T>() <= size_of::<S>()) };
    storage.as_mut_bytes()[..size_of::<T>()].copy_from_slice(value.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_words_are_the_macros_of_ioctl_h() {
        // AMDKFD_IOC_CREATE_QUEUE and AMDKFD_IOC_CREATE_PROCESS, as compiled from the headers.
        assert_eq!(request(Direction::ReadWrite, b'K', 2, 96), 0xc060_4b02);
        assert_eq!(request(Direction::None, b'K', 0x27, 0), 0x0000_4b27);
        assert_eq!((number(0xc060_4b02), kind(0xc060_4b02), size(0xc060_4b02)), (2, b'K', 96));
    }
}
