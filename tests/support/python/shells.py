"""bash and zsh as a user has them: on a terminal, with keys that are pressed."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
import time
from pathlib import Path

from checks import PATIENCE, check, need_program, run
from models import Tensor, write_shard
from texts import BUILD

COMPLETIONS = BUILD / "completions"

# Names that shells, terminals or the completions themselves could take for something else.
ODD_NAMES = [
    "plain", "-dash", "--names", "-", "a b", "  lead", "trail ", "a$HOME", "it's", "''", 'say "hi"', '"', "co:lon", ":",
    "x=y", "back\\nslash", "new\nline", "back\\", "t\tab", "esc\x1b[31m", "ünï", "a!b", "!!", "st*r", "?", "[x]",
    "`touch made`", "$(touch made)", "a;b", "a&b|c<d>e(f)g", "~home", "#hash", "a{b,c}", "comma,name", "@at", "%1", "^h",
    "dot.", ".", "a/b", "ends'", 'ends"', "\\'", "<<==", "\u202e", "a'b\"c$d`e\\f",
]  # fmt: skip


def environment(program: str, folder: Path) -> dict[str, str]:
    """Of a user whose home is the folder, and who types `tensorfs`."""
    path = f"{Path(program).parent}:{os.environ.get('PATH', '/usr/bin:/bin')}"
    kept = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    return kept | {"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8", "TERM": "vt100", "HISTFILE": "/dev/null"}


class Shell:
    """An interactive shell in a folder, on a terminal of its own, from `with` to its end."""

    # Prints the line that is being edited, as it is, between these.
    BEFORE, BEHIND = "\x02", "\x03"
    SHOW = "\x0f"  # the key for that: Control-O
    CLEAR = "\x15"  # Control-U

    def __init__(self, command: list[str], folder: Path, variables: dict[str, str], setup: list[str]) -> None:
        need_program(command[0])
        self._command, self._folder, self._variables, self._setup = command, folder, variables, setup
        self._count = 0

    def __enter__(self) -> Shell:
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(self._folder)
            os.execvpe(self._command[0], self._command, self._variables)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("4H", 50, 200, 0, 0))
        for line in self._setup:
            self.run(line)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._terminal)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def press(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def read_until(self, end: str) -> str:
        text = b""
        deadline = time.monotonic() + PATIENCE
        while end.encode() not in text:
            check(time.monotonic() < deadline, f"{self._command[0]} does not answer: {text!r}")
            if select.select([self._terminal], [], [], 0.1)[0]:
                text += os.read(self._terminal, 1 << 16)
        return text.decode(errors="replace")

    def run(self, line: str) -> str:
        """What the terminal shows while a command runs."""
        self._count += 1
        # What is typed is echoed, too, but not with the quotes gone.
        self.press(f"{line}\nprintf %s do'n'e{self._count}.\n")
        return self.read_until(f"done{self._count}.")

    def complete(self, typed: str) -> tuple[str, str]:
        """The line after it was typed and TAB was pressed, and what was shown meanwhile. It is left to be edited."""
        self.press(typed + "\t")
        self.press(self.SHOW)
        text = self.read_until(self.BEHIND)
        shown, _, line = text.rpartition(self.BEFORE)
        return line.partition(self.BEHIND)[0], shown

    def line(self, typed: str) -> str:
        """The line after it was typed and TAB was pressed; then it is thrown away."""
        found, _ = self.complete(typed)
        self.press(self.CLEAR)
        return found


def bash(program: str, folder: Path, setup: tuple[str, ...] = (), **variables: str) -> Shell:
    show = r"""bind -x '"\C-o": printf "\n\002%s\003" "$READLINE_LINE"'"""
    return Shell(
        ["bash", "--noprofile", "--norc", "-i"], folder,
        environment(program, folder) | {"INPUTRC": "/dev/null"} | variables,
        ["bind 'set enable-bracketed-paste off'", *(setup or (f". {COMPLETIONS}/tensorfs.bash",)), show],
    )  # fmt: skip


def zsh(program: str, folder: Path) -> Shell:
    show = r"""show() { printf '\n\002%s\003' "$BUFFER" }; zle -N show; bindkey -e; bindkey '^O' show; bindkey '^U' kill-whole-line"""
    return Shell(
        ["zsh", "-f", "-i"], folder, environment(program, folder),
        ["unsetopt zle_bracketed_paste prompt_cr beep; unset zle_bracketed_paste",
         f"fpath=({COMPLETIONS} $fpath); autoload -U compinit; compinit -u -D", show],
    )  # fmt: skip


def write_odd_models(folder: Path) -> dict[str, bytes]:
    """For each odd name a model with one tensor of that name: file to content."""
    contents = {}
    for number, name in enumerate(ODD_NAMES):
        path = folder / f"m{number}.safetensors"
        contents[path.name] = json.dumps([number, name]).encode()
        write_shard(path, [Tensor(name, "U8", (len(contents[path.name]),), contents[path.name])])
    return contents


def check_odd_names(shell: Shell, folder: Path) -> None:
    """That a tensor's name can be completed, bare and in either quote, and is then what the shell reads."""
    for file, content in write_odd_models(folder).items():
        for quote in ("", "'", '"'):
            line, _ = shell.complete(f"tensorfs cat {file} -- {quote}")
            what = f"{file}, {json.loads(content)[1]!r}: {line}"
            check(line.endswith(" "), f"it was not completed: {what}")
            out = folder / "out"
            shown = shell.run(" > out")  # the rest of the line
            check(out.exists(), f"it was not run: {what}\n{shown}")
            check(out.read_bytes() == content, f"it is not what was meant: {what}\n{shown}")
            out.unlink()
    check(not (folder / "made").exists(), "a name was run as a command")


def check_quick(program: str, model: Path, took: float) -> None:
    """That TAB took little more than the program itself does for the names of a model."""
    begin = time.monotonic()
    run(program, "ls", "--names", model)
    alone = time.monotonic() - begin
    print(f"{took:.2f} s, of which the program takes {alone:.2f} s")
    check(took < 2 * alone + 2, f"TAB took {took:.1f} s, and the program alone {alone:.1f} s")


def write_hub(folder: Path) -> list[str]:
    """A cache of the Hub's libraries in the home folder, and the ids that it has."""
    ids = ["org/one", "org/two.b-c", "alone", "only/one"]
    for id in ids:
        model = folder / ".cache/huggingface/hub" / f"models--{id.replace('/', '--')}"
        (model / "snapshots" / "0123abcd").mkdir(parents=True)
        (model / "refs").mkdir()
        (model / "refs" / "main").write_text("0123abcd")
    return ids
