"""One browser tab on the dashboard, in a session of its own.

Streamlit redraws a page whenever its script runs, and a gesture made meanwhile is lost: the element it was meant for is
replaced, the list it opened is closed. So all tests act through `Tab`, which acts on an idle page only and, if the page
is idle again and what should have happened has not, makes the whole gesture again.
"""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, TimeoutError

from tests.browser.idle import IDLE, WATCH

PLOT = ".dntk-plot[data-drawn]"
# Streamlit looks for its server below the page's own address first, and finds it one level up.
PROBES = re.compile(r"/_stcore/(health|host-config)$")
# A machine may be slow: seconds for one gesture, for its outcome before it is made again, and for all that is awaited.
GESTURE, OUTCOME, PATIENCE = 10, 3, 180
# What a slider shows and what the address says about it.
PUBLISHED = """([handle, name]) => {
  const shown = Number(handle.ariaValueText || handle.value);
  return Number(new URL(location.href).searchParams.get(name)) === shown;
}"""
NAMES = {
    "Clusters": "H",
    "Variance kept": "tau_v",
    "Gap threshold": "tau_g",
    "Truncation": "epsilon",
    "Rank": "rank",
    "Ridge": "ridge",
}
# What a gesture is to bring about: a text on the page, an element, or whatever can be asked.
Outcome = str | Locator | Callable[[], bool]


class Tab:
    """A page, what went wrong in it, and how a person uses it."""

    def __init__(self, page: Page, address: str):
        self.page = page
        self.page.set_default_timeout(GESTURE * 1000)
        self.page.set_default_navigation_timeout(PATIENCE * 1000)
        self.page.add_init_script(f"({WATCH})()")
        self.address, self.errors, self.asked = address, [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._listen)

    def _listen(self, message) -> None:
        if message.type == "error" and not PROBES.search(message.location.get("url", "")):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def close(self) -> None:
        self.page.close()

    # Where it is.

    def goto(self, path: str) -> "Tab":
        """Open a path of the dashboard and wait for it."""
        self.page.goto(f"{self.address}/{path}")
        return self.settle()

    def reload(self) -> "Tab":
        self.page.reload()
        return self.settle()

    def back(self) -> "Tab":
        self.page.go_back()
        return self

    def follow(self, label: str) -> "Tab":
        """Click a link to another page."""
        link = self.page.get_by_test_id("stSidebar").get_by_role("link", name=label, exact=True)
        return self.until(lambda: self.page.locator(".stHeading").first.inner_text() == label, link.click)

    def parameter(self, name: str) -> str:
        """A parameter of the address."""
        return parse_qs(urlsplit(self.page.evaluate("location.href")).query).get(name, [""])[0]

    # What it waits for.

    def settle(self) -> "Tab":
        """Wait until the page is idle."""
        return self.wait(IDLE)

    def wait(self, condition: str, argument=None) -> "Tab":
        """Wait until a condition holds on the page."""
        self.page.wait_for_function(condition, arg=argument, timeout=PATIENCE * 1000)
        return self

    def see(self, what: str | re.Pattern | Locator) -> Locator:
        """Wait until a text or an element is on the page."""
        found = what if isinstance(what, Locator) else self.page.get_by_text(what).first
        found.wait_for(timeout=PATIENCE * 1000)
        return found

    def told(self, text: str) -> "Tab":
        """Wait for a toast with this text, also one that has vanished meanwhile."""
        return self.wait("text => [...watch.toasts].some((toast) => toast.textContent.includes(text))", text)

    def toasts(self) -> str:
        """What all toasts have said so far."""
        return self.page.evaluate("[...watch.toasts].map((toast) => toast.textContent).join(' ')")

    def wait_for_parameter(self, name: str, value: str) -> "Tab":
        """Wait until the address says so."""
        return self.wait("([name, value]) => new URL(location.href).searchParams.get(name) === value", [name, value])

    def plots(self, count: int) -> Locator:
        """The figures of the page, once at least `count` are drawn."""
        self.wait("([plot, count]) => document.querySelectorAll(plot).length >= count", [PLOT, count])
        return self.page.locator(PLOT)

    def text(self) -> str:
        """What the main part of the page says."""
        return self.page.get_by_test_id("stMain").inner_text()

    # What is done to it.

    def until(self, outcome: Outcome, gesture: Callable[[], object]) -> "Tab":
        """Make a gesture on the idle page, again and again until the page is idle and shows its outcome."""
        end = time.monotonic() + PATIENCE
        while not self.settle()._shows(outcome):
            if time.monotonic() > end:
                raise AssertionError(f"the gesture had no effect; the page says:\n{self.text()}")
            with suppress(TimeoutError):
                gesture()
                self._linger(outcome)
        return self

    def _linger(self, outcome: Outcome) -> None:
        """Give an outcome time to show: the page may look idle before the server has heard of the gesture."""
        end = time.monotonic() + OUTCOME
        while not self._shows(outcome) and time.monotonic() < end:
            self.page.wait_for_timeout(20)

    def _shows(self, outcome: Outcome) -> bool:
        if isinstance(outcome, str):
            outcome = self.page.get_by_text(outcome).first
        with suppress(TimeoutError):
            return outcome.is_visible() if isinstance(outcome, Locator) else outcome()
        return False

    def press(self, button: str | Locator, until: Outcome) -> "Tab":
        """Press a button."""
        return self.until(until, self._button(button).click)

    def _button(self, button: str | Locator) -> Locator:
        return self.page.get_by_role("button", name=button, exact=True) if isinstance(button, str) else button

    def unfold(self, label: str) -> "Tab":
        """Open an expander."""
        # One may lie in another.
        fold = self.page.get_by_test_id("stExpander").filter(has_text=label).locator("details").first
        return self.until(lambda: fold.get_attribute("open") is not None, fold.locator("summary").first.click)

    def fill(self, label: str, value: str) -> "Tab":
        """Type into a field and leave it."""
        field = self.page.get_by_label(label, exact=True)

        def gesture() -> None:
            field.fill(value)
            field.press("Tab")

        return self.until(lambda: field.input_value() == value, gesture)

    def combobox(self, label: str) -> Locator:
        """The field of a list to choose from, by the start of its label."""
        return self.page.get_by_role("combobox", name=re.compile(f"^{label}"))

    def choose(self, label: str, option: str) -> "Tab":
        """Open a list and take the option of this name."""
        box = self.combobox(label)

        def gesture() -> None:
            self._open(box)
            self.page.get_by_role("option", name=option, exact=True).click()

        return self.until(lambda: box.input_value() == option, gesture)

    def enter(self, label: str, value: str) -> "Tab":
        """Type a value of one's own into a list."""
        box = self.combobox(label)

        def gesture() -> None:
            box.fill(value)
            box.press("Enter")

        return self.until(lambda: box.input_value() == value and box.get_attribute("aria-expanded") != "true", gesture)

    def offers(self, label: str, typed: str, option: str) -> "Tab":
        """Open a list, type, and see that an option is among what is left."""
        box = self.combobox(label)

        def gesture() -> None:
            self._open(box)
            box.fill(typed)

        return self.until(self.page.get_by_role("option", name=option), gesture)

    def _open(self, box: Locator) -> None:
        # A list that is open when the page scrolls closes.
        box.scroll_into_view_if_needed()
        self.page.keyboard.press("Escape")
        box.click()

    def pick(self, choice: str) -> "Tab":
        """Press one segment of a control."""
        segment = self.page.get_by_role("radio", name=choice, exact=True)
        return self.until(segment.is_checked, segment.click)

    def send(self, name: str, content: bytes, until: Outcome) -> "Tab":
        """Upload a file."""
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        field = self.page.locator("[data-testid=stFileUploader] input[type=file]")
        return self.until(until, lambda: field.set_input_files([file]))

    def download(self, button: str | Locator):
        """Press a button that hands out a file."""
        self.settle()
        with self.page.expect_download(timeout=PATIENCE * 1000) as waiting:
            self._button(button).click()
        return waiting.value

    def slider(self, label: str) -> Locator:
        """The handle of a slider, by the start of its label."""
        return self.page.get_by_role("slider", name=re.compile(f"^{label}"))

    def move(self, label: str, steps: int) -> "Tab":
        """Move a slider with the arrow keys, and wait until the address says what it shows."""
        handle, start = self.slider(label), self.settle().slider(label).input_value()

        def gesture() -> None:
            handle.focus()
            for _ in range(abs(steps)):
                self.page.keyboard.press("ArrowRight" if steps > 0 else "ArrowLeft")
            if handle.input_value() != start:
                self.wait(PUBLISHED, [handle.element_handle(), NAMES[label]])

        return self.until(lambda: handle.input_value() != start, gesture)
