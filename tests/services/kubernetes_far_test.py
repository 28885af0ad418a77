"""scripts/kubernetes: each manifest has the fields that Kubernetes knows, and the one over rclone's mount holds together:
who sees whose mount, who ends first, and that its commands do what they are for."""

from __future__ import annotations

import copy
import os
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path

from booted import wait_until
from checks import PATIENCE, Skip, check, check_equal, need_fuse, need_program
from far import nginx_server
from far_models import MIB, write_model
from manifests import KUBERNETES, check_object, documents
from mounts import end_with_parent


def test_fields() -> None:
    """kubernetes: every field of the manifests is one that Kubernetes has"""
    names = sorted(path.name for path in KUBERNETES.glob("*.yaml"))
    check_equal(names, ["reader.yaml", "tensorfs-far.yaml", "tensorfs.yaml"], "manifests")
    for name in names:
        for part in documents(name):
            check_object(part, name)


def test_wrong_fields() -> None:
    """kubernetes: a misspelt field, a wrong type and rights that do not fit are found"""
    (_, good) = documents("tensorfs-far.yaml")

    def spoil(change: object) -> None:
        spoilt = copy.deepcopy(good)
        change(spoilt["spec"]["template"]["spec"])
        try:
            check_object(spoilt, "spoilt")
        except AssertionError:
            return
        raise AssertionError("what is wrong was not found")

    spoil(lambda pod: pod["containers"][0].update(livenesProbe={}))
    spoil(lambda pod: pod["containers"][0].pop("image"))
    spoil(lambda pod: pod.update(terminationGracePeriodSeconds="75"))
    spoil(lambda pod: pod["containers"][0]["securityContext"].update(privileged=False))
    spoil(lambda pod: pod["containers"][0]["volumeMounts"][0].update(mountPropagation="bidirectional"))
    spoil(lambda pod: pod["volumes"].pop())


def pod_of_far() -> tuple[dict, dict, dict, dict]:
    """The ConfigMap's data, the pod, and its two containers."""
    config, daemons = documents("tensorfs-far.yaml")
    namespace = documents("tensorfs.yaml")[0]["metadata"]["name"]
    for part in (config, daemons):
        check_equal(part["metadata"]["namespace"], namespace, "namespace")
    template = daemons["spec"]["template"]
    check_equal(daemons["spec"]["selector"]["matchLabels"], template["metadata"]["labels"], "labels")
    other = documents("tensorfs.yaml")[2]["spec"]["selector"]["matchLabels"]
    check(other != template["metadata"]["labels"], "both DaemonSets select the same pods")
    far, tensorfs = template["spec"]["containers"]
    check_equal([far["name"], tensorfs["name"]], ["far", "tensorfs"], "containers")
    return config["data"], template["spec"], far, tensorfs


def waits(container: dict) -> int:
    """Seconds that preStop waits at most."""
    return int(re.search(r"seq (\d+)", container["lifecycle"]["preStop"]["exec"]["command"][2])[1])


def scripts_of(container: dict) -> dict[str, str]:
    probes = [name for name in ("startupProbe", "readinessProbe", "livenessProbe") if name in container]
    found = {name: container[name]["exec"]["command"] for name in probes}
    found |= {"command": container["command"], "preStop": container["lifecycle"]["preStop"]["exec"]["command"]}
    for name, command in found.items():
        check_equal(command[:2], ["sh", "-c"], f"{name}: how it is run")
    return {name: script for name, (_, _, script) in found.items()}


def test_far_fits() -> None:
    """kubernetes: over rclone, mounts are seen where they must be, and what lies on top ends first"""
    data, pod, far, tensorfs = pod_of_far()
    seen = [{mount["name"]: mount for mount in container["volumeMounts"]} for container in (far, tensorfs)]
    check_equal(seen[0]["far"]["mountPropagation"], "Bidirectional", "rclone's mount")
    check_equal(seen[1]["far"]["mountPropagation"], "HostToContainer", "rclone's mount, as tensorfs sees it")
    check_equal(seen[0]["far"]["mountPath"], seen[1]["far"]["mountPath"], "where it is in both")
    check_equal(seen[1]["mounts"]["mountPropagation"], "Bidirectional", "tensorfs' mount")
    check(data["SOURCE"].startswith(seen[0]["far"]["mountPath"] + "/"), "SOURCE is in no volume")
    check(data["MOUNTPOINT"].startswith(seen[1]["mounts"]["mountPath"] + "/"), "MOUNTPOINT is in no volume")
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
    check(not (paths["far"] + "/").startswith(paths["mounts"] + "/"), "readers see rclone's mount")
    check(waits(tensorfs) < waits(far) < pod["terminationGracePeriodSeconds"], "who is waited for")
    for container in (far, tensorfs):
        check("limits" not in container["resources"], "the page cache has a limit")
        for name, script in scripts_of(container).items():
            check_equal(set(re.findall(r"\$([A-Z]\w*)", script)) - set(data), set(), f"{name}: unset variables")


def test_far_commands(program: str, folder: Path) -> None:
    """kubernetes: over rclone, the containers' commands mount, probe, notice a new mount below, and unmount"""
    need_fuse()
    need_program("rclone")
    if os.geteuid() != 0:
        raise Skip("only root unmounts by umount")
    data, _, far, tensorfs = pod_of_far()
    big, _, _, rest = write_model(folder / "served", big=MIB)
    (folder / "bin").mkdir()
    (folder / "bin/tensorfs").symlink_to(program)
    (folder / "cache").mkdir()
    source, at = folder / "far/model", folder / "mounts/llama-far"
    running: dict[str, subprocess.Popen] = {}

    with ExitStack() as stack:
        port = stack.enter_context(nginx_server(folder / "served", folder / "nginx"))
        environment = {**os.environ, **data, "PATH": f"{folder}/bin:{os.environ['PATH']}", "SOURCE": str(source),
                       "MOUNTPOINT": str(at), "URL": f"http://127.0.0.1:{port}/"}  # fmt: skip

        def prepared(container: dict, name: str) -> list[str]:
            """As the container runs it, with the paths of this test: process 1 of it is the child here."""
            script = scripts_of(container)[name].replace("/cache", f"{folder}/cache")
            if container["name"] in running:
                script = script.replace("/proc/1/", f"/proc/{running[container['name']].pid}/")
            return ["sh", "-c", script]

        def execute(container: dict, name: str) -> int:
            command = prepared(container, name)
            return subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE).returncode

        def start(container: dict) -> None:
            child = subprocess.Popen(prepared(container, "command"), env=environment, stdin=subprocess.DEVNULL,
                                     preexec_fn=end_with_parent)  # fmt: skip
            running[container["name"]] = child
            stack.callback(end, child)
            wait_until(lambda: child.poll() is not None or execute(container, "startupProbe") == 0, "it is ready")
            check_equal(child.poll(), None, f"exit code of {container['name']}")

        for path in (source, at):
            stack.callback(subprocess.run, ["umount", "-q", "-l", str(path)], capture_output=True)
        check(execute(far, "startupProbe") != 0, "far is content without a mount")
        start(far)
        start(tensorfs)
        check_equal(execute(tensorfs, "readinessProbe"), 0, "readiness")
        check_equal([execute(part, "livenessProbe") for part in (far, tensorfs)], [0, 0], "liveness")
        check((at / "big").read_bytes() == big.data, "the bytes of big")
        end(running["far"], kill=True)
        # Attributes that the kernel has are good for a second more.
        wait_until(lambda: execute(far, "livenessProbe") != 0, "far notices that its mount is dead")
        start(far)
        check(execute(tensorfs, "livenessProbe") != 0, "tensorfs is content with files of a mount that is dead")
        end(running["tensorfs"])
        start(tensorfs)
        check_equal([execute(part, "livenessProbe") for part in (far, tensorfs)], [0, 0], "liveness, started anew")
        check((at / "rest").read_bytes() == rest.data, "the bytes of rest")
        for container in (tensorfs, far):  # in this order, as each waits for who is above
            check_equal(execute(container, "preStop"), 0, f"{container['name']}: preStop")
            running[container["name"]].wait(PATIENCE)
        check(not source.is_mount() and not at.is_mount(), "something is still mounted")


def end(child: subprocess.Popen, kill: bool = False) -> None:
    if child.poll() is None:
        child.kill() if kill else child.terminate()
    try:
        child.wait(PATIENCE / 2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
