//! `selvedge devices`.

use crate::Error;
use comfy_table::{Table, presets};
use selvedge::device::{self, Endpoint};
use serde::Serialize;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List the GPU of a simulated machine instead of the hardware
    #[arg(long, value_name = "gfxNNNN")]
    sim: Option<String>,
}

/// One GPU, as printed.
#[derive(Serialize)]
struct Row {
    index: usize,
    target: String,
    pci_address: String,
    unique_id: Option<String>,
    kind: &'static str,
    compute_units: u32,
    memory_bytes: u64,
    render_node: String,
    simulated: bool,
}

impl Row {
    fn new(index: usize, endpoint: &Endpoint, simulated: bool) -> Row {
        let node = endpoint.node();
        Row {
            index,
            target: endpoint.target(),
            pci_address: endpoint.pci_address(),
            unique_id: endpoint.unique_id().map(|id| format!("{id:016x}")),
            kind: if endpoint.is_discrete() { "discrete" } else { "integrated" },
            compute_units: node.compute_unit_count(),
            memory_bytes: endpoint.memory_bytes(),
            render_node: node.render_node(),
            simulated,
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let endpoints = match &options.sim {
        None => device::endpoints()?,
        Some(name) => device::simulated_endpoints(name)?,
    };
    let simulated = options.sim.is_some();
    let rows: Vec<Row> =
        endpoints.iter().enumerate().map(|(i, e)| Row::new(i, e, simulated)).collect();
    if options.json {
        return crate::print(&format!("{}\n", serde_json::to_string_pretty(&rows)?));
    }
    if rows.is_empty() {
        return crate::print(
            "no GPU: the kernel offers no KFD topology with a GPU in it\n\
             to see the simulated machine: selvedge devices --sim gfx1151\n",
        );
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header([
        "index",
        "target",
        "PCI address",
        "kind",
        "CUs",
        "memory",
        "render node",
        "unique id",
    ]);
    for row in &rows {
        let target =
            if row.simulated { format!("{} (simulated)", row.target) } else { row.target.clone() };
        table.add_row([
            row.index.to_string(),
            target,
            row.pci_address.clone(),
            row.kind.to_owned(),
            row.compute_units.to_string(),
            format!("{:.1} GiB", row.memory_bytes as f64 / f64::from(1u32 << 30)),
            row.render_node.clone(),
            row.unique_id.clone().unwrap_or_default(),
        ]);
    }
    crate::print(&format!("{table}\n"))
}
