//! How the command processor's own accesses treat the L2 cache.

crate::names! {
    /// What becomes of lines in L2 that a packet reads or writes, before gfx12.
    pub struct CachePolicy(u8) {
        /// Kept as long as others are used less recently.
        LRU = 0,
        /// Expected to be used once: evicted early.
        STREAM = 1,
        /// Not allocated when they miss; gfx10 and later.
        NOA = 2,
        /// Around the cache; gfx10 and later.
        BYPASS = 3,
    }
}

crate::names! {
    /// How often a packet's lines are expected to be used again; gfx12.
    pub struct Temporal(u8) {
        /// Regular.
        RT = 0,
        /// Not again: evicted early.
        NT = 1,
        /// Often: evicted late.
        HT = 2,
        /// This was the last use.
        LU = 3,
    }
}
