"""SELinux: labels are handed on to mount(2) as they were given. A kernel without SELinux takes none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from checks import Skip, check, check_equal, need_fuse, need_program
from models import random_tensor, write_shard

LABEL = "system_u:object_r:container_file_t:s0:c1,c2"


def test_labels(program: str, folder: Path) -> None:
    """mount(2) gets labels with their commas, quoted"""
    need_fuse()
    strace = need_program("strace")
    if os.geteuid() != 0:
        raise Skip("only root mounts by mount(2)")
    if Path("/sys/fs/selinux/enforce").exists():
        raise Skip("with SELinux, the kernel would mount it")
    shard = write_shard(folder / "model.safetensors", [random_tensor("a", "U8", (3,))])
    at = folder / "mnt"
    at.mkdir()
    # A sanitizer cannot look for leaks in a program that is traced.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    for option in ("context", "fscontext", "defcontext", "rootcontext"):
        for given in (f'{option}="{LABEL}"', f"{option}={LABEL}".replace(",", "\\,")):
            done = subprocess.run([strace, "-f", "-s", "500", "-e", "trace=mount", program, str(shard), str(at), "-o",
                                   f"umask=027,{given},allow_other"], env=environment, capture_output=True)  # fmt: skip
            check_equal(done.returncode, 8, f"{given}: exit code")
            calls = [line for line in done.stderr.decode().splitlines() if "mount(" in line and str(at) in line]
            check(any(f'{option}=\\"{LABEL}\\"' in call for call in calls), f"{given}: mount(2) got {calls}")
