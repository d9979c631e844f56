"""Start-up time: each run is a new process."""

from __future__ import annotations

FIRST_CALL = "import fastdyn; fastdyn.robots.random_chain(6).inverse_dynamics([0.1] * 6, [0.1] * 6, [0.1] * 6)"


class Startup:
    """Seconds, with compiled code in the cache (by `setup`)."""

    number = 1  # a second import in the same process would cost nothing
    repeat = (3, 10, 20.0)

    def setup(self) -> None:
        exec(FIRST_CALL)

    def timeraw_import(self) -> str:
        return "import fastdyn"

    def timeraw_import_and_first_call(self) -> str:
        return FIRST_CALL
