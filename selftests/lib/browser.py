#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Open pages in chromium, one after the other, and print what their scripts answer.

    browser.py PROFILE URL...

A page's answer is what the promise "answer", which its script defines, resolves to.
"""
import json
import os
import subprocess
import sys

OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--allow-file-access-from-files")


class Browser:
    """Chromium, spoken to by the DevTools protocol: JSON, with a null byte behind each message."""

    def __init__(self, profile):
        told, tell = os.pipe()
        hear, said = os.pipe()
        words = ["chromium", *OPTIONS, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        # It reads from descriptor 3 and writes to 4.
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{told} 4>&{said} 2>/dev/null', "bash", *words],
                                        pass_fds=(told, said), env=dict(os.environ, HOME=profile))
        os.close(told)
        os.close(said)
        self.tell, self.hear, self.heard, self.calls, self.events = tell, hear, b"", 0, []

    def message(self):
        while b"\0" not in self.heard:
            got = os.read(self.hear, 1 << 16)
            if not got:
                sys.exit("chromium has ended")
            self.heard += got
        text, self.heard = self.heard.split(b"\0", 1)
        return json.loads(text)

    def wait(self, event):
        while event not in self.events:
            self.events.append(self.message().get("method"))

    def call(self, method, session=None, **params):
        self.calls += 1
        call = {"id": self.calls, "method": method, "params": params}
        os.write(self.tell, json.dumps(call | ({"sessionId": session} if session else {})).encode() + b"\0")
        while (message := self.message()).get("id") != self.calls:
            self.events.append(message.get("method"))
        return message["result"]

    def answer(self, url):
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.call("Page.enable", session)
        self.events.clear()
        self.call("Page.navigate", session, url=url)
        self.wait("Page.loadEventFired")
        got = self.call("Runtime.evaluate", session, expression="answer", awaitPromise=True, returnByValue=True)
        return got["result"].get("value", got)


def main():
    browser = Browser(sys.argv[1])
    for url in sys.argv[2:]:
        print(browser.answer(url))
    browser.call("Browser.close")
    browser.process.wait()


main()
