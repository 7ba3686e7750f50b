"""Asks the user before a command changes much."""

from __future__ import annotations

import sys

from plantdesk.domain.errors import PlantDeskError


class NotConfirmedError(PlantDeskError):
    """The user did not confirm."""


def confirm(question: str, refusal: str) -> None:
    """Ask `question` on the terminal. Raise NotConfirmedError unless the answer is yes, or where nobody can answer.

    `refusal` says what was not done.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        raise NotConfirmedError(f"{refusal}: no terminal to ask on. Add --yes to do it without asking.")
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:  # also from Windows' NUL, which it takes for a terminal
        raise NotConfirmedError(f"{refusal}: there was no answer. Add --yes to do it without asking.") from None
    if answer.strip().lower() not in {"y", "yes"}:
        raise NotConfirmedError(f"{refusal}.")
