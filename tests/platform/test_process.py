"""Signals as bytes of a socket."""

import signal
import threading

import pytest

from plantdesk.platform.process import STOP_SIGNALS, signal_socket


@pytest.mark.parametrize("number", STOP_SIGNALS, ids=lambda number: number.name)
def test_a_signal_that_comes_before_the_wait_ends_it(number: signal.Signals) -> None:
    with signal_socket(*STOP_SIGNALS) as received:
        received.settimeout(20)
        signal.raise_signal(number)
        assert received.recv(1) == bytes([number])


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="POSIX sends signals to threads")
def test_a_signal_that_another_thread_gets_ends_the_wait_of_the_main_thread() -> None:
    """Python would run a handler on the main thread when that runs again: a wait in a queue never ends."""

    def interrupt() -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    with signal_socket(*STOP_SIGNALS) as received:
        received.settimeout(20)
        thread = threading.Timer(0.05, interrupt)
        thread.start()
        assert received.recv(1) == bytes([signal.SIGTERM])
        thread.join()


def test_handlers_and_the_wakeup_descriptor_are_as_before_afterwards() -> None:
    before = [signal.getsignal(number) for number in STOP_SIGNALS]
    with signal_socket(*STOP_SIGNALS):
        assert [signal.getsignal(number) for number in STOP_SIGNALS] != before
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before
    assert signal.set_wakeup_fd(-1) == -1
