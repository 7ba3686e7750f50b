"""The sidebar of the window: what it shows, how that is counted, and what is done with its entries."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QMenu
from typing_extensions import override

from plantdesk.domain.errors import StoreError, prevents_changes
from plantdesk.domain.protocols import PlantReader
from plantdesk.domain.search import parse_search
from plantdesk.domain.selections import HasTag
from plantdesk.domain.tags import is_in_branch, renamed_with_branch
from plantdesk.ui.background import RepeatedQuery, Task
from plantdesk.ui.event_loop import Midnight
from plantdesk.ui.feature import Feature, OpenStore, WindowContext
from plantdesk.ui.menus import Section
from plantdesk.ui.page import Part
from plantdesk.ui.sidebar.entries import Contents, SavedSearch, SidebarEntry, entries_of
from plantdesk.ui.sidebar.tag_commands import TagCommands
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.texts import quoted, tag_text
from plantdesk.ui.widgets.plain_text import set_disabled_reason


class Sidebar(Feature):
    """Counts in the background, and shows the entries.

    `filter_chosen(term, add)`: the plants of a term are requested, with `add` in addition to other filters; None: all.
    `search_chosen(text)`: a saved search is requested. `tagging_requested(tag)`: the selected plants get a tag, or
    none. `renamed(old, new)`: a tag has another name, or was removed (None). `counted(counts, tags)`: the counts
    have changed; the tags are in their order.
    """

    filter_chosen = Signal(object, bool)
    search_chosen = Signal(str)
    tagging_requested = Signal(object)
    renamed = Signal(str, object)
    counted = Signal(object, object)

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._pane = context.page.sidebar
        self._counters: list[RepeatedQuery] = []
        self._contents = Contents({}, {})
        self._searches: list[SavedSearch] = []
        self._found: dict[str, int] = {}
        self._search = ""
        self._followed: tuple[object, str] | None = None  # the key of the entry that becomes the current one
        self._view = SidebarView(context.theme)
        self._tags = TagCommands(context, self)
        self._toggle = context.menus.add(Section.VIEW_PANES, self.tr("Ta&gs"), self.toggle, "Ctrl+B")
        self._toggle.setCheckable(True)
        self._save = context.menus.add(
            Section.EDIT_FIND, self.tr("Sa&ve this search"), self.save_search, "Ctrl+Shift+S"
        )
        self._save.setEnabled(False)
        self._midnight = Midnight(self)
        self._connect()
        self._pane.set_content(self._view)
        context.page.add_part(Part.SIDEBAR, self._view, self._view.focus_list)
        self._show_remembered()

    def _show_remembered(self) -> None:
        """Show what the sidebar of a store was, so that none appears or disappears when the store is counted."""
        remembered = self.context.preferences.of_store(self.context.location.key)
        self._contents = Contents.from_json(remembered.get("known"))
        self._searches = SavedSearch.from_json(remembered.get("searches"))
        folded = remembered.get("folded")
        self._view.folded = {tag for tag in folded if isinstance(tag, str)} if isinstance(folded, list) else set()
        self._pane.set_requested(requested=remembered.get("sidebar") is not False)
        self._show()

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._tags.store = opened.store
        self._allow_tags()
        self._show_remembered()
        worker, store = self.context.bridge.worker, opened.store
        self._counters = [
            RepeatedQuery(
                worker("plant-counts"), store, lambda reader, _task: Contents.of(reader.counts()), self._on_counted
            ),
            RepeatedQuery(worker("search-counts"), store, self._count_searches, self._on_searches_counted),
        ]
        self._count_soon()

    @override
    def release_store(self) -> None:
        super().release_store()
        self._view.accept_renaming()
        self.save_view()
        for counter in self._counters:
            counter.close()
        self._counters.clear()
        self._tags.store, self._tags.counts = None, {}
        self._contents = Contents.from_json(self._contents.as_json())
        self._found = {}
        self._show()

    @override
    def save_view(self) -> None:
        if self._tags.store is not None:
            known = {} if self._contents.counts is None else {"known": self._contents.as_json()}
            self._remember(sidebar=self._pane.is_requested, folded=sorted(self._view.folded), **known)

    @Slot()
    def toggle(self) -> None:
        """Show or hide the sidebar; if it covers the list, it gets the focus."""
        self._pane.toggle()
        if self._pane.is_drawer:
            self._view.focus_list()

    @Slot(str)
    def show_search(self, text: str) -> None:
        """Mark the entries of the present search as active."""
        self._search = text
        self._save.setEnabled(bool(text))
        self._show()

    @Slot()
    def save_search(self) -> None:
        """Save the present search, and let the user name it."""
        if not self._search or self._tags.store is None:
            return
        if not (saved := next((each for each in self._searches if each.text == self._search), None)):
            saved = SavedSearch.unnamed(self._search, self._searches)
            self._set_searches([*self._searches, saved])
        if not self._pane.isVisible():
            self._pane.toggle()
        self._view.start_renaming(("search", saved.name))

    def set_reachable(self, *, is_reachable: bool, reason: str) -> None:
        """Allow choosing filters and changing tags, or neither, for a reason."""
        had_focus = self._view.hasFocus()
        set_disabled_reason(self._view, "" if is_reachable else reason)
        if had_focus and not is_reachable:
            self._pane.leave()

    def _connect(self) -> None:
        self._view.chosen.connect(self._on_chosen)
        self._view.renamed.connect(self._rename)
        self._view.removal_requested.connect(self._remove)
        self._view.menu_requested.connect(self._open_menu)
        self._view.plants_dropped.connect(self.tagging_requested)
        self._view.moved.connect(self._rename_tag)
        self._view.folded_changed.connect(self.view_changed)
        self._view.renaming_ended.connect(self._show)
        self._tags.renamed.connect(self._on_tag_renamed)
        self._tags.renamed.connect(self.renamed)
        self._midnight.passed.connect(self._count_soon)
        self.context.theme.changed.connect(self._make_room)
        self._pane.changed.connect(self._on_pane_changed)
        self.context.bridge.changed.connect(self._count_soon)
        self.context.bridge.health_changed.connect(self._on_health_changed)

    # --- counting ---

    def _count_searches(self, reader: PlantReader, task: Task) -> dict[str, int]:
        """Count the plants of the saved searches; runs on a thread of its own, as each may read all plants."""
        found = {}
        for text in [search.text for search in self._searches]:
            if task.cancelled:
                raise InterruptedError
            found[text] = reader.count_selected(parse_search(text))
        return found

    @Slot()
    def _count_soon(self) -> None:
        for counter in self._counters:
            counter.run_soon()

    def _on_counted(self, contents: Contents) -> None:
        self._contents = contents
        self._tags.counts = {tag: plants or 0 for tag, plants in contents.tags.items()}
        self.counted.emit(contents.counts, list(contents.tags))
        self._show()

    def _on_searches_counted(self, found: dict[str, int]) -> None:
        self._found = found
        self._show()

    @Slot(object)
    def _on_health_changed(self, error: StoreError | None) -> None:
        self._allow_tags()
        if error is None:
            self._count_soon()

    def _allow_tags(self) -> None:
        store = self._tags.store
        self._view.can_change_tags = not prevents_changes(None if store is None else store.change_error)

    # --- showing ---

    @Slot()
    def _show(self) -> None:
        if self._view.is_renaming:
            return
        self._view.show_entries(entries_of(self._contents, self._searches, self._found, self._search))
        if self._followed is not None and self._view.go_to(self._followed):
            self._followed = None
        self._make_room()

    @Slot(str, object)
    def _on_tag_renamed(self, old: str, new: str | None) -> None:
        """Move the focus to the new tag."""
        current = self._view.current()
        if new is not None and current is not None and is_in_branch(current.tag or "", old):
            self._followed = "tag", renamed_with_branch(current.tag or "", old, new) or new

    @Slot()
    def _make_room(self) -> None:
        self._pane.set_needed_width(self._view.needed_width())

    @Slot()
    def _on_pane_changed(self) -> None:
        self._toggle.setChecked(self._pane.isVisible())
        self.view_changed.emit()

    # --- entries ---

    @Slot(object, bool)
    def _on_chosen(self, entry: SidebarEntry, add: bool) -> None:
        if entry.search is not None:
            self.search_chosen.emit(entry.search.text)
        else:
            self.filter_chosen.emit(entry.term, add)
        if not add:
            self._pane.close_drawer()

    @Slot(object, QPoint)
    def _open_menu(self, entry: SidebarEntry, position: QPoint) -> None:
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("&Show only these"), lambda: self._on_chosen(entry, add=False))
        if entry.children and entry.tag is not None and entry.own_plants:
            text = self.tr("Sho&w only {tag} itself").format(tag=tag_text(entry.tag).replace("&", "&&"))
            menu.addAction(text, partial(self.filter_chosen.emit, HasTag.exactly(entry.tag), False))
        if entry.term is not None:
            text = self.tr("Remove from the fi&lters") if entry.is_active else self.tr("&Add to the filters")
            menu.addAction(text, lambda: self._on_chosen(entry, add=True))
        if self._view.can_rename(entry):
            menu.addSeparator()
            menu.addAction(self.tr("&Rename"), partial(self._view.start_renaming, entry.key)).setShortcut("F2")
            menu.addAction(entry.removal_text, partial(self._remove, entry)).setShortcut("Del")
        menu.popup(position)

    @Slot(object, str)
    def _rename(self, entry: SidebarEntry, name: str) -> None:
        if entry.search is None:
            self._rename_tag(entry.tag or "", name)
        elif name and name != entry.search.name:
            others = [each for each in self._searches if each != entry.search]
            new = entry.search.renamed(name, others)
            self._followed = "search", new.name
            self._set_searches([new if each == entry.search else each for each in self._searches])

    @Slot(str, str)
    def _rename_tag(self, tag: str, new: str) -> None:
        if self._contents.counts is not None:
            self._tags.rename(tag, new)

    @Slot(object)
    def _remove(self, entry: SidebarEntry) -> None:
        if entry.search is not None:
            before = list(self._searches)
            self._set_searches([each for each in self._searches if each != entry.search])
            text = self.tr("Deleted the search {name}.").format(name=quoted(entry.search.name))
            self.context.page.toast.show_message(text, (self.tr("Undo"), lambda: self._set_searches(before)))
        else:
            self._tags.remove(entry)

    def _set_searches(self, searches: list[SavedSearch]) -> None:
        self._searches = searches
        if self._tags.store is not None:
            self._remember(searches=[search._asdict() for search in searches])
        self._show()
        self._count_soon()

    def _remember(self, **values: object) -> None:
        self.context.preferences.change_store(self.context.location.key, **values)
