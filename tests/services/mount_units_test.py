"""The examples of .mount and .automount units and of fstab under a real systemd, through mount(8) and mount.fuse3."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from booted import EXAMPLES, Booted, units_of_fstab, wait_until
from checks import check, check_equal
from models import random_tensor, write_shard

FSTAB_SOURCES = ("/models/Llama-3-70B", "/cluster/models/Mixtral", "/models/draft\\040model")


class Examples:
    """A booted systemd with a model whose name has a space, and an empty /mnt."""

    def __init__(self, program: str) -> None:
        self.systemd = Booted(program)

    def __enter__(self) -> Examples:
        self.systemd.__enter__()
        self.model = self.systemd.folder / "my model"
        self.model.mkdir()
        self.tensor = random_tensor("a.weight", "BF16", (300, 100))
        write_shard(self.model / "model.safetensors", [self.tensor])
        self.systemd.run("mount", "-t", "tmpfs", "tmpfs", "/mnt")
        return self

    def __exit__(self, *failure: object) -> None:
        self.systemd.__exit__(*failure)

    def install(self, text: str, name: str) -> None:
        check(name.endswith(".automount") or "Type=fuse.tensorfs" in text, f"{name} mounts something else")
        (self.systemd.units / name).write_text(text)

    def check_serves(self, folder: str) -> None:
        check(self.systemd.at(f"{folder}/a/weight").read_bytes() == self.tensor.data, f"{folder}: bytes")


@pytest.fixture
def examples(program: str) -> Iterator[Examples]:
    with Examples(program) as it:
        yield it


def test_units(examples: Examples) -> None:
    """systemd mounts: the example of a mount, and when somebody looks"""
    systemd = examples.systemd
    for suffix in ("mount", "automount"):
        text = (EXAMPLES / f"mnt-llama.{suffix}").read_text()
        examples.install(text.replace("/models/Llama-3-70B", str(examples.model)), f"mnt-llama.{suffix}")
    systemd.run("systemctl", "daemon-reload")
    systemd.run("systemctl", "start", "mnt-llama.mount")
    examples.check_serves("/mnt/llama")
    check("allow_other" in systemd.run("findmnt", "-n", "-o", "OPTIONS", "/mnt/llama"), "allow_other is missing")
    systemd.run("systemctl", "stop", "mnt-llama.mount")
    check_equal(systemd.mounts_on("/mnt/llama"), [], "what is still mounted")
    systemd.wait_for("mnt-llama.mount", ActiveState="inactive", Result="success")
    systemd.drop_in("mnt-llama.automount", "[Automount]\nTimeoutIdleSec=1\n")
    systemd.run("systemctl", "daemon-reload")
    systemd.run("systemctl", "start", "mnt-llama.automount")
    check_equal(systemd.mounts_on("/mnt/llama"), ["autofs"], "what is mounted before anybody looks")
    look_until_mounted(examples, "/mnt/llama")
    wait_until(lambda: systemd.mounts_on("/mnt/llama") == ["autofs"], "it is unmounted when nobody uses it")
    look_until_mounted(examples, "/mnt/llama")


def look_until_mounted(examples: Examples, folder: str) -> None:
    """Who looks first is kept waiting, and then sees the model. (Through /proc nothing is mounted automatically.)"""
    found = examples.systemd.run("sha256sum", f"{folder}/a/weight").split()[0]
    wanted = subprocess.run(["sha256sum"], input=examples.tensor.data, capture_output=True, check=True).stdout.decode()
    check_equal(found, wanted.split()[0], "checksum")
    check_equal(examples.systemd.mounts_on(folder), ["autofs", "fuse.tensorfs"], "what is mounted")


def test_fstab(examples: Examples, folder: Path) -> None:
    """systemd mounts: the lines of fstab.example"""
    systemd = examples.systemd
    text = (EXAMPLES / "fstab.example").read_text()
    for source in FSTAB_SOURCES:
        check(source in text, f"fstab.example does not mount {source}")
        text = text.replace(source, str(examples.model).replace(" ", "\\040"))
    (folder / "fstab").write_text(text)
    for unit in units_of_fstab(folder / "fstab", folder / "made"):
        examples.install(unit.read_text(), unit.name)
    systemd.run("systemctl", "daemon-reload")
    for name in ("llama", "draft"):
        systemd.run("systemctl", "start", f"mnt-{name}.mount")
        examples.check_serves(f"/mnt/{name}")
    systemd.run("systemctl", "start", "mnt-mixtral.automount")
    look_until_mounted(examples, "/mnt/mixtral")
    # By mount(8) itself, with the same line.
    systemd.run("systemctl", "stop", "mnt-llama.mount")
    systemd.at("/run/fstab").write_text(text)
    systemd.run("mount", "--fstab", "/run/fstab", "/mnt/llama")
    examples.check_serves("/mnt/llama")
