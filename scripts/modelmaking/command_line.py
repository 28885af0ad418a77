"""The command: which model is made of what was typed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import demo, from_index, moe, quantised, random_bytes, safetensors
from .arguments import HelpFormatter
from .model import UsageError

DESCRIPTION = """\
Make safetensors and GGUF models for demos, tests and benches.

Every model but gguf is a folder of shards with a model.safetensors.index.json,
laid out as the reference writer would: a padded JSON header, then the tensors
back to back. gguf is one GGUF file, or a split as llama.cpp writes it. The same
arguments always make the same bytes. Sparse models have real headers and sizes
but no data, so a model of any size costs almost no disk.
"""
EXAMPLES = """\
examples:
  make-model demo /tmp/toy                       about 4 MB of real weights
  make-model from-index llama.index.json /tmp/l  the real names and sizes, sparse
  make-model moe /tmp/moe --tensors 1000000      a million tensors, sparse
  make-model bytes /tmp/b --size 8G --big 4G     random data to read and compare
  make-model gguf /tmp/g --parts 3               a split GGUF model, quantised

exit codes: 0 made, 1 the system refused (disk full, no permission),
2 wrong arguments, a folder that is not empty, or an unusable index.
"""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make-model", description=DESCRIPTION, epilog=EXAMPLES, formatter_class=HelpFormatter
    )
    commands = parser.add_subparsers(title="models", metavar="MODEL [options]", required=True)
    for kind in (demo, from_index, moe, random_bytes, quantised):
        kind.add_to(commands)
    return parser


def prepare_folder(folder: Path) -> None:
    """Never mix a model with what was there: a stale shard would be part of it."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: not a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder}: the folder is not empty")
    folder.mkdir(parents=True, exist_ok=True)


def main() -> int:
    args = build_parser().parse_args()
    try:
        model = args.plan(args)
        prepare_folder(args.folder)
        args.write(args.folder, model)
    except UsageError as error:
        print(f"make-model: {error}", file=sys.stderr)
        return 2
    except (OSError, OverflowError) as error:  # overflow: larger than any file can be
        print(f"make-model: {error}", file=sys.stderr)
        return 1
    print(f"{args.folder}: {model.tensors} tensors, {len(model.parts)} shards, {model.nbytes} bytes")
    return 0
