"""The recipes for containers and Kubernetes hold together: what they refer to is there, and their commands do what
they are for. (Whether an image can be built takes a network and a container's engine.)"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
from pathlib import Path

from booted import wait_until
from checks import PATIENCE, REPOSITORY, Skip, check, check_equal, need, need_program, run
from models import random_tensor, write_shard

CONTAINER = REPOSITORY / "scripts/container"
KUBERNETES = REPOSITORY / "scripts/kubernetes"


# --- The container's image ------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    lines = (CONTAINER / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line and not line.startswith("#")]


def is_ignored(path: Path) -> bool:
    """By .dockerignore, whose lines here are names at the top, some with *."""
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    for pattern in patterns:
        check("/" not in pattern and not pattern.startswith("!"), f"this test does not know the pattern {pattern}")
    return any(fnmatch.fnmatchcase(path.relative_to(REPOSITORY).parts[0], pattern) for pattern in patterns)


def test_dockerfile() -> None:
    """container: the Dockerfile refers to what is there, and names no package"""
    found = instructions()
    check_equal([name for name, _ in found].count("FROM"), 2, "stages")
    copied = [words.split()[:-1] for name, words in found if name == "COPY" and not words.startswith("--from=")]
    check_equal(copied[-1], ["."], "what is copied of the repository")
    scripts = [word for name, words in found if name == "RUN" for word in re.findall(r"scripts/[\w/-]+", words)]
    check("scripts/packages" in scripts and "scripts/build" in scripts, f"what is run: {scripts}")
    for name in {*(name for names in copied[:-1] for name in names), *scripts}:
        path = REPOSITORY / name
        check(path.is_file() and not is_ignored(path), f"{name} is not there, or left out by .dockerignore")
        check(name == "scripts/packages" or os.access(path, os.X_OK), f"{name} cannot be run")
    runs = "\n".join(words for name, words in found if name == "RUN")
    check('"${build_packages[@]}"' in runs, "it does not install scripts/packages' list")
    listed = re.findall(r"=\(([^)]*)\)", (REPOSITORY / "scripts/packages").read_text())
    packages = {word for words in listed for word in words.split()}
    check("libfuse3-dev" in packages, f"scripts/packages lists {sorted(packages)}")
    words = set(re.split(r"[^\w+.-]+", runs))
    check_equal(sorted(words & packages | {word for word in words if re.match("lib.+", word)}), [], "packages by name")


def test_context(folder: Path) -> None:
    """container: what .dockerignore leaves is enough to build"""
    need_program("cmake")
    need_program("ninja")
    context = folder / "context"
    context.mkdir()
    for path in REPOSITORY.iterdir():
        if not is_ignored(path):
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, context / path.name)
    left = {path.name for path in context.iterdir()}
    check("tests" not in left and ".git" not in left and "core" in left, f"what is left: {left}")
    run("cmake", "-S", context, "-B", folder / "build", "-G", "Ninja", "-DTENSORFS_TESTS=OFF")
    run("ninja", "-C", folder / "build", "-n")  # says if a file is missing


def test_runtime_packages(program: str) -> None:
    """container: the packages of the image are those of the program's libraries"""
    need_program("dpkg-query")
    packages = run(CONTAINER / "runtime-packages", program).split()
    check_equal(packages, sorted(set(packages)), "its list")
    check("fuse3" in packages and "libc6" in packages, f"packages: {packages}")
    files = {Path(file).name for package in packages for file in run("dpkg-query", "-L", package).split()}
    needed = re.findall(r"(\S+) => /", run("ldd", program))
    check(any(name.startswith("libfuse3.so") for name in needed), f"libraries: {needed}")
    check_equal([name for name in needed if name not in files], [], "libraries that are in no package")
    check_equal([package for package in packages if package.endswith("-dev")], [], "packages for building")
    run(CONTAINER / "runtime-packages", program + ".none", expect=1)


# --- Kubernetes -----------------------------------------------------------------------------------


def documents(name: str) -> list[dict]:
    return list(need("yaml").safe_load_all((KUBERNETES / name).read_text()))


def daemon() -> tuple[dict, dict, dict]:
    """The ConfigMap's data, the pod of the DaemonSet, and its container."""
    namespace, config, daemons = documents("tensorfs.yaml")
    kinds = [part["kind"] for part in (namespace, config, daemons)]
    check_equal(kinds, ["Namespace", "ConfigMap", "DaemonSet"], "kinds")
    for part in (config, daemons):
        check_equal(part["metadata"]["namespace"], namespace["metadata"]["name"], "namespace")
    labels = daemons["spec"]["template"]["metadata"]["labels"]
    check_equal(daemons["spec"]["selector"]["matchLabels"], labels, "labels")
    pod = daemons["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    check_equal(container["envFrom"], [{"configMapRef": {"name": config["metadata"]["name"]}}], "environment")
    return config["data"], pod, container


def mounts(container: dict) -> dict[str, dict]:
    return {mount["name"]: mount for mount in container["volumeMounts"]}


def host_paths(pod: dict) -> dict[str, str]:
    return {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}


def scripts_of(container: dict) -> dict[str, list[str]]:
    found = {name: container[name]["exec"]["command"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    return {"command": container["command"], "preStop": container["lifecycle"]["preStop"]["exec"]["command"], **found}


def test_manifests() -> None:
    """kubernetes: volumes, paths and rights of the manifests fit together"""
    data, pod, container = daemon()
    paths, mounted = host_paths(pod), mounts(container)
    check_equal(set(mounted), set(paths), "volumes")
    check_equal(mounted["mounts"]["mountPropagation"], "Bidirectional", "propagation")
    check_equal(container["securityContext"]["privileged"], True, "what Bidirectional takes")
    check_equal(mounted["models"].get("readOnly"), True, "whether models are read-only")
    check(data["SOURCE"].startswith(mounted["models"]["mountPath"] + "/"), "SOURCE is in no volume")
    check(data["MOUNTPOINT"].startswith(mounted["mounts"]["mountPath"] + "/"), "MOUNTPOINT is in no volume")
    check("allow_other" in data["OPTIONS"].split(","), "OPTIONS keep other users out")
    for name, (shell, flag, script) in scripts_of(container).items():
        check_equal((shell, flag), ("sh", "-c"), f"{name}: how it is run")
        check_equal(set(re.findall(r"\$(\w+)", script)) - set(data), set(), f"{name}: variables that nobody sets")
    check("memory" not in container["resources"].get("limits", {}), "the page cache has a limit")

    (reader,) = documents("reader.yaml")
    below = f"/{Path(data['MOUNTPOINT']).relative_to(paths['mounts'])}"
    check_equal(list(host_paths(reader["spec"]).values()), [paths["mounts"]], "what the reader sees")
    for container in reader["spec"]["initContainers"] + reader["spec"]["containers"]:
        (mount,) = container["volumeMounts"]
        check_equal([mount["readOnly"], mount["mountPropagation"]], [True, "HostToContainer"], "the reader's volume")
        check(mount["mountPath"] + below in " ".join(container["command"]), "the reader looks elsewhere")


def test_commands(program: str, folder: Path) -> None:
    """kubernetes: the container's commands mount, probe and unmount"""
    _, _, container = daemon()
    scripts = scripts_of(container)
    if os.geteuid() != 0:
        raise Skip("only root unmounts by umount")
    if not os.access("/dev/fuse", os.F_OK):
        raise Skip("no /dev/fuse")
    (folder / "bin").mkdir()
    (folder / "bin/tensorfs").symlink_to(program)
    tensor = random_tensor("a.weight", "F32", (10, 10))
    model = write_shard(folder / "my model.safetensors", [tensor])
    at = folder / "a mount"
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "SOURCE": str(model),
                   "MOUNTPOINT": str(at), "OPTIONS": "allow_other"}  # fmt: skip

    def execute(name: str) -> int:
        return subprocess.run(scripts[name], env=environment, capture_output=True, timeout=PATIENCE).returncode

    def start() -> subprocess.Popen:
        started = subprocess.Popen(scripts["command"], env=environment, stdin=subprocess.DEVNULL)
        wait_until(lambda: started.poll() is not None or execute("startupProbe") == 0, "it is ready")
        check_equal(started.poll(), None, "exit code of the daemon")
        return started

    daemon_ = None
    try:
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            check(execute(name) != 0, f"{name}: it is content without a mount")
        daemon_ = start()
        check((at / "a/weight").read_bytes() == tensor.data, "bytes")
        daemon_.kill()
        daemon_.wait()
        for name in ("readinessProbe", "livenessProbe"):
            check(execute(name) != 0, f"{name}: it is content with a dead mount")
        daemon_ = start()  # where a dead mount is
        for name in ("readinessProbe", "livenessProbe"):
            check_equal(execute(name), 0, f"{name}: exit code")
        check_equal(execute("preStop"), 0, "preStop: exit code")
        check_equal(daemon_.wait(PATIENCE), 0, "exit code after preStop")
        check(not at.is_mount(), "it is still mounted")
    finally:
        if daemon_ is not None and daemon_.poll() is None:
            daemon_.terminate()
            daemon_.wait(PATIENCE)
        subprocess.run(["umount", "-q", "-l", str(at)], check=False, capture_output=True)
