#!/usr/bin/env python3
"""Checks the dependency tree against deny.toml where cargo-deny is not installed: licences, bans, sources. And, which
cargo-deny cannot say, that no crate links a native library: none is named *-sys or has a `links` key."""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINKS_NOTHING = {"linux-raw-sys"}


def packages(config):
    """The packages of the resolved graph, for the targets and features that deny.toml names."""
    flags = [f"--filter-platform={t}" for t in config["graph"]["targets"]] + ["--all-features"]
    command = ["cargo", "metadata", "--format-version=1", "--locked", *flags]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    used = {node["id"] for node in metadata["resolve"]["nodes"]}
    return [p for p in metadata["packages"] if p["id"] in used], set(metadata["workspace_members"])


def allowed(expression, allow):
    """Whether an SPDX expression (or the old form with /) can be met with licences of `allow`."""
    tokens = re.findall(r"[()]|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression.replace("/", " OR "))
    words = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
    return eval(" ".join(words.get(t) or str(t in allow) for t in tokens))  # only the words above, True and False


def complaints(package, config, own):
    licence = package["license"]
    if not licence or not allowed(licence, set(config["licenses"]["allow"])):
        yield f"licence {licence}"
    for ban in config["bans"]["deny"]:
        if package["name"] == ban["name"]:
            yield f"banned: {ban['reason']}"
    if own:
        return
    if package["name"] not in LINKS_NOTHING and (package["name"].endswith("-sys") or package["links"]):
        yield f"links a native library: {package['links'] or 'by its name'}"
    if not (package["source"] or "").startswith("registry+"):
        yield f"comes from {package['source']}"


def main():
    config = tomllib.loads((ROOT / "deny.toml").read_text())
    found, members = packages(config)
    wrong = [(p, c) for p in found for c in complaints(p, config, p["id"] in members)]
    for package, complaint in wrong:
        print(f"{package['name']} {package['version']}: {complaint}")
    print(f"{len(found)} packages, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
