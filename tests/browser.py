"""A browser for tests: Debian's Chromium, or any other that is installed, driven by playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run"
).split()


def missing() -> str:
    """What a browser test lacks here, or nothing."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    return "" if any(map(shutil.which, NAMES)) else f"none of {', '.join(NAMES)} is installed"


@contextmanager
def browser() -> Iterator[Any]:
    """Skips where there is none; but where CI is set to true that is a failure, so that CI never skips in silence."""
    if lack := missing():
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must run the browser tests, but {lack}")
        pytest.skip(lack)
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=QUIET)
        try:
            yield found
        finally:
            found.close()
