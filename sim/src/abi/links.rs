//! Links between the nodes of the topology (kfd_crat.c, kfd_topology.c).
//!
//! GPUs are added one after the other, and each adds its links to the nodes there are, both ways. Direct links are those to the
//! GPU's CPU node, in PCI, and to the GPUs of its hive. Indirect ones go by way of CPU nodes.

use crate::profile::{Board, Host, Kernel, Link, xgmi_bandwidth};

/// `HSA_IOLINKTYPE_*` (kfd_crat.h, `CRAT_IOLINK_TYPE_*`): HyperTransport, of AMD's CPUs.
const HYPERTRANSPORT: u32 = 1;
const PCIE: u32 = 2;
const XGMI: u32 = 11;
/// Weights (kfd_crat.c, `kfd_parse_subtype_iolink`, `KFD_CRAT_XGMI_WEIGHT`); of CPUs it is their distance, as recorded of a
/// machine with two.
const PCIE_WEIGHT: u32 = 20;
const XGMI_WEIGHT: u32 = 15;
const CPU_WEIGHT: u32 = 32;
/// `CRAT_IOLINK_FLAGS_*`
const ENABLED: u32 = 1;
const NON_COHERENT: u32 = 2;

/// A link, as its properties say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Properties {
    pub(super) kind: u32,
    pub(super) to: usize,
    pub(super) weight: u32,
    /// Lowest and highest, MB/s.
    pub(super) bandwidth: (u32, u32),
    pub(super) sdma_engines: u32,
    pub(super) flags: u32,
}

/// Links from a node, direct and indirect, in the kernel's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) direct: Vec<Properties>,
    pub(super) indirect: Vec<Properties>,
}

/// Lowest and highest bandwidth of a board's bus, MB/s (amdgpu_amdkfd.c, `amdgpu_amdkfd_get_pcie_bandwidth_mbytes`): as
/// recorded of discrete GPUs in PCIe 4.0, of an APU, and of an MI300X in PCIe 5.0.
fn bus(board: &Board) -> (u32, u32) {
    match board.gpu.gfx_target_version {
        90402 => (0, 64_000),
        _ if board.is_apu => (0, 32_000),
        _ => (312, 32_000),
    }
}

/// Engines for all copies (`kfd_set_recommended_sdma_engines`).
fn engines(board: &Board) -> u32 {
    (1 << board.sdma_engines) - 1
}

/// Links of all nodes, those of CPUs first.
pub(super) fn links(host: &Host, boards: &[Board], kernel: &Kernel) -> Vec<Links> {
    let cpus = host.cpu_nodes as usize;
    let mut nodes = vec![Links::default(); cpus + boards.len()];
    let between_cpus = |to| Properties {
        kind: HYPERTRANSPORT,
        to,
        weight: CPU_WEIGHT,
        bandwidth: (0, 0),
        sdma_engines: 0,
        flags: 0,
    };
    for (cpu, links) in nodes.iter_mut().enumerate().take(cpus) {
        links.direct.extend((0..cpus).filter(|&to| to != cpu).map(between_cpus));
    }
    for gpu in 0..boards.len() {
        add(&mut nodes, host, boards, kernel, gpu);
    }
    nodes
}

/// Adds a GPU's links. Those to and from CPU nodes and PCIe links into GPUs are not coherent (`kfd_set_iolink_non_coherent`).
fn add(nodes: &mut [Links], host: &Host, boards: &[Board], kernel: &Kernel, gpu: usize) {
    let (cpus, board) = (host.cpu_nodes as usize, &boards[gpu]);
    let node = cpus + gpu;
    let own = host.cpu_node(gpu, boards.len());
    let to_cpu = Properties {
        kind: PCIE,
        to: own,
        weight: PCIE_WEIGHT,
        bandwidth: bus(board),
        sdma_engines: engines(board),
        flags: ENABLED,
    };
    nodes[node].direct.push(to_cpu);
    if board.has_large_bar() {
        let from_cpu = Properties { to: node, flags: ENABLED | NON_COHERENT, ..to_cpu };
        nodes[own].direct.push(from_cpu);
    }
    // By way of another CPU: the bandwidth between CPUs is not known, and no engine is recommended.
    for cpu in (0..cpus).filter(|&cpu| cpu != own) {
        let weight = PCIE_WEIGHT + CPU_WEIGHT;
        let link = Properties { to: cpu, weight, bandwidth: (0, 0), sdma_engines: 0, ..to_cpu };
        nodes[node].indirect.push(link);
        if board.has_large_bar() {
            let flags = ENABLED | NON_COHERENT;
            nodes[cpu].indirect.push(Properties { to: node, flags, ..link });
        }
    }
    for older in 0..gpu {
        let other = cpus + older;
        match host.link(boards, gpu, older) {
            Some(Link::Xgmi) => {
                let bandwidth = xgmi_bandwidth(board, kernel);
                let engines_for_links = (1 << board.sdma_link_engines) - 1;
                let link = Properties {
                    kind: XGMI,
                    to: other,
                    weight: XGMI_WEIGHT,
                    bandwidth: (bandwidth, bandwidth),
                    sdma_engines: engines_for_links << board.sdma_engines,
                    flags: ENABLED,
                };
                nodes[node].direct.push(link);
                nodes[other].direct.push(Properties { to: node, ..link });
            }
            link => {
                // `kfd_add_peer_prop` starts from a copy of the first link of the GPU that is reached; the newer one's has no
                // engines yet.
                let back = host.link(boards, older, gpu);
                let through = own == host.cpu_node(older, boards.len());
                let (one, two) = (bus(board), bus(&boards[older]));
                let narrowest = (one.0.min(two.0), one.1.min(two.1));
                let to_older = Properties {
                    kind: PCIE,
                    to: other,
                    weight: 2 * PCIE_WEIGHT + if through { 0 } else { CPU_WEIGHT },
                    bandwidth: if through { narrowest } else { (0, 0) },
                    sdma_engines: engines(&boards[older]),
                    flags: if back.is_some() { ENABLED | NON_COHERENT } else { ENABLED },
                };
                let to_newer = Properties { to: node, sdma_engines: 0, ..to_older };
                if back.is_some() {
                    // Of a link one way, only those of the newer GPU's own have their flags set.
                    let flags = if link.is_some() { to_older.flags } else { 0 };
                    nodes[other].indirect.push(Properties { flags, ..to_newer });
                }
                if link.is_some() {
                    nodes[node].indirect.push(to_older);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::gfx1100;

    /// From a GPU with a small BAR to one without; not the other way, nor from the CPU.
    #[test]
    fn links_one_way() {
        let small = Board { bar_bytes: Some(256 << 20), ..gfx1100() };
        let kernel = Kernel::with_kfd_minor(18).unwrap();
        let to = |links: &[Properties]| links.iter().map(|link| link.to).collect::<Vec<_>>();
        for (boards, from_cpu, indirect) in [
            ([gfx1100(), small.clone()], 1, [vec![], vec![1]]),
            ([small, gfx1100()], 2, [vec![2], vec![]]),
        ] {
            let nodes = links(&Host::default(), &boards, &kernel);
            assert_eq!(to(&nodes[0].direct), [from_cpu]);
            assert_eq!([to(&nodes[1].indirect), to(&nodes[2].indirect)], indirect);
        }
    }

    /// As Linux 6.18 has it; older kernels took gfx942's lanes for gfx90a's.
    #[test]
    fn bandwidth_of_xgmi() {
        let boards = [crate::profile::gfx942(), crate::profile::gfx942()];
        for (minor, expected) in [(17, 50_000), (18, 64_000)] {
            let kernel = Kernel::with_kfd_minor(minor).unwrap();
            let nodes = links(&Host::default(), &boards, &kernel);
            assert_eq!(nodes[1].direct[1].bandwidth, (expected, expected));
        }
    }
}
