"""One browser tab on the dashboard, in a session of its own."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page

PLOT = ".dntk-plot[data-drawn]"
# Streamlit looks for its server below the page's own address first, and finds it one level up.
PROBES = re.compile(r"/_stcore/(health|host-config)$")


class Tab:
    """A page, what went wrong in it, and how a person uses it."""

    def __init__(self, page: Page, address: str):
        self.page = page
        self.page.set_default_timeout(60_000)
        self.address, self.errors, self.asked = address, [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._listen)

    def _listen(self, message) -> None:
        if message.type == "error" and not PROBES.search(message.location.get("url", "")):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def goto(self, path: str) -> "Tab":
        """Open a path of the dashboard and wait for it."""
        self.page.goto(f"{self.address}/{path}")
        return self.settle()

    def reload(self) -> "Tab":
        self.page.reload()
        return self.settle()

    def settle(self) -> "Tab":
        """Wait until the script has run."""
        self.page.wait_for_selector(".stApp[data-test-script-state=notRunning] .stHeading")
        return self

    def follow(self, label: str) -> "Tab":
        """Click a link to another page."""
        self.page.get_by_test_id("stSidebar").get_by_role("link", name=label, exact=True).click()
        self.page.wait_for_function("label => document.querySelector('.stHeading')?.innerText === label", arg=label)
        return self.settle()

    def slider(self, label: str) -> Locator:
        """The handle of a slider, by the start of its label."""
        found = self.page.get_by_test_id("stSlider").filter(has_text=re.compile(f"^{label}"))
        return found.locator("input[type=range], [role=slider]").first

    def move(self, label: str, steps: int) -> "Tab":
        """Move a slider with the arrow keys."""
        handle = self.slider(label)
        handle.focus()
        for _ in range(abs(steps)):
            self.page.keyboard.press("ArrowRight" if steps > 0 else "ArrowLeft")
        return self

    def parameter(self, name: str) -> str:
        """A parameter of the address."""
        return parse_qs(urlsplit(self.page.evaluate("location.href")).query).get(name, [""])[0]

    def wait_for_parameter(self, name: str, value: str) -> "Tab":
        """Wait until the address says so."""
        self.page.wait_for_function(
            "([name, value]) => new URL(location.href).searchParams.get(name) === value", arg=[name, value]
        )
        return self

    def plots(self, count: int) -> Locator:
        """The figures of the page, once at least `count` are drawn."""
        self.page.wait_for_function(
            "([plot, count]) => document.querySelectorAll(plot).length >= count", arg=[PLOT, count]
        )
        return self.page.locator(PLOT)

    def text(self) -> str:
        """What the main part of the page says."""
        return self.page.get_by_test_id("stMain").inner_text()

    def close(self) -> None:
        self.page.close()
