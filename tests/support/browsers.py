"""People before a page of the console, each with a browser of their own."""

from __future__ import annotations

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
DESK = {"viewport": {"width": 1280, "height": 800}}


class Person:
    """Somebody with a browser of their own."""

    def __init__(self, chromium, program, role="operator", name="Ann", **look):
        self.program = program
        self.context = chromium.new_context(**(look or DESK))
        self.context.set_default_timeout(15_000)
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self.heard)
        self.page.goto(f"{program.address}/join#{getattr(program.tokens, role).reveal()}")
        assert "#" not in self.page.url
        self.page.fill("input[name=name]", name)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(f"**/{ {'operator': 'run', 'runner': 'runner', 'owner': 'owner'}[role] }")

    def heard(self, message):
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def code(self):
        self.page.wait_for_selector("#turn:visible")
        return self.page.inner_text("#code")

    def until(self, so, arg=None):
        """Wait without drawing a frame for every look, as the browser would by itself."""
        self.page.wait_for_function(so, arg=arg, polling=50)

    def pill(self, text):
        self.until("text => document.getElementById('pill').textContent.startsWith(text)", arg=text)

    def settled(self):
        self.until("() => document.getElementById('pill').dataset.state === 'online'")

    def by_key(self, key):
        before = self.code()
        self.page.keyboard.press("Enter")
        self.until("() => document.getElementById('outcomes').dataset.ready === 'yes'")
        self.page.keyboard.press(key)
        self.moved(before)

    def by_tap(self, button):
        before = self.code()
        if self.page.is_visible("#start"):  # a turn that was undone asks for its outcome only
            self.page.tap("#start")
        self.page.tap(button)
        self.moved(before)

    def moved(self, before):
        self.until(
            "code => document.querySelector('#turn').hidden || document.querySelector('#code').textContent !== code",
            arg=before,
        )

    def close(self):
        assert self.errors == []
        self.context.close()
