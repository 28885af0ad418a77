"""What is installed, with which permissions, and in which package: one list for `cmake --install` and the packages."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from checks import REPOSITORY

# The components of the installation, and the packages that are made of them.
PACKAGES = {"Program": "tensorfs", "Development": "libtensorfs-dev"}

PUBLIC_HEADERS = (
    "base/descriptor", "base/error", "base/escape", "base/large_pages", "base/text",
    "tensors/content", "tensors/dtype", "tensors/gather", "tensors/gather_windows", "tensors/read_at",
    "tensors/shard", "tensors/tensor", "tensors/widen",
    "formats/file_names", "formats/formats", "formats/header", "formats/metadata", "formats/part", "formats/safetensors/safetensors",
    "sources/choice", "sources/index", "sources/layout", "sources/source",
    "model/model", "model/tree",
    "views/listings", "views/merged", "views/model_file", "views/npz", "views/pytorch", "views/view_table",
    "views/views",
)  # fmt: skip


class Configured(NamedTuple):
    """What CMake was told, as far as it decides on names and places."""

    prefix: str
    lib: str  # below the prefix
    build_type: str

    @staticmethod
    def of(build: Path) -> Configured:
        cache = {}
        for line in (build / "CMakeCache.txt").read_text().splitlines():
            name, equals, value = line.partition("=")
            if equals and not name.startswith(("#", "//")):
                cache[name.partition(":")[0]] = value
        return Configured(cache["CMAKE_INSTALL_PREFIX"], cache["CMAKE_INSTALL_LIBDIR"], cache["CMAKE_BUILD_TYPE"])


def _program(configured: Configured) -> list[str]:
    is_debian = configured.prefix == "/usr" and Path("/etc/debian_version").exists()
    examples = REPOSITORY / "systemd" / "examples"
    return [
        "bin/tensorfs",
        "lib/systemd/system/tensorfs@.service",
        "lib/systemd/user/tensorfs@.service",
        "share/bash-completion/completions/tensorfs",
        f"share/zsh/{'vendor-completions' if is_debian else 'site-functions'}/_tensorfs",
        "share/man/man1/tensorfs.1.gz",
        "share/doc/tensorfs/README.md.gz",
        "share/doc/tensorfs/changelog.gz",
        "share/doc/tensorfs/copyright",
        *(f"share/doc/tensorfs/examples/{p.relative_to(examples)}" for p in examples.rglob("*") if p.is_file()),
    ]


def _development(configured: Configured) -> list[str]:
    package = f"{configured.lib}/cmake/tensorfs/tensorfs"
    return [
        *(f"include/tensorfs/core/{name}.hpp" for name in PUBLIC_HEADERS),
        f"{configured.lib}/libtensorfs_core.a",
        f"{package}Config.cmake",
        f"{package}ConfigVersion.cmake",
        f"{package}Targets.cmake",
        f"{package}Targets-{configured.build_type.lower()}.cmake",
    ]


def _papers(component: str) -> list[str]:
    """What Debian asks of each package, and nobody else."""
    doc = f"share/doc/{PACKAGES[component]}"
    return [f"{doc}/changelog.Debian.gz"] + ([f"{doc}/copyright"] if component == "Development" else [])


def installed(component: str, configured: Configured, packaged: bool = False) -> dict[str, int]:
    """The files' paths below the prefix, and their permissions; of a folder, which is there for a file, too."""
    files = {"Program": _program, "Development": _development}[component](configured)
    if packaged:
        files += _papers(component)
    modes = {path: 0o755 if path.startswith("bin/") else 0o644 for path in files}
    folders = {str(folder) for path in files for folder in Path(path).parents} - {"."}
    return modes | dict.fromkeys(folders, 0o755)
