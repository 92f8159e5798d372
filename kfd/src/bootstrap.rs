//! Settling a fresh render file's page tables before ACQUIRE_VM.
//!
//! ACQUIRE_VM makes page tables that SDMA has initialised be updated by the CPU, and the kernel's
//! wait for that does not cover the initialisation's own fences (libamdf, src/gpu/umd/kfd/vm.c). A
//! submission through the kernel's ring depends on them: when it is done, so are they. The buffer it
//! ran from must stay until ACQUIRE_VM has returned, because closing it updates the page tables.

use crate::render::RenderFile;
use crate::topology::Node;
use crate::uapi::amdgpu::{CsChunkIb, HW_IP_DMA, WaitCsIn};
use crate::{Error, PAGE_SIZE, Result};
use selvedge_sys::{Errno, Mapping};

/// What the submission used; let go of after ACQUIRE_VM.
#[derive(Debug)]
pub(crate) struct Bootstrap<'a> {
    render: &'a RenderFile,
    context: Option<u32>,
    buffer: Option<u32>,
    mapping: Option<Mapping>,
}

impl<'a> Bootstrap<'a> {
    /// Runs one NOP on the kernel's SDMA ring and waits for it. Where there is no such ring, or one
    /// whose NOP is not known to be a zero dword (SDMA 2 to 7), nothing is done: without SDMA there
    /// is nothing to wait for.
    pub(crate) fn run(render: &'a RenderFile, node: &Node) -> Result<Bootstrap<'a>> {
        let gpu_id = node.gpu_id;
        let mut bootstrap = Bootstrap { render, context: None, buffer: None, mapping: None };
        let failed = |step| move |errno| Error::Bootstrap { gpu_id, step, errno };
        let engine = render.engine_info(HW_IP_DMA, 0).map_err(failed("INFO (SDMA)"))?;
        let usable = (2..=7).contains(&engine.hw_ip_version_major)
            && engine.available_rings != 0
            && (4..=PAGE_SIZE as u32).contains(&engine.ib_size_alignment)
            && engine.ib_size_alignment.is_multiple_of(4);
        if !usable {
            return Ok(bootstrap);
        }
        let ring = engine.available_rings.trailing_zeros();
        let context = render.create_context().map_err(failed("CTX"))?;
        bootstrap.context = Some(context);
        let buffer = render.create_buffer(PAGE_SIZE, PAGE_SIZE).map_err(failed("GEM_CREATE"))?;
        bootstrap.buffer = Some(buffer);
        // A new buffer holds zeros, which are NOPs.
        let mapping = render.map_buffer(buffer, PAGE_SIZE).map_err(failed("GEM_MMAP"))?;
        mapping.keep_from_children().map_err(failed("madvise"))?;
        let address = mapping.address();
        bootstrap.mapping = Some(mapping);
        render.map_buffer_to_device(buffer, address, PAGE_SIZE).map_err(failed("GEM_VA"))?;
        let ib = CsChunkIb {
            va_start: address,
            ib_bytes: engine.ib_size_alignment,
            ip_type: HW_IP_DMA,
            ring,
            ..CsChunkIb::default()
        };
        let handle = render.submit(context, buffer, &ib).map_err(failed("CS"))?;
        let wait = WaitCsIn {
            handle,
            timeout: u64::MAX,
            ip_type: HW_IP_DMA,
            ring,
            ctx_id: context,
            ..WaitCsIn::default()
        };
        match render.wait(wait).map_err(failed("WAIT_CS"))? {
            true => Ok(bootstrap),
            false => Err(failed("WAIT_CS")(Errno::ETIME)),
        }
    }
}

impl Drop for Bootstrap<'_> {
    fn drop(&mut self) {
        // Closing the render file would do the same; failures have no consequence.
        if let Some(buffer) = self.buffer {
            let _ = self.render.close_buffer(buffer);
        }
        self.mapping = None;
        if let Some(context) = self.context {
            let _ = self.render.free_context(context);
        }
    }
}
