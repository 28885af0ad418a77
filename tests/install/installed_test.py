"""`cmake --install` of a build: what it puts where, and whether that can be used from there.

The build is the one that the program tensorfs lies in.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from checks import REPOSITORY, check, check_equal, need_program, run
from example import EXAMPLE, build, check_example, make_sample
from expected import PACKAGES, PUBLIC_HEADERS, Configured, installed
from mounts import Mount


def install(program: str, prefix: Path, *options: object) -> Configured:
    """Installs the build, by a user whose umask lets the group write."""
    folder = Path(program).parent
    command = ["sh", "-c", 'umask 002; exec "$@"', "sh", need_program("cmake")]
    run(*command, "--install", folder, "--prefix", prefix, *options)
    return Configured.of(folder)


def found(prefix: Path) -> dict[str, int]:
    return {str(path.relative_to(prefix)): path.lstat().st_mode & 0o7777 for path in prefix.rglob("*")}


def check_same(files: dict[str, int], wanted: dict[str, int], what: str) -> None:
    check_equal(sorted(files.keys() - wanted.keys()), [], f"{what}: more than is expected")
    check_equal(sorted(wanted.keys() - files.keys()), [], f"{what}: what is missing")
    check_equal({path for path in files if files[path] != wanted[path]}, set(), f"{what}: other permissions")


def test_files(program: str, folder: Path) -> None:
    """exactly these files with these permissions, each in one component"""
    configured = install(program, folder / "all")
    parts = {}
    for component in PACKAGES:
        parts[component] = installed(component, configured)
        install(program, folder / component, "--component", component)
        is_packaged = configured.prefix == "/usr"
        check_same(found(folder / component), installed(component, configured, is_packaged), component)
    check_same(found(folder / "all"), parts["Program"] | parts["Development"], "all")


def test_runs(program: str, folder: Path) -> None:
    """the program runs from there, and mounts"""
    install(program, folder / "prefix", "--component", "Program")
    copy = str(folder / "prefix" / "bin" / "tensorfs")
    check_equal(run(copy, "--version"), run(program, "--version"), "the version")
    sample = make_sample(folder / "sample")
    with Mount(copy, sample.path) as mount:
        check_equal(len((mount.path / "model" / "embed" / "weight").read_bytes()), 30, "bytes of a tensor")


def test_documents(program: str, folder: Path) -> None:
    """man shows the page, and the shells read the completions"""
    man = need_program("man")
    prefix = folder / "prefix"
    install(program, prefix, "--component", "Program")
    page = prefix / "share" / "man" / "man1" / "tensorfs.1.gz"
    check_equal(gzip.decompress(page.read_bytes()), Path(program).with_name("tensorfs.1").read_bytes(), "the page")
    check(page.read_bytes()[4:8] == bytes(4), "gzip noted the time, so that no two builds are the same")
    shown = run("env", "MANWIDTH=80", "LC_ALL=C.UTF-8", man, "-l", page)
    check("SOURCE" in shown and "MOUNTPOINT" in shown, f"man shows something else:\n{shown}")
    run("bash", "-n", prefix / "share" / "bash-completion" / "completions" / "tensorfs")


def test_finds(program: str, folder: Path) -> None:
    """find_package finds the library, and the program of core/README.md runs"""
    install(program, folder / "prefix", "--component", "Development")
    check_example(folder, f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}")


def test_is_by_itself(program: str, folder: Path) -> None:
    """nothing of this build is in the library's CMake files, and every header finds the others"""
    prefix = folder / "prefix"
    configured = install(program, prefix, "--component", "Development")
    for path in sorted((prefix / configured.lib / "cmake" / "tensorfs").iterdir()):
        text = path.read_text()
        for word in (str(Path(program).parent), str(REPOSITORY), "-W", "-fsanitize", "tensorfs_flags", "nlohmann"):
            check(word not in text, f"{path.name} has {word} in it")
    include = prefix / "include" / "tensorfs"
    everything = prefix / "everything.cpp"
    for name in PUBLIC_HEADERS:
        everything.write_text(f'#include "core/{name}.hpp"\n#include "core/{name}.hpp"\n')
        run(need_program("c++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Werror", "-I", include, everything)


def test_refuses(program: str, folder: Path) -> None:
    """another minor version before 1.0, and a part that is not there, are not found"""
    install(program, folder / "prefix", "--component", "Development")
    version = re.match(r"tensorfs (\d+)\.(\d+)\.(\d+)\n", run(program, "--version"))
    check(version is not None, "tensorfs --version says no version")
    major, minor, patch = map(int, version.groups())
    (folder / "project").mkdir()

    def is_found(arguments: str) -> bool:
        (folder / "project" / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(asks LANGUAGES CXX)\n"
            f"find_package(tensorfs {arguments} QUIET)\nmessage(STATUS \"found: ${{tensorfs_FOUND}}\")\n"
        )
        output = run(need_program("cmake"), "-S", folder / "project", "-B", folder / "build",
                     f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}")  # fmt: skip
        check("found: " in output, f"CMake says something else:\n{output}")
        return "found: 1" in output or "found: TRUE" in output

    check(is_found(""), "any version")
    check(is_found(f"{major}.{minor}"), "this version")
    check(not is_found(f"{major}.{minor}.{patch + 1}"), "a later one")
    check(not is_found(f"{major + 1}.0"), "a later major version")
    if major == 0 and minor > 0:
        check(not is_found(f"{major}.{minor - 1}"), "an earlier one, whose interface may have been another")
    check(not is_found("COMPONENTS elsewhere"), "a component that does not exist")


def test_in_a_shared_library(program: str, folder: Path) -> None:
    """a shared library can hold it, and shows nothing of it"""
    install(program, folder / "prefix", "--component", "Development")
    (folder / "project").mkdir()
    (folder / "project" / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(shared LANGUAGES CXX)\nfind_package(tensorfs REQUIRED)\n"
        f"add_library(show MODULE {EXAMPLE / 'show.cpp'})\ntarget_link_libraries(show PRIVATE tensorfs::core)\n"
        "set_target_properties(show PROPERTIES CXX_VISIBILITY_PRESET hidden)\n"
    )
    library = build(folder / "project", folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}") / "libshow.so"
    symbols = run("nm", "--dynamic", "--defined-only", "--demangle", library)
    check("tensorfs::" not in symbols, f"it shows:\n{symbols}")


def test_as_a_part(folder: Path) -> None:
    """add_subdirectory gives the same target, and builds nothing else"""
    (folder / "project").mkdir()
    (folder / "project" / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(part LANGUAGES CXX)\n"
        f"add_subdirectory({REPOSITORY} tensorfs EXCLUDE_FROM_ALL)\n"
        f"add_executable(show {EXAMPLE / 'show.cpp'})\ntarget_link_libraries(show PRIVATE tensorfs::core)\n"
    )
    # Of a type that CMake does not know: without any flags, which is quick to build.
    show = build(folder / "project", folder / "build", "-DCMAKE_BUILD_TYPE=Plain") / "show"
    sample = make_sample(folder / "sample")
    check_equal(run(show, sample.path).splitlines(), sample.lines, "what the example prints")
    check(not (folder / "build" / "tensorfs" / "tensorfs").exists(), "the program was built, too")


def test_readme() -> None:
    """core/README.md shows the files of the example, and lists the headers that are installed"""
    text = (REPOSITORY / "core" / "README.md").read_text()
    section = text.partition("\n## Use it from C++\n")[2].partition("\n## ")[0]
    for name, language in (("CMakeLists.txt", "cmake"), ("show.cpp", "cpp")):
        shown = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
        check_equal(shown, [(EXAMPLE / name).read_text()], f"what core/README.md shows as {name}")
    rows = re.findall(r"^\| `(core/[\w/]+)` \| (.*) \|$", section, re.MULTILINE)
    told = [f"{folder}/{name}" for folder, names in rows for name in re.findall(r"`([\w/]+)\.hpp`", names)]
    check_equal(sorted(told), sorted(f"core/{name}" for name in PUBLIC_HEADERS), "the headers that are listed")
