"""What the kinds of models share of the command line."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Callable

from . import safetensors
from .model import Model

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_size(text: str) -> int:
    match = re.fullmatch(r"([0-9]+)([KMGT]?)", text, re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"not a size such as 4096, 64K or 2G: {text!r}")
    return int(match[1]) * UNITS[match[2].upper()]


def parse_count(text: str) -> int:
    if not re.fullmatch(r"0*[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"not a whole number from 1: {text!r}")
    return int(text)


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows defaults, and leaves the examples' lines as they are."""


def add_command(
    commands, name: str, plan: Callable[[argparse.Namespace], Model], summary: str, details: str
) -> argparse.ArgumentParser:
    """A kind of model: `plan` makes it of the arguments. Its command takes the folder to fill last of all."""
    description = f"{summary[0].upper()}{summary[1:]}.\n\n{details}"
    command = commands.add_parser(name, help=summary, description=description, formatter_class=HelpFormatter)
    command.set_defaults(plan=plan, write=safetensors.write_model)
    return command


def add_folder(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", metavar="DIR", type=Path, help="new or empty folder to fill")
