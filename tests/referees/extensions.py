"""Demo servers with an extension that judges, or is judged: what stands in front of `extension-*`."""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def build(package):
    """Makes a component of this repository, where tests make theirs."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "tmp/components"
    profile = ["--target", "wasm32-wasip2", "--profile", "component", "--target-dir", target]
    subprocess.run(["cargo", "build", "--quiet", "--package", package, *profile], cwd=ROOT, check=True)
    return target / "wasm32-wasip2/component" / f"{package.replace('-', '_')}.wasm"


def fresh(folder):
    """A directory for a server's data, with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def enable(kobana, data, workspace, component):
    """Enables an extension under the names that it gives itself, beside the server that runs."""
    where = ["--workspace", workspace, "--data", data]
    for command in (["prefix", "off"], ["add", component, "--enable"]):
        subprocess.run([kobana, "extension", *command, *where], check=True, stdout=subprocess.DEVNULL)
