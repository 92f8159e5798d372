//! `selvedge inspect`.

use crate::Error;
use selvedge::code::{Archive, CodeObject, Container, Contents, Entry, Kernel};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Code object, offload bundle (compressed or not), or host program with one
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only code objects of this target, e.g. gfx1151
    #[arg(long)]
    target: Option<String>,
}

/// A file, as printed.
#[derive(Serialize)]
struct Report {
    file: String,
    entries: Vec<EntryReport>,
}

#[derive(Serialize)]
struct EntryReport {
    id: String,
    container: String,
    bytes: usize,
    contents: &'static str,
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<ObjectReport>,
}

#[derive(Serialize)]
struct ObjectReport {
    abi: String,
    image_bytes: u64,
    kernels: Vec<KernelReport>,
    variables: Vec<VariableReport>,
}

#[derive(Serialize)]
struct VariableReport {
    name: String,
    offset: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct KernelReport {
    name: String,
    descriptor_offset: u64,
    entry_offset: u64,
    kernarg_bytes: u32,
    lds_bytes: u32,
    scratch_bytes: u32,
    dynamic_stack: bool,
    wavefront_size: Option<u32>,
    sgprs: Option<u32>,
    vgprs: Option<u32>,
    agprs: Option<u32>,
    sgpr_spills: Option<u32>,
    vgpr_spills: Option<u32>,
    max_workgroup: Option<u32>,
    required_workgroup: Option<[u32; 3]>,
    arguments: Vec<ArgumentReport>,
}

#[derive(Serialize)]
struct ArgumentReport {
    offset: u32,
    bytes: u32,
    kind: String,
    name: Option<String>,
    type_name: Option<String>,
    address_space: Option<String>,
    access: Option<String>,
}

impl EntryReport {
    fn new(entry: Entry<'_>) -> Result<EntryReport, Error> {
        let container = match &entry.member().container {
            Container::Raw => "code object".to_owned(),
            Container::Bundle => "offload bundle".to_owned(),
            Container::Compressed(bundle) => bundle.to_string(),
            other => format!("{other:?}"),
        };
        let (contents, object) = match entry.contents() {
            Contents::CodeObject(_) => ("code object", Some(ObjectReport::new(&entry.parse()?))),
            Contents::Bitcode => ("LLVM bitcode", None),
            Contents::Host => ("host part", None),
            _ => ("unknown", None),
        };
        Ok(EntryReport {
            id: entry.id().to_owned(),
            container,
            bytes: entry.bytes().len(),
            contents,
            target: entry.target().map(|target| target.to_string()),
            object,
        })
    }
}

impl ObjectReport {
    fn new(object: &CodeObject) -> ObjectReport {
        let variable = |symbol: &selvedge::code::Symbol| VariableReport {
            name: symbol.name.clone(),
            offset: symbol.offset,
            bytes: symbol.size,
        };
        ObjectReport {
            abi: object.abi().to_string(),
            image_bytes: object.image().size(),
            kernels: object.kernels().iter().map(KernelReport::new).collect(),
            variables: object.variables().map(variable).collect(),
        }
    }
}

impl KernelReport {
    fn new(kernel: &Kernel) -> KernelReport {
        let metadata = kernel.metadata();
        let argument = |argument: &selvedge::code::Argument| ArgumentReport {
            offset: argument.offset,
            bytes: argument.size,
            kind: argument.kind.to_string(),
            name: argument.name.clone(),
            type_name: argument.type_name.clone(),
            address_space: argument.address_space.clone(),
            access: argument.access.clone(),
        };
        KernelReport {
            name: kernel.name().to_owned(),
            descriptor_offset: kernel.descriptor_offset(),
            entry_offset: kernel.entry_offset(),
            kernarg_bytes: kernel.kernarg_size(),
            lds_bytes: kernel.group_size(),
            scratch_bytes: kernel.private_size(),
            dynamic_stack: metadata.is_some_and(|m| m.uses_dynamic_stack),
            wavefront_size: metadata.map(|m| m.wavefront_size),
            sgprs: metadata.map(|m| m.sgpr_count),
            vgprs: metadata.map(|m| m.vgpr_count),
            agprs: metadata.and_then(|m| m.agpr_count),
            sgpr_spills: metadata.and_then(|m| m.sgpr_spill_count),
            vgpr_spills: metadata.and_then(|m| m.vgpr_spill_count),
            max_workgroup: metadata.map(|m| m.max_flat_workgroup_size),
            required_workgroup: metadata.and_then(|m| m.reqd_workgroup_size),
            arguments: kernel.arguments().iter().map(argument).collect(),
        }
    }

    fn print(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "  kernel {}", self.name)?;
        writeln!(
            out,
            "    descriptor {:#x}, code {:#x}, wave{}, {} SGPRs, {} VGPRs",
            self.descriptor_offset,
            self.entry_offset,
            or_unknown(self.wavefront_size),
            or_unknown(self.sgprs),
            or_unknown(self.vgprs)
        )?;
        writeln!(
            out,
            "    arguments {} bytes, LDS {} bytes, scratch {} bytes a work-item{}",
            self.kernarg_bytes,
            self.lds_bytes,
            self.scratch_bytes,
            if self.dynamic_stack { " and a dynamic stack" } else { "" }
        )?;
        match self.required_workgroup {
            Some(size) => writeln!(out, "    workgroups of exactly {size:?}")?,
            None => writeln!(out, "    workgroups of at most {}", or_unknown(self.max_workgroup))?,
        }
        for argument in &self.arguments {
            let name = argument.name.as_deref().unwrap_or("");
            let type_name = argument.type_name.as_deref().unwrap_or("");
            let line = format!(
                "    {:>5} {:>4}  {} {type_name} {name}",
                argument.offset, argument.bytes, argument.kind
            );
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn or_unknown(value: Option<u32>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let file = options.file.display().to_string();
    let bytes = std::fs::read(&options.file).map_err(|error| format!("{file}: {error}"))?;
    let archive = Archive::open(&bytes, &file)?;
    let wanted = |entry: &Entry<'_>| match &options.target {
        None => true,
        Some(name) => crate::is_for(entry, name),
    };
    let entries = archive.entries().filter(wanted).map(EntryReport::new);
    let report = Report { file, entries: entries.collect::<Result<_, _>>()? };
    if let (Some(name), []) = (&options.target, report.entries.as_slice()) {
        let targets: Vec<String> =
            archive.entries().filter_map(|e| e.target().map(|target| target.to_string())).collect();
        return Err(format!(
            "{}: no code object is for {name}; there is {}",
            report.file,
            targets.join(", ")
        )
        .into());
    }
    if options.json {
        return crate::print(&format!("{}\n", serde_json::to_string_pretty(&report)?));
    }
    let mut out = String::new();
    for entry in &report.entries {
        writeln!(
            out,
            "{}: {}, {} bytes, container: {}",
            entry.id, entry.contents, entry.bytes, entry.container
        )?;
        let Some(object) = &entry.object else { continue };
        let target = entry.target.as_deref().unwrap_or("?");
        writeln!(
            out,
            "  target {target}, code object {}, image {} bytes",
            object.abi, object.image_bytes
        )?;
        for kernel in &object.kernels {
            kernel.print(&mut out)?;
        }
        for variable in &object.variables {
            writeln!(
                out,
                "  variable {} at {:#x}, {} bytes",
                variable.name, variable.offset, variable.bytes
            )?;
        }
    }
    crate::print(&out)
}
