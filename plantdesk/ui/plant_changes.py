"""Changes of many plants that the window makes: each can be undone, and is reported with its undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from plantdesk.domain.records import FORM, ChangeKind
from plantdesk.ui.texts import error_text, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plantdesk.domain.edits import Applied, Edit
    from plantdesk.domain.protocols import PlantStore
    from plantdesk.domain.records import Change
    from plantdesk.ui.feature import WindowContext


class PlantChanges(QObject):
    """Applies edits to the store, and shows the outcome in the toast."""

    def __init__(self, context: WindowContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context

    def apply(
        self,
        store: PlantStore,
        edits: Sequence[Edit],
        one: str,
        many: str,
        *,
        named: tuple[str, ChangeKind] | tuple[None, None] = (None, None),
        done: Callable[[Change | None], object] | None = None,
        **values: str,
    ) -> None:
        """Make one change of `edits`; `one` and `many` report it, with `{count}` and `values` (see `texts.plural`).

        `named` are its title and kind, by default those of the edits. `done` gets it when it was made, None where it
        changed no plant.
        """
        title, kind = named
        self._context.page.toast.show_progress(self.tr("Changing plants…"))

        def report(applied: Applied) -> None:
            change = applied.change
            if change is None:
                self._context.page.toast.show_message(self.tr("There was nothing to change."))
            else:
                self._context.report_change(change, plural(change.plants, one, many, **values))
            if done is not None:
                done(change)

        self._context.bridge.follow(self, store.apply(edits, FORM, title=title, kind=kind), report, self._on_failed)

    def _on_failed(self, error: Exception) -> None:
        self._context.page.toast.show_problem(error_text(error))
