from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from plantdesk.ui.platform.unix_signals import quit_on_signals

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


@pytest.mark.parametrize("ignored", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_that_is_ignored_at_the_start_stays_so(ignored: signal.Signals, qapp: QApplication) -> None:
    before = signal.signal(ignored, signal.SIG_IGN)
    try:
        with quit_on_signals(qapp.quit):
            assert signal.getsignal(ignored) is signal.SIG_IGN
        assert signal.getsignal(ignored) is signal.SIG_IGN
    finally:
        signal.signal(ignored, before)
