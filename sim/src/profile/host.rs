//! What a machine has beside its GPUs, and how it joins them.

use super::{Board, Kernel};

/// A machine without its GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// CPU nodes, at least 1. GPUs are dealt out to them in order, as many to each.
    pub cpu_nodes: u32,
    /// Whether GPUs can reach each other's memory over PCIe: the kernel is built with `CONFIG_HSA_AMD_P2P`, and its PCI
    /// code knows the host bridge to allow it (amdgpu_device.c, `amdgpu_device_is_peer_accessible`).
    pub pcie_peers: bool,
    /// Whether processes may open `/dev/kfd`.
    pub kfd_permission: bool,
    /// Whether processes may open render nodes.
    pub render_permission: bool,
    /// Whether amdgpu is loaded.
    pub driver: bool,
}

impl Default for Host {
    /// One CPU node, and nothing wrong.
    fn default() -> Host {
        Host {
            cpu_nodes: 1,
            pcie_peers: true,
            kfd_permission: true,
            render_permission: true,
            driver: true,
        }
    }
}

/// How a GPU comes to another's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Links of their own.
    Xgmi,
    /// The bus.
    Pcie,
}

impl Host {
    /// The CPU node of a GPU, by its index among `count`.
    pub(crate) fn cpu_node(&self, gpu: usize, count: usize) -> usize {
        gpu * self.cpu_nodes as usize / count.max(1)
    }

    /// The first of the GPUs that are linked with this one (a hive), among itself and others; `None` when no other is. GPUs
    /// with engines for links are linked with others of their model on their CPU node, as the two quads of MI210s of
    /// ROCm/k8s-device-plugin's `testdata/topo-mi210-xgmi-pcie` are.
    pub(crate) fn hive(&self, boards: &[Board], gpu: usize) -> Option<usize> {
        let board = &boards[gpu];
        if board.sdma_link_engines == 0 {
            return None;
        }
        let is_linked = |other: &usize| {
            boards[*other].device_id == board.device_id
                && self.cpu_node(*other, boards.len()) == self.cpu_node(gpu, boards.len())
        };
        let mut linked = (0..boards.len()).filter(is_linked);
        let first = linked.next()?;
        linked.next().map(|_| first)
    }

    /// How a GPU comes to the memory of another: XGMI whatever its BAR, else PCIe if all its memory is behind the BAR
    /// (amdgpu_amdkfd_gpuvm.c, `kfd_mem_attach`; amdgpu_device.c, `amdgpu_device_is_peer_accessible`).
    pub(crate) fn link(&self, boards: &[Board], from: usize, to: usize) -> Option<Link> {
        let hive = self.hive(boards, from);
        if hive.is_some() && hive == self.hive(boards, to) {
            return Some(Link::Xgmi);
        }
        (self.pcie_peers && boards[to].has_large_bar()).then_some(Link::Pcie)
    }
}

/// Bandwidth of an XGMI link, MB/s: 16 lanes of 25 Gb/s (amdgpu_amdkfd.c, `amdgpu_amdkfd_get_xgmi_bandwidth_mbytes`). Newer
/// kernels know that gfx942's lanes have 32 Gb/s (amdgpu_xgmi.c, `amdgpu_xgmi_get_bandwidth`).
pub(crate) fn xgmi_bandwidth(board: &Board, kernel: &Kernel) -> u32 {
    let newer = kernel.minor >= 18 && board.gpu.gfx_target_version == 90402;
    16 * if newer { 32_000 } else { 25_000 } / 8
}

#[cfg(test)]
mod tests {
    use super::super::{gfx90a, gfx1100, gfx1151};
    use super::*;

    #[test]
    fn hives_are_of_one_model_on_one_cpu_node() {
        let boards = [gfx90a(), gfx90a(), gfx1100(), gfx90a()];
        let hives = |cpu_nodes| {
            let host = Host { cpu_nodes, ..Host::default() };
            [0, 1, 2, 3].map(|gpu| host.hive(&boards, gpu))
        };
        assert_eq!(hives(1), [Some(0), Some(0), None, Some(0)]);
        assert_eq!(hives(2), [Some(0), Some(0), None, None]);
    }

    #[test]
    fn links() {
        let small = Board { bar_bytes: Some(256 << 20), ..gfx1100() };
        let boards = [gfx1100(), small, gfx1151()];
        let host = Host::default();
        assert_eq!(host.link(&boards, 0, 2), Some(Link::Pcie));
        assert_eq!(host.link(&boards, 0, 1), None, "the BAR is small");
        assert_eq!(host.link(&boards, 1, 0), Some(Link::Pcie));
        let none = Host { pcie_peers: false, ..Host::default() };
        assert_eq!(none.link(&boards, 0, 2), None);
        let linked = [gfx90a(), Board { bar_bytes: Some(256 << 20), ..gfx90a() }];
        assert_eq!(none.link(&linked, 0, 1), Some(Link::Xgmi));
    }
}
