"""Property tests draw the same examples in every run, so that a failure is nobody's luck."""

import signal

import numba
from hypothesis import settings

settings.register_profile("reproducible", derandomize=True, deadline=None, database=None, max_examples=40)
settings.load_profile("reproducible")


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start background jobs; some tests interrupt
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if numba.config.DISABLE_JIT:  # where compiled kernels meet infinity in silence, plain Python warns
        config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")
