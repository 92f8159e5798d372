//! The macro that declares packets and registers.

/// Declares a packet or register: a value type, its `encode` and `decode`, its [`Layout`](crate::layout::Layout).
///
/// ```
/// use pm4::layout::{Packet, Variants};
///
/// #[derive(Clone, Copy)]
/// pub enum Engine {
///     Old,
///     New,
/// }
/// impl Engine {
///     pub const fn set(self) -> Variants {
///         Variants::one(self as u32)
///     }
/// }
/// const OLD: Variants = Engine::Old.set();
/// const NEW: Variants = Engine::New.set();
///
/// pm4::layout! {
///     /// Copies bytes.
///     pub struct Copy: "COPY", 4 dwords of Engine in Variants::ALL;
///     source "copy.h, PKT_COPY";
///     fixed 0xff = 0x01;
///     /// Number of bytes; the engine is given one less.
///     count: u32 (minus 1) = 1[21:0] in OLD, 1[29:0] in NEW;
///     /// Whether the lines stay in the cache.
///     keep: bool = 0[16:16] in NEW;
///     /// Where to.
///     address: u64 = 2[31:2] << 2 as addr_lo | 3[31:0] << 32 as addr_hi;
/// }
///
/// let copy = Copy { count: 1 << 22, address: 0x1_0000_1000, ..Copy::ZERO };
/// assert_eq!(copy.encode(Engine::Old), [0x01, 0x3f_ffff, 0x1000, 1]);
/// assert_eq!(Copy::decode(&[0x01, 0x3f_ffff, 0x1000, 1], Engine::Old), Ok(copy));
/// assert!(copy.check(Engine::Old).is_ok());
/// assert!(Copy { keep: true, ..copy }.check(Engine::Old).is_err());
/// assert!(Copy { count: 0, ..copy }.check(Engine::Old).is_err());
/// ```
///
/// A field is `name: type = bits;`, its type `bool`, `u8` to `u64`, or one with `const fn into_bits(self)` and
/// `from_bits(bits)` and a constant `NAMES` ([`names!`](crate::names!)). `bits` are pieces `dword[high:low]`
/// joined by `|`; `<< n` says that the piece's lowest bit is bit n of the value (else it is bit 0), `as name`
/// what AMD calls the piece (else it is the field's name). `in set` gives a placement for some variants;
/// several are separated by commas. `everywhere` in place of `of Type in set` declares what is the same in all
/// hardware; its `encode` and `decode` take no variant. `n dwords + payload` says that further dwords follow these.
/// `(minus n)` after the type says that n is subtracted before storing. `when field = [values]`, or `!=`, before
/// `of` or `everywhere` tells one of several forms of a packet by what a field holds ([`Form`](crate::layout::Form)).
#[macro_export]
macro_rules! layout {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal, $dwords:literal dwords $(+ $payload:ident)?
            $(when $form:ident $is:tt [$($value:expr),+])? of $Variant:ident in $variants:expr;
        $($rest:tt)*
    ) => {
        $crate::__layout! {
            (variant: $Variant, variant.set(), variant), $Variant, $variants;
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords $(+ $payload)? $(when $form $is [$($value),+])?;
            $($rest)*
        }
    };
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal, $dwords:literal dwords $(+ $payload:ident)?
            $(when $form:ident $is:tt [$($value:expr),+])? everywhere;
        $($rest:tt)*
    ) => {
        $crate::__layout! {
            (), (), $crate::layout::Variants::ALL;
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords $(+ $payload)? $(when $form $is [$($value),+])?;
            $($rest)*
        }
    };
}

/// What [`layout!`] declares, with or without a parameter that selects a variant.
#[doc(hidden)]
#[macro_export]
macro_rules! __layout {
    (
        ($($variant:ident: $Parameter:ident, $selected:expr, $argument:expr)?), $Variant:ty, $variants:expr;
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal, $dwords:literal dwords $(+ $payload:ident)?
            $(when $form:ident $is:tt [$($value:expr),+])?;
        source $source:literal;
        fixed $fixed_mask:literal = $fixed:expr;
        $(
            $(#[doc = $field_doc:literal])*
            $field:ident: $Type:ident $((minus $bias:literal))? =
                $(
                    $($dword:literal[$high:literal : $low:literal] $(<< $shift:literal)? $(as $piece:ident)?)|+
                    $(in $set:expr)?
                ),+;
        )*
    ) => {
        $(#[doc = $doc])*
        ///
        #[doc = concat!("Source: ", $source, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis struct $Name {
            $(
                $(#[doc = $field_doc])*
                ///
                #[doc = concat!($("At ", $("`", stringify!($dword), "[", stringify!($high), ":", stringify!($low), "]` ",)+)+
                    "in ", $amd, "; source: ", $source, ".")]
                pub $field: $Type,
            )*
            /// Bits that no field covers, by dword; hardware wants them zero.
            pub reserved: [u32; $dwords],
        }

        impl $Name {
            /// All fields zero. A field that is stored less one has to be set before this can be encoded.
            pub const ZERO: $Name = $Name {
                $($field: $crate::__value!($Type, 0u64),)*
                reserved: [0; $dwords],
            };

            /// Name, length, fields and where they are.
            pub const LAYOUT: &'static $crate::layout::Layout = &$crate::layout::Layout {
                name: $amd,
                doc: concat!($($doc, "\n",)*),
                source: $source,
                variants: $variants,
                dwords: $dwords,
                payload: $crate::__payload!($($payload)?),
                fixed_mask: $fixed_mask,
                fixed: $fixed,
                form: $crate::__form!($($form $is [$($value),+])?),
                fields: &[$(
                    $crate::layout::Field {
                        name: stringify!($field),
                        doc: concat!($($field_doc, "\n",)*),
                        placements: &[$(
                            $crate::layout::Placement {
                                variants: $crate::__variants!($($set)?),
                                pieces: &[$(
                                    $crate::__piece!($field, $dword, $high, $low, ($($shift)?), ($($piece)?)),
                                )+],
                            },
                        )+],
                        bias: 0 $(+ $bias)?,
                        names: $crate::__names!($Type),
                        flag: $crate::__flag!($Type),
                    },
                )*],
            };

            /// The dwords. Bits beyond a field's width are left out, as are fields that the variant lacks;
            /// [`check`](Self::check) tells.
            #[inline(always)]
            pub const fn encode(&self $(, $variant: $Parameter)?) -> [u32; $dwords] {
                let variant = $crate::__selected!($($selected)?);
                let mut words = self.reserved;
                words[0] |= $fixed;
                $(
                    let bits = $crate::__bits!($Type, self.$field).wrapping_sub(0 $(+ $bias)?);
                    $(
                        $crate::__where!(($($set)?), variant, {
                            $(
                                words[$dword] |= $crate::layout::place(bits, $high, $low, 0 $(+ $shift)?);
                            )+
                        });
                    )+
                )*
                let _ = variant;
                words
            }

            /// Reads dwords; what follows them is ignored.
            ///
            /// # Errors
            /// When they are too few or those of another packet, or of another form of this one.
            #[inline]
            pub const fn decode(
                words: &[u32],
                $($variant: $Parameter,)?
            ) -> ::core::result::Result<$Name, $crate::layout::DecodeError> {
                let Some((words, _)) = words.split_first_chunk::<$dwords>() else {
                    return Err($crate::layout::DecodeError::Short {
                        packet: $amd,
                        needed: $dwords,
                        got: words.len(),
                    });
                };
                if words[0] & $fixed_mask != $fixed {
                    return Err($crate::layout::DecodeError::Other {
                        packet: $amd,
                        mask: $fixed_mask,
                        needed: $fixed,
                        got: words[0],
                    });
                }
                let variant = $crate::__selected!($($selected)?);
                let mut value = $Name::ZERO;
                let mut rest = *words;
                rest[0] &= !$fixed_mask;
                $(
                    let bias = 0 $(+ $bias)?;
                    $(
                        $crate::__where!(($($set)?), variant, {
                            let mut bits: u64 = 0;
                            $(
                                bits |= $crate::layout::take(words[$dword], $high, $low, 0 $(+ $shift)?);
                                rest[$dword] &= !$crate::layout::mask($high, $low);
                            )+
                            value.$field = $crate::__value!($Type, bits.wrapping_add(bias));
                        });
                    )+
                )*
                let _ = variant;
                $(
                    let got = value.$form.into_bits() as u64;
                    if let Some(form) = $Name::LAYOUT.form && !form.holds(got) {
                        let field = stringify!($form);
                        return Err($crate::layout::DecodeError::OtherForm { packet: $amd, field, got });
                    }
                )?
                value.reserved = rest;
                Ok(value)
            }

            /// Whether the variant can say all this: what [`check`](Self::check) explains.
            #[inline(always)]
            pub const fn fits(&self $(, $variant: $Parameter)?) -> bool {
                let variant = $crate::__selected!($($selected)?);
                let mut unfit = 0;
                $(
                    let bias = 0 $(+ $bias)?;
                    let mut stored = $crate::__bits!($Type, self.$field);
                    let mut room: u64 = 0;
                    $(
                        $crate::__where!(($($set)?), variant, {
                            $(room |= $crate::layout::room($high, $low, 0 $(+ $shift)?);)+
                            stored = stored.wrapping_sub(bias);
                        });
                    )+
                    unfit |= stored & !room;
                )*
                let mut dword = 0;
                while dword < $dwords {
                    unfit |= self.reserved[dword] as u64;
                    dword += 1;
                }
                $(
                    if let Some(form) = $Name::LAYOUT.form && !form.holds(self.$form.into_bits() as u64) {
                        return false;
                    }
                )?
                const VARIANTS: $crate::layout::Variants = $variants;
                unfit == 0 && VARIANTS.contains(variant)
            }

            /// Says why the variant cannot say all this.
            ///
            /// # Errors
            /// The first field that does not fit, is not there, is another form's, or is reserved and set.
            #[inline]
            pub fn check(
                &self,
                $($variant: $Parameter,)?
            ) -> ::core::result::Result<(), $crate::layout::FieldError> {
                $crate::layout::check_values(self, $crate::__selected!($($selected)?))
            }
        }

        const _: () = $Name::LAYOUT.assert_positions();

        impl ::core::default::Default for $Name {
            #[inline]
            fn default() -> $Name {
                $Name::ZERO
            }
        }

        impl ::core::fmt::Display for $Name {
            #[inline]
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::layout::show_values(f, self)
            }
        }

        impl $crate::layout::Packet for $Name {
            type Variant = $Variant;
            type Words = [u32; $dwords];
            const LAYOUT: &'static $crate::layout::Layout = $Name::LAYOUT;

            #[inline]
            fn zero() -> $Name {
                $Name::ZERO
            }

            #[inline]
            fn get(&self, index: usize) -> u64 {
                let values = [$($crate::__bits!($Type, self.$field)),*];
                let values: &[u64] = &values;
                values.get(index).copied().unwrap_or(0)
            }

            #[inline]
            fn set(&mut self, index: usize, value: u64) {
                let mut at = 0;
                $(
                    if at == index {
                        self.$field = $crate::__value!($Type, value);
                    }
                    at += 1;
                )*
                let _ = (at, index, value);
            }

            #[inline]
            fn reserved(&self) -> [u32; $dwords] {
                self.reserved
            }

            #[inline(always)]
            fn to_words(&self, _variant: $Variant) -> [u32; $dwords] {
                $(let $variant = _variant;)?
                self.encode($($argument)?)
            }

            #[inline]
            fn from_words(
                words: &[u32],
                _variant: $Variant,
            ) -> ::core::result::Result<$Name, $crate::layout::DecodeError> {
                $(let $variant = _variant;)?
                $Name::decode(words $(, $argument)?)
            }

            #[inline(always)]
            fn fits(&self, _variant: $Variant) -> bool {
                $(let $variant = _variant;)?
                $Name::fits(self $(, $argument)?)
            }

            #[inline]
            fn check(&self, _variant: $Variant) -> ::core::result::Result<(), $crate::layout::FieldError> {
                $(let $variant = _variant;)?
                $Name::check(self $(, $argument)?)
            }
        }
    };
}

/// A field's value as bits.
#[doc(hidden)]
#[macro_export]
macro_rules! __bits {
    (bool, $value:expr) => {
        ($value as u64)
    };
    (u8, $value:expr) => {
        ($value as u64)
    };
    (u16, $value:expr) => {
        ($value as u64)
    };
    (u32, $value:expr) => {
        ($value as u64)
    };
    (u64, $value:expr) => {
        ($value)
    };
    ($Type:ident, $value:expr) => {
        ($value.into_bits() as u64)
    };
}

/// Bits as a field's value.
#[doc(hidden)]
#[macro_export]
macro_rules! __value {
    (bool, $bits:expr) => {
        ($bits & 1 != 0)
    };
    (u8, $bits:expr) => {
        ($bits as u8)
    };
    (u16, $bits:expr) => {
        ($bits as u16)
    };
    (u32, $bits:expr) => {
        ($bits as u32)
    };
    (u64, $bits:expr) => {
        ($bits as u64)
    };
    ($Type:ident, $bits:expr) => {
        $Type::from_bits($bits as _)
    };
}

/// Names of a type's values.
#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    (bool) => {
        &[]
    };
    (u8) => {
        &[]
    };
    (u16) => {
        &[]
    };
    (u32) => {
        &[]
    };
    (u64) => {
        &[]
    };
    ($Type:ident) => {
        $Type::NAMES
    };
}

/// Whether a type is that of flags.
#[doc(hidden)]
#[macro_export]
macro_rules! __flag {
    (bool) => {
        true
    };
    ($Type:ident) => {
        false
    };
}

/// The selected variant; any one, where nothing depends on it.
#[doc(hidden)]
#[macro_export]
macro_rules! __selected {
    () => {
        $crate::layout::Variants::ALL
    };
    ($selected:expr) => {
        $selected
    };
}

/// Whether there is a payload.
#[doc(hidden)]
#[macro_export]
macro_rules! __payload {
    () => {
        false
    };
    (payload) => {
        true
    };
}

/// What tells a form of a packet.
#[doc(hidden)]
#[macro_export]
macro_rules! __form {
    () => {
        None
    };
    ($field:ident = [$($value:expr),+]) => {
        Some($crate::layout::Form {
            field: stringify!($field),
            values: &[$($value.into_bits() as u64),+],
            among: true,
        })
    };
    ($field:ident != [$($value:expr),+]) => {
        Some($crate::layout::Form {
            field: stringify!($field),
            values: &[$($value.into_bits() as u64),+],
            among: false,
        })
    };
}

/// Does something for some variants only: for all of them when no set is named.
#[doc(hidden)]
#[macro_export]
macro_rules! __where {
    (($set:expr), $variant:ident, $body:block) => {{
        const SET: $crate::layout::Variants = $set;
        if SET.contains($variant) $body
    }};
    ((), $variant:ident, $body:block) => { $body };
}

/// A set, all of them when none is named.
#[doc(hidden)]
#[macro_export]
macro_rules! __variants {
    () => {
        $crate::layout::Variants::ALL
    };
    ($set:expr) => {
        $set
    };
}

/// A piece, from how it is written.
#[doc(hidden)]
#[macro_export]
macro_rules! __piece {
    ($field:ident, $dword:literal, $high:literal, $low:literal, ($($shift:literal)?), ($piece:ident)) => {
        $crate::layout::Piece {
            name: stringify!($piece),
            dword: $dword,
            low: $low,
            width: $high - $low + 1,
            shift: 0 $(+ $shift)?,
        }
    };
    ($field:ident, $dword:literal, $high:literal, $low:literal, $shift:tt, ()) => {
        $crate::__piece!($field, $dword, $high, $low, $shift, ($field))
    };
}
