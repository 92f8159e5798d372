//! The macro that declares what is in a ring.

/// Declares a packet of 16 dwords for [`pm4::layout!`]: adds the header's fields and the completion signal.
///
/// `"NAME" = value in mask` says which bits of dword 0 make it this packet.
macro_rules! packet {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal = $fixed:literal in $mask:literal;
        source $source:literal;
        $($fields:tt)*
    ) => {
        pm4::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, 16 dwords everywhere;
            source $source;
            fixed $mask = $fixed;
            /// The packet starts only when all earlier ones of the queue are complete.
            barrier: bool = 0[8:8];
            /// Whose writes it sees: the fence before it starts.
            acquire: FenceScope = 0[10:9] as scacquire_fence_scope;
            /// Who sees its writes: the fence after it, before its completion is told.
            release: FenceScope = 0[12:11] as screlease_fence_scope;
            $($fields)*
            /// Address of the signal whose value is decremented on completion; 0 for none.
            completion_signal: u64 = 14[31:0] as completion_signal_lo | 15[31:0] << 32 as completion_signal_hi;
        }

        impl $Name {
            /// All fields zero, except for the header's: nobody knows what memory the packet touches, so it waits
            /// for all earlier ones and is fenced at system scope on both sides.
            pub const SYSTEM: $Name = $Name {
                barrier: true,
                acquire: FenceScope::SYSTEM,
                release: FenceScope::SYSTEM,
                ..$Name::ZERO
            };

            /// Whether a bit is set that must be zero.
            pub const fn reserved_bits(&self) -> bool {
                let mut dword = 0;
                while dword < self.reserved.len() {
                    if self.reserved[dword] != 0 {
                        return true;
                    }
                    dword += 1;
                }
                false
            }
        }
    };
}
