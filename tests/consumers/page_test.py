"""The model as a page, in a real browser: from a file, and from a mount through nginx."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path
from urllib.parse import quote, urlsplit

from browser import Browser, browser
from checks import check, check_equal
from models import Tensor, make_model, random_tensor, write_shard
from mounts import Mount
from nginx import Nginx

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", '"><svg onload=alert(3)>', "a.\u202eevil",
           "x" * 300, "%2e%2e", "has#hash?query", "sp ace & amp", "..", ".tensorfs", "tab\there", "a//b"]  # fmt: skip
ROWS = "#rows [role=row]"


def write_page(program: str, source: Path, to: Path) -> str:
    """Its URL."""
    with to.open("wb") as file:
        subprocess.run([program, "page", str(source)], check=True, stdout=file)
    return to.as_uri()


def small_model(folder: Path) -> list[Tensor]:
    numbers = struct.pack("<2000f", *(n - 1000.5 for n in range(2000)))
    tensors = [Tensor("model.layers.0.weight", "F32", (40, 50), numbers), random_tensor("model.layers.1.weight", "BF16", (30, 20)),
               random_tensor("model.embed", "F16", (100, 64)), random_tensor("head.bias", "I64", (7,)),
               Tensor("head.none", "F32", (0, 3)), random_tensor("conv", "F16", (4, 3, 5, 5))]  # fmt: skip
    write_shard(folder / "model.safetensors", tensors, {"format": "pt", "trained on": "<b>bold</b>"})
    return tensors


def served(nginx: Nginx, place: str = "") -> str:
    return f"http://127.0.0.1:{nginx.port}/.tensorfs/index.html{place}"


def options() -> list[str]:
    """nginx's workers are not root's, where this is root."""
    return ["-o", "allow_other"] if os.geteuid() == 0 else []


def check_asked_only(page: Browser, origin: str) -> None:
    for url in page.requests():
        check(url.startswith((origin, "about:", "data:", "chrome:", "devtools:")), f"it asks for {url}")


def test_from_file(program: str, folder: Path) -> None:
    """page: searched, sorted and gone through, as a file"""
    small_model(folder)
    url = write_page(program, folder, folder / "page.html")
    with browser(folder) as page:
        page.open(url)
        check_equal(page.text("#model"), folder.name, "title")
        summary = page.text("#summary").split()
        check_equal(summary[:2], ["tensors", "6"], "summary")
        names = page.texts(f"{ROWS} > :first-child")
        check_equal(names, ["conv", "head.bias", "head.none", "model.embed", "model.layers.0.weight", "model.layers.1.weight"],
                    "names")  # fmt: skip
        page.run("const s = document.querySelector('#search'); s.value = 'layers bf16'; s.dispatchEvent(new Event('input'))")
        check_equal(page.texts(f"{ROWS} > :first-child"), ["model.layers.1.weight"], "found")
        check_equal(page.text("#count"), "1 of 6", "count")
        page.run("const s = document.querySelector('#search'); s.value = ''; s.dispatchEvent(new Event('input'))")
        page.click("#heads > :nth-child(5) button")
        check_equal(page.texts(f"{ROWS} > :first-child")[0], "model.embed", "largest")
        check_equal(page.run("return document.querySelector('#heads > :nth-child(5)').ariaSort"), "descending", "aria-sort")
        page.click(".area[title^='model/']")
        page.wait("return document.querySelectorAll('#crumbs li').length === 2")
        page.click(".area[title^='layers/']")
        page.wait("return document.querySelectorAll('#crumbs li').length === 3")
        check_equal(sorted(page.texts(f"{ROWS} > :first-child")), ["….0.weight", "….1.weight"], "folder")
        page.click("#heads > :nth-child(3) button")
        check_equal(page.texts(f"{ROWS} > :nth-child(3)"), ["30 × 20", "40 × 50"], "by shape")
        page.click("#heads > :last-child button")
        offsets = [int(text.replace(",", "")) for text in page.texts(f"{ROWS} > :last-child")]
        check(offsets[0] < offsets[1], f"by offset: {offsets}")
        page.run("history.back()")
        page.wait("return document.querySelectorAll('#crumbs li').length === 2")
        page.click(f"{ROWS}:first-child")
        page.wait("return !document.querySelector('#details').hidden")
        check_equal(page.texts("#details a"), [], "links")
        check("in a mount" in page.text("#details"), "it does not say why there are no numbers")
        page.click("#tab-metadata")
        page.wait("return !document.querySelector('#panel-metadata').hidden")
        check("<b>bold</b>" in page.text("#panel-metadata"), "a value of the metadata")
        page.check_quiet()
        check_asked_only(page, url)


def test_keyboard(program: str, folder: Path) -> None:
    """page: with a keyboard alone"""
    small_model(folder)
    with browser(folder) as page:
        page.open(write_page(program, folder, folder / "page.html"))
        page.press("/", "e", "m", "b")
        check_equal(page.text("#count"), "1 of 6", "searched")
        page.press("ESCAPE")
        check_equal(page.text("#count"), "6 of 6", "the search is empty again")
        page.press("ARROW_DOWN", "ARROW_DOWN", "END", "HOME", "ARROW_DOWN", "ENTER")
        page.wait("return !document.querySelector('#details').hidden")
        check_equal(page.text("#details h2"), "head.bias", "chosen")
        active = page.run("return document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).innerText")
        check("head.bias" in active, f"the active row is {active}")
        page.press("ESCAPE")
        page.wait("return document.querySelector('#details').hidden")
        # The map is one stop of the Tab key, in which arrows move, and keeps the focus from folder to folder.
        area = "return document.activeElement.dataset.path"
        check_equal(page.run("return document.querySelectorAll('#map [tabindex=\"0\"]').length"), 1, "stops in the map")
        page.run("document.querySelector(\"#map [tabindex='0']\").focus()")
        check_equal(page.run(area), "model", "the largest")
        page.press("ARROW_RIGHT")
        check_equal(page.run(area), "conv", "on its right")
        page.press("ARROW_RIGHT")
        check_equal(page.run(area), "conv", "nothing is on the right of that")
        page.press("ARROW_LEFT", "ENTER")
        page.wait("return document.querySelectorAll('#crumbs li').length === 2")
        check_equal(page.run(area), "model/embed", "the largest in there")
        page.press("ESCAPE")
        page.wait("return document.querySelectorAll('#crumbs li').length === 1")
        check_equal(page.run(area), "model", "where it came from")
        page.run("document.querySelector('#tab-tensors').focus()")
        page.press("ARROW_RIGHT")
        page.wait("return !document.querySelector('#panel-metadata').hidden")
        page.check_quiet()


def test_hostile_names(program: str, folder: Path) -> None:
    """page: names and values that look like markup, or hide"""
    tensors = [random_tensor(name, "U8", (3,)) for name in HOSTILE]
    write_shard(folder / "model.safetensors", tensors, {"</script><script>alert(5)</script>": "<img src=x onerror=alert(6)>"})
    with Mount(program, folder, *options()) as mount, Nginx(mount) as nginx, browser(folder) as page:
        origin = f"http://127.0.0.1:{nginx.port}/"
        page.open(f"{origin}.tensorfs/index.html")
        shown = page.texts(f"{ROWS} > :first-child")
        check_equal(len(shown), len(HOSTILE), "rows")
        for name in ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "a.⟨202E⟩evil", "tab⟨0009⟩here"):
            check(name in shown, f"{name} is not shown: {shown}")
        check_equal(page.run("return document.querySelectorAll('img, svg, b').length"), 0, "elements that names made")
        check_equal(page.run("return document.scripts.length"), 3, "scripts")
        found = {}
        for at in range(len(HOSTILE)):
            page.run("document.querySelectorAll(arguments[0])[arguments[1]].click()", ROWS, at)
            page.wait("return !document.querySelector('#details').hidden && document.querySelector('#details a') !== null")
            name, link = page.run("return [document.querySelector('#details h2').textContent, document.querySelector('#details a').href]")
            check(link.startswith(origin), f"{name}: a link to {link}")
            found[name] = nginx.ask(urlsplit(link).path).body
            page.wait("return document.querySelectorAll('#details .corner td').length === 3")
        check_equal(sorted(found.values()), sorted(tensor.data for tensor in tensors), "what the links lead to")
        page.click("#tab-metadata")
        page.wait("return !document.querySelector('#panel-metadata').hidden")
        check("alert(6)" in page.text("#panel-metadata"), "a value of the metadata")
        check_equal(page.run("return document.querySelectorAll('img, svg, b:not(.list b)').length"), 0, "elements that values made")
        page.check_quiet()
        check_asked_only(page, origin)


def test_numbers(program: str, folder: Path) -> None:
    """page: numbers of tensors by ranges, through nginx"""
    tensors = small_model(folder)
    with Mount(program, folder, *options()) as mount, Nginx(mount) as nginx, browser(folder) as page:
        origin = f"http://127.0.0.1:{nginx.port}/"
        page.open(f"{origin}.tensorfs/index.html#={quote('model/layers/0/weight')}")
        cells = "#details .corner td"
        page.wait(f"return document.querySelectorAll('{cells}').length === 256")
        check_equal(page.texts(cells)[:2], ["-1001", "-999.5"], "the first numbers")
        page.run("const r = document.querySelectorAll('#details input'); r[0].value = 39; r[1].value = 49;"
                 "r[0].dispatchEvent(new Event('change'))")  # fmt: skip
        page.wait(f"return document.querySelectorAll('{cells}').length === 1")
        check_equal(page.texts(cells), ["998.5"], "the last number")
        check_equal(page.run("return [...document.querySelectorAll('#details a')].map((a) => a.getAttribute('href'))"),
                    ["../model/layers/0/weight", "npy/model/layers/0/weight.npy", "f32/model/layers/0/weight.npy"], "links")  # fmt: skip
        body = nginx.ask("/model/layers/0/weight").body
        check(body == tensors[0].data, "the file behind the link")
        page.open(f"{origin}.tensorfs/index.html#={quote('head/bias')}")
        page.wait(f"return document.querySelectorAll('{cells}').length === 7")
        wanted = [str(number) for number in struct.unpack("<7q", tensors[3].data)]
        check_equal(page.texts(cells), wanted, "integers of 64 bits")
        page.open(f"{origin}.tensorfs/index.html#={quote('head/none')}")
        page.wait("return document.querySelector('#details').innerText.includes('no elements')")
        check_asked_only(page, origin)
        page.check_quiet()


def test_without_ranges(program: str, folder: Path) -> None:
    """page: a server without ranges is not asked for whole files, and nothing is asked for a page from a file"""
    small_model(folder)
    details = "return document.querySelector('#details').innerText"
    ranges = {"gzip off;": "gzip off; max_ranges 0;"}
    with Mount(program, folder, *options()) as mount, Nginx(mount, ranges) as nginx, browser(folder) as page:
        page.open(served(nginx, f"#={quote('model/layers/0/weight')}"))
        page.wait(f"{details}.includes('knows no ranges')")
        check_asked_only(page, f"http://127.0.0.1:{nginx.port}/")
        page.open(f"{(mount.hidden / 'index.html').as_uri()}#={quote('model/layers/0/weight')}")
        page.wait(f"{details}.includes('web server')")
        link = page.run("return document.querySelector('#details a').href")
        check_equal(link, (mount.path / "model/layers/0/weight").as_uri(), "the link to its file")
        page.check_quiet()


def test_odd_folders(program: str, folder: Path) -> None:
    """page: a folder whose name is no UTF-8, and integers that JavaScript would round"""
    (folder / "model_index.json").write_text("{}")
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/\xff#%"))
    odd.mkdir()
    shard = write_shard(odd / "model.safetensors", [random_tensor("w", "U8", (5,))])
    text = b"general.architecture"
    pairs = struct.pack("<Q20sIQ1s", 20, text, 8, 1, b"x") + struct.pack("<Q3sIQ", 3, b"big", 10, 2**64 - 1)
    gguf = struct.pack("<4sIQQ", b"GGUF", 3, 1, 2) + pairs + struct.pack("<Q1sIQIQ", 1, b"t", 1, 8, 0, 0)
    (folder / "lm").mkdir()
    (folder / "lm/model.gguf").write_bytes(gguf + bytes(-len(gguf) % 32) + bytes(32))
    with Mount(program, folder, *options()) as mount, Nginx(mount) as nginx, browser(folder) as page:
        page.open(served(nginx, f"#={quote('%FF#%25/w')}"))
        page.wait("return document.querySelectorAll('#details .corner td').length === 5")
        link = page.run("return document.querySelector('#details a').href")
        check(nginx.ask(urlsplit(link).path).body == shard.read_bytes()[-5:], "the file behind the link")
        page.click("#tab-metadata")
        page.wait("return document.querySelector('#panel-metadata').innerText.includes('big')")
        check(str(2**64 - 1) in page.text("#panel-metadata"), "an integer of 64 bits")
        page.check_quiet()


def test_many(program: str, folder: Path) -> None:
    """page: 100,000 tensors within two seconds"""
    make_model("moe", folder / "moe", "--tensors", 100_000)
    url = write_page(program, folder / "moe", folder / "page.html")
    check((folder / "page.html").stat().st_size < 6_000_000, "the page is large")
    with browser(folder) as page:
        taken = []
        for _ in range(3):  # other tests run beside it
            page.open(url)
            taken.append(int(page.run("return document.documentElement.dataset.ready")))
        print(f"ready after {taken} ms")
        check(min(taken) < 2000, f"ready after {taken} ms")
        drawn = page.run("return document.querySelectorAll(arguments[0]).length", ROWS)
        check(drawn < 100, f"{drawn} rows are drawn")
        page.run("document.querySelector('#rows').scrollTop = 1e9")
        page.wait("return document.querySelector('#rows [role=row]:last-child').ariaRowIndex === '100001'")
        begin = page.run("return performance.now()")
        page.run("const s = document.querySelector('#search'); s.value = 'experts.100.'; s.dispatchEvent(new Event('input'))")
        check(page.run("return performance.now()") - begin < 2000, "a search takes long")
        check("of 100,000" in page.text("#count"), page.text("#count"))
        page.check_quiet()


def test_vocabulary(program: str, folder: Path) -> None:
    """page: a tokenizer as a list that is searched, narrow and dark"""
    make_model("gguf", folder / "gguf", "--tensors", 20, "--tokens", 30_000, "--merges", 30_000)
    url = write_page(program, folder / "gguf", folder / "page.html")
    with browser(folder, width=500, height=800, is_dark=True) as page:
        page.open(f"{url}#metadata")
        lists = page.run("return document.querySelectorAll('.list').length")
        check(lists >= 2, f"{lists} lists")
        check(page.run("return document.querySelectorAll('.list [role=listitem]').length") < 200, "all words are drawn")
        page.run("const s = document.querySelector('.pairs input'); s.value = 'zz'; s.dispatchEvent(new Event('input'))")
        words = page.texts(".list [role=listitem]")
        check("30,000" in page.text(".pairs output") and words, "nothing is found")
        dark = page.run("return getComputedStyle(document.documentElement).backgroundColor")
        check_equal(dark, "rgb(20, 23, 26)", "the ground in the dark")
        check(page.run("return document.documentElement.scrollWidth <= innerWidth"), "it is wider than the window")
        page.check_quiet()
