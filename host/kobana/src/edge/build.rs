//! `kobana edge build`: the gateway and the edge adapter, composed into one component.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions};

use crate::component::GATEWAY;
use crate::edge::cli::{Action, Build, Command};
use crate::failure::Failure;

/// The edge adapter that `build.rs` made.
static ADAPTER: &[u8] = include_bytes!(env!("KOBANA_EDGE_WASM"));

/// Does what stands behind `kobana edge`.
pub(crate) fn run(command: &Command) -> Result<ExitCode, Failure> {
    let Action::Build(Build { output, parts }) = &command.action;
    let composed = compose().map_err(|error| Failure::Compose(error.to_string()))?;
    write(output, &composed.bytes)?;
    if let Some(directory) = parts {
        write(&directory.join("gateway.wasm"), GATEWAY)?;
        write(&directory.join("adapter.wasm"), ADAPTER)?;
    }
    // Whoever closed standard output does not want to read it.
    let _ = write!(std::io::stdout(), "{}", report(output, &composed));
    Ok(ExitCode::SUCCESS)
}

/// A component, and what it asks of a runtime.
struct Composed {
    bytes: Vec<u8>,
    imports: Vec<String>,
}

type Problem = Box<dyn std::error::Error>;

/// What the adapter gives to the gateway.
const DISPATCH: &str = "kobana:api/dispatch@0.1.0";
/// What the whole gives to a runtime. The gateway's other door is for this project's own host.
const HANDLER: &str = "wasi:http/incoming-handler@0.2.0";

/// Gives the adapter's export to the gateway, and that of the gateway to the world. The same parts give the same bytes.
fn compose() -> Result<Composed, Problem> {
    let mut graph = CompositionGraph::new();
    let gateway = Package::from_bytes("kobana:gateway", None, GATEWAY, graph.types_mut())?;
    let gateway = graph.register_package(gateway)?;
    let adapter = Package::from_bytes("kobana:edge", None, ADAPTER, graph.types_mut())?;
    let adapter = graph.register_package(adapter)?;
    let (gateway, adapter) = (graph.instantiate(gateway), graph.instantiate(adapter));
    let dispatch = graph.alias_instance_export(adapter, DISPATCH)?;
    graph.set_instantiation_argument(gateway, DISPATCH, dispatch)?;
    let handler = graph.alias_instance_export(gateway, HANDLER)?;
    graph.export(handler, HANDLER)?;
    let bytes = graph.encode(EncodeOptions::default())?;
    let imports = imports(&bytes)?;
    Ok(Composed { bytes, imports })
}

/// What a component imports, read from its bytes.
fn imports(bytes: &[u8]) -> Result<Vec<String>, Problem> {
    let mut graph = CompositionGraph::new();
    let package = Package::from_bytes("kobana:composed", None, bytes, graph.types_mut())?;
    let mut imports: Vec<_> = graph.types()[package.ty()].imports.keys().cloned().collect();
    imports.sort();
    Ok(imports)
}

/// Writes the file whole or not at all.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut half = file.as_os_str().to_owned();
    half.push(".part");
    let written = std::fs::write(&half, bytes).and_then(|()| std::fs::rename(&half, file));
    written.map_err(|cause| {
        // What is wrong is told; that a rest may lie there is of no interest beside it.
        let _ = std::fs::remove_file(&half);
        Failure::Write { file: file.to_owned(), cause }
    })
}

fn report(file: &Path, composed: &Composed) -> String {
    let mut text = format!(
        "{}: {} bytes (gateway {}, adapter {})\n\nIt exports wasi:http/incoming-handler and imports\n\n",
        file.display(),
        composed.bytes.len(),
        GATEWAY.len(),
        ADAPTER.len(),
    );
    for import in &composed.imports {
        let _ = writeln!(text, "  {import}");
    }
    let _ = writeln!(
        text,
        "\nIt reads KOBANA_RESOURCE, KOBANA_AUTHORIZATION_SERVERS, KOBANA_ALLOWED_ORIGINS, KOBANA_EDGE_URL and\nKOBANA_EDGE_KEY from its environment. On Wasmtime, with these set:\n\n  wasmtime serve -S cli --env KOBANA_RESOURCE --env KOBANA_AUTHORIZATION_SERVERS \\\n    --env KOBANA_ALLOWED_ORIGINS --env KOBANA_EDGE_URL --env KOBANA_EDGE_KEY {}",
        file.display()
    );
    text
}
