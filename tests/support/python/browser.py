"""Debian's Chromium, without a window, driven by its own driver; it asks nobody but the test's own servers."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from types import ModuleType
from typing import Iterator, NamedTuple

from checks import check, need, need_program


class Browser(NamedTuple):
    driver: object  # selenium's

    def open(self, url: str) -> None:
        self.driver.get("about:blank")  # so that a new hash is a new page
        self.driver.get(url)
        self.wait("return 'ready' in document.documentElement.dataset")

    def run(self, script: str, *arguments: object) -> object:
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str) -> object:
        waiting = need("selenium.webdriver.support.ui").WebDriverWait(self.driver, 30, 0.05)
        return waiting.until(lambda driver: driver.execute_script(script), f"never: {script}")

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def texts(self, selector: str) -> list[str]:
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)", selector)

    def click(self, selector: str) -> None:
        self.driver.find_element("css selector", selector).click()

    def press(self, *keys: str) -> None:
        """By the names that selenium has for them, or characters."""
        names: ModuleType = need("selenium.webdriver.common.keys")
        chain = need("selenium.webdriver").ActionChains(self.driver)
        for key in keys:
            chain.send_keys(getattr(names.Keys, key, key))
        chain.perform()

    def complaints(self) -> list[str]:
        """What the console has of errors since it was asked last, such as what the page's policy forbade."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """The URLs that pages have asked for since this was asked last."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def check_quiet(self) -> None:
        found = self.complaints()
        check(not found, f"the console says: {found}")


@contextlib.contextmanager
def browser(folder: Path, *, width: int = 1440, height: int = 1000, is_dark: bool = False) -> Iterator[Browser]:
    webdriver = need("selenium.webdriver")
    service = need("selenium.webdriver.chrome.service").Service(need_program("chromedriver"))
    options = webdriver.ChromeOptions()
    options.binary_location = need_program("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={folder / 'profile'}", f"--window-size={width},{height}",
                     "--disable-background-networking", "--disable-component-update", "--no-first-run",
                     *(["--force-dark-mode"] if is_dark else [])):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=service, options=options)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
