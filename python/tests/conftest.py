"""Each test has a time limit: a hang is a failure with all stacks, not a silence."""
import faulthandler
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    faulthandler.dump_traceback_later(900, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
