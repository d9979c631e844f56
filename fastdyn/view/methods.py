"""The method of a robot that writes a page about its motion."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from fastdyn.dynamics import Dynamics


class Views(Dynamics):
    """Pages about a robot's motion."""

    def view(
        self,
        q: ArrayLike,
        t: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        path: str | os.PathLike[str] = "motion.html",
        energies: Mapping[str, ArrayLike] | None = None,
        open: bool = False,
    ) -> Path:
        """Writes a page to watch a motion on, one HTML file, and returns its path: see fastdyn.view.write.

        q: (K, n), or (n,) for one posture; t: (K,) s, 25 postures a second if not given; tau: (K, n); qd: (K, n), by
        differences of q if not given; energies: (K,) J by name, kinetic, potential and total if not given. open:
        whether to open the page in the browser.

        >>> import tempfile
        >>> import fastdyn as fd
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fd.robots.two_link().view([[0.0, 0.0], [1.0, 2.0]], t=[0.0, 1.0], path=folder + "/swing.html").name
        'swing.html'
        """
        from fastdyn.view.page import write

        page = write(self, q, t, tau, qd, energies, path)
        if open:
            import webbrowser

            webbrowser.open(page.resolve().as_uri())
        return page
