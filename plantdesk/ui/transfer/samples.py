"""The sample plants of an empty store: added as one import, and removed by an info bar."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Slot
from typing_extensions import override

from plantdesk.domain.edits import Applied
from plantdesk.domain.history import Change
from plantdesk.domain.protocols import PlantReader, PlantStore
from plantdesk.domain.records import Source, SourceKind
from plantdesk.domain.selections import AddedBy, Counts, Selection, View
from plantdesk.domain.texts import Text
from plantdesk.ui.background import Task
from plantdesk.ui.feature import Feature, WindowContext
from plantdesk.ui.texts import SAMPLES, translated
from plantdesk.ui.widgets.messages import Tone


class SamplesFeature(Feature):
    """Adds sample plants, and shows a bar that removes the unchanged ones, until the user closes it for this store."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._task: Task | None = None
        self._bar = context.page.add_bar()
        self._bar.closed.connect(self._on_closed)
        self._shown_texts: list[str] = []

    @override
    def release_store(self) -> None:
        super().release_store()
        if self._task is not None:
            self._task.cancel()
            self._task.wait()
            self._task = None
        self._hide_bar()

    @Slot()
    def add(self) -> None:
        """Add the sample plants in the background, as one import."""
        if self.opened is not None and self._task is None:
            store = self.opened.store
            rows = self._make_rows()
            self.context.preferences.change_store(self.context.location.key, samples_closed=False)
            self._task = self.context.bridge.long_tasks.run(
                self, lambda _task: _import_samples(store, rows), self._on_added, self._on_failed
            )

    @Slot(object)
    def show_counts(self, counts: Counts) -> None:
        """Offer to remove the samples as long as there are some, and their import is not undone."""
        sources = [(source, plants) for source, plants in counts.sources.items() if plants and _is_samples(source)]
        is_closed = self.context.preferences.of_store(self.context.location.key).get("samples_closed") is True
        if not sources or is_closed or self.opened is None:
            self._hide_bar()
            return
        (source, plants), *_ = sources
        read = partial(_read_latest_import, source=source, plants=len(self._make_rows()))
        self.opened.queries.run(self, read, partial(self._show_bar, plants))

    def _show_bar(self, plants: int, latest: tuple[Change, int] | None) -> None:
        """Offer to remove the samples that the user has not changed; hide the bar if there are none."""
        change, changed = latest or (None, 0)
        if change is None or not change.can_undo or plants == changed:
            self._hide_bar()
            return
        stay = Text("{count:,} that you changed stay.", one="1 that you changed stays.", count=changed)
        details = [self.tr("Search, sort, edit and delete as you like. Yours stay when the samples go.")]
        details += [translated(stay)] if changed else []
        text = Text("Remove {count:,} sample plants", one="Remove 1 sample plant", count=plants - changed)
        label = translated(text)
        remove = partial(self.context.undo_stack.revert, change)
        if [label, *details] != self._shown_texts:
            self._shown_texts = [label, *details]
            self._bar.show_state(Tone.INFO, self.tr("These are sample plants."), " ".join(details), (label, remove))

    def _hide_bar(self) -> None:
        self._shown_texts = []
        self._bar.clear()

    @Slot()
    def _on_closed(self) -> None:
        self.context.preferences.change_store(self.context.location.key, samples_closed=True)

    def _on_added(self, applied: Applied) -> None:
        self._task = None
        if applied.change is not None:
            self.context.undo_stack.push(applied.change)

    def _on_failed(self, error: Exception) -> None:
        self._task = None
        self.context.page.toast.show_error(error)

    def _make_rows(self) -> list[tuple[str, str | None]]:
        """Return names and tags, in the order in which they are added."""
        bed_2 = self.tr("bed 2")
        bed_4 = self.tr("bed 4")
        frame = self.tr("cold frame")
        greenhouse = self.tr("greenhouse")
        kitchen = self.tr("kitchen")
        living_room = self.tr("living room")
        orchids = self.tr("orchids")
        propagation = self.tr("propagation")
        return [
            ("Achillea millefolium ‘Paprika’", bed_2),
            ("Capsicum annuum ‘Jalapeño’", greenhouse),
            ("Ficus lyrata", living_room),
            ("Thymus vulgaris", kitchen),
            ("Salvia rosmarinus", kitchen),
            ("Crocosmia × crocosmiiflora ‘Emily McKenzie’", bed_4),
            ("Begonia rex ‘Escargot’", living_room),
            ("Lavandula angustifolia ‘Hidcote’", bed_2),
            ("Solanum lycopersicum ‘Black Krim’", greenhouse),
            ("Acer palmatum ‘Osakazuki’", None),
            ("Paphiopedilum rothschildianum", orchids),
            ("Digitalis × mertonensis", propagation),
            ("Ocimum basilicum ‘Genovese’", kitchen),
            ("Phalaenopsis amabilis", orchids),
            ("Monstera deliciosa", living_room),
            ("Helleborus × hybridus", frame),
            ("Mentha × piperita ‘Chocolate’", kitchen),
            ("Echinacea purpurea ‘Magnus’", propagation),
            ("Salvia nemorosa ‘Ostfriesland’", bed_4),
            ("Salvia nemorosa ‘Caradonna’", bed_4),
        ]


def _is_samples(source: Source) -> bool:
    return source.kind is SourceKind.IMPORT and source.label == SAMPLES


def _import_samples(store: PlantStore, rows: list[tuple[str, str | None]]) -> Applied:
    """Add the samples under the next free ids. Raises StoreError and OSError."""
    from plantdesk.domain.imports import ImportRow, OnConflict

    plant_import = store.new_import()
    try:
        plant_import.add([ImportRow(1, line, None, name, tag, None) for line, (name, tag) in enumerate(rows, 1)])
        plant_import.compare(OnConflict.REFUSE, {"tag"})
        return plant_import.apply(SAMPLES)
    finally:
        plant_import.close()


def _read_latest_import(reader: PlantReader, _task: Task, source: Source, plants: int) -> tuple[Change, int] | None:
    """Return the latest import of this number of samples, and how many of them were changed since."""
    entry = next(iter(reader.history_entries(1, source=source)), None)
    if entry is None or entry.change.plants != plants:  # it may be the import of a file
        return None
    view = View(Selection.of(AddedBy(source.kind, source.label)))
    ids = [plant_id for chunk in reader.ids(view) for plant_id in chunk]
    return entry.change, sum(row.version != entry.change.number for row in reader.rows(ids).values())
