//! Machines as data.

mod board;
mod host;
mod kernel;
mod known;

pub use board::{Board, Cache, ContextSave};
pub(crate) use host::xgmi_bandwidth;
pub use host::{Host, Link};
pub use kernel::Kernel;
pub use known::{
    by_name, gfx90a, gfx906, gfx942, gfx1030, gfx1100, gfx1101, gfx1103, gfx1151, gfx1200, gfx1201,
    names,
};

/// What the processors of one GPU model need to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// `gfx1151`.
    pub name: &'static str,
    /// KFD `gfx_target_version`: major×10000 + minor×100 + step, in decimal.
    pub gfx_target_version: u32,
    /// Compute units, of all XCCs together.
    pub compute_units: u32,
    /// XCCs that work as one GPU: the dies of an MI300X in its SPX mode, elsewhere 1.
    pub xccs: u32,
    /// Shader engines of an XCC.
    pub shader_engines: u32,
    /// `max_slots_scratch_cu`: waves per compute unit that can have scratch.
    pub scratch_slots_per_cu: u32,
    /// LDS that one workgroup can have, bytes.
    pub lds_bytes: u32,
}
