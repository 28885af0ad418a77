"""What the bench takes from the repository: installs packages, builds the programs that it measures, makes models."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .commands import output_of, run

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build"
PROGRAMS = ("tensorfs", "bench_client", "bench_dequantise", "faulty_fs")
# The rest of the build folder stays as it was configured.
BUILD_SETTINGS = {"CMAKE_BUILD_TYPE": "Release", "TENSORFS_TESTS": "ON", "TENSORFS_SANITIZE": ""}
TOOL_PACKAGES = ("attr", "findutils", "util-linux")
PEER_PACKAGES = ("bindfs", "squashfuse", "squashfs-tools", "fuse-zip")


def install(with_peers: bool) -> None:
    """What is missing, as root or through sudo; without the peers, what the build, the tests and the rows need."""
    packages = [*TOOL_PACKAGES, *(PEER_PACKAGES if with_peers else ())]
    script = '. scripts/packages; exec scripts/install-packages "${build_packages[@]}" "${test_packages[@]}" "$@"'
    subprocess.run(["bash", "-c", script, "bench", *packages], cwd=REPOSITORY, stdout=sys.stderr, check=True)


def configured() -> dict[str, str]:
    """How the build folder was configured, if it was."""
    cache = BUILD / "CMakeCache.txt"
    known = dict(line.partition("=")[::2] for line in cache.read_text().splitlines()) if cache.exists() else {}
    return {name.partition(":")[0]: value for name, value in known.items()}


def build() -> None:
    """Configures only where something else was configured."""
    print("==> building", file=sys.stderr, flush=True)
    known = configured()
    if any(known.get(name) != value for name, value in BUILD_SETTINGS.items()):
        generator = [] if known else ["-G", "Ninja"]
        settings = [f"-D{name}={value}" for name, value in BUILD_SETTINGS.items()]
        subprocess.run(["cmake", "-S", REPOSITORY, "-B", BUILD, *generator, *settings], stdout=sys.stderr, check=True)
    subprocess.run(["cmake", "--build", BUILD, "--parallel", str(os.cpu_count()), "--target", *PROGRAMS],
                   stdout=sys.stderr, check=True)


def make_model(kind: str, to: Path, *options) -> None:
    run([REPOSITORY / "scripts/make-model", kind, to, *options])


def copy_programs(to: Path) -> None:
    """So that a build that goes on meanwhile changes nothing."""
    for program in PROGRAMS:
        shutil.copy2(BUILD / program, to / program)


def revision() -> str:
    """Of the sources; they may have changed since they were built."""
    return output_of("git", "-C", str(REPOSITORY), "describe", "--always", "--dirty")
