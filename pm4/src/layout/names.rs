//! The macro that names the values of a field.

/// Declares an open enumeration: any value of the integer type, some of which have names.
///
/// ```
/// pm4::names! {
///     /// What is written.
///     pub struct DataSelect(u8) {
///         /// Nothing.
///         NONE = 0,
///         /// 32 bits.
///         DATA_32 = 1,
///     }
/// }
///
/// assert_eq!(DataSelect::DATA_32.to_string(), "DATA_32");
/// assert_eq!(DataSelect(9).to_string(), "9");
/// ```
#[macro_export]
macro_rules! names {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident($Int:ident) {
            $($(#[doc = $value_doc:literal])* $VALUE:ident = $value:literal,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        $vis struct $Name(pub $Int);

        impl $Name {
            $(
                $(#[doc = $value_doc])*
                pub const $VALUE: $Name = $Name($value);
            )*

            /// The values that have names.
            pub const NAMES: &'static [(u64, &'static str)] = &[$(($value, stringify!($VALUE))),*];

            /// The value of a field.
            #[inline(always)]
            pub const fn from_bits(bits: $Int) -> $Name {
                $Name(bits)
            }

            /// The field of a value.
            #[inline(always)]
            pub const fn into_bits(self) -> $Int {
                self.0
            }
        }

        impl ::core::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let value = self.0 as u64;
                match $Name::NAMES.iter().find(|(named, _)| *named == value) {
                    Some((_, name)) => f.write_str(name),
                    None => ::core::fmt::Display::fmt(&self.0, f),
                }
            }
        }
    };
}
