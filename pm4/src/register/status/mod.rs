//! What a GPU is busy with: the registers that a dump of a hang starts with.

mod cpc;
mod cpf;
mod grbm;
mod mec;

pub use cpc::*;
pub use cpf::*;
pub use grbm::*;
pub use mec::*;
