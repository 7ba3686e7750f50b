"""The sidebar: counting in the background, and the actions of its entries."""

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
from plantdesk.ui.page import PagePart
from plantdesk.ui.sidebar.entries import Contents, SavedSearch, SidebarEntry, entries_of
from plantdesk.ui.sidebar.tag_commands import TagCommands
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.texts import quoted, tag_text
from plantdesk.ui.widgets.plain_text import set_disabled_reason


class SidebarFeature(Feature):
    """The sidebar: counts the plants of its entries in the background, and applies what the user does there."""

    #: (term, add) Show the plants of a term, or `add` it to the filters; None: show all plants.
    filter_chosen = Signal(object, bool)
    #: (text) Show a saved search.
    search_chosen = Signal(str)
    #: (tag) Give the selected plants a tag, or none.
    tagging_requested = Signal(object)
    #: (old, new) A tag was renamed, or removed (None).
    renamed = Signal(str, object)
    #: (counts, tags) New counts, and sorted tags.
    counted = Signal(object, object)

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._pane = context.page.sidebar_pane
        self._counters: list[RepeatedQuery] = []
        self._contents = Contents({}, {})
        self._searches: list[SavedSearch] = []
        self._search_counts: dict[str, int] = {}
        self._search_text = ""
        self._pending_key: tuple[object, str] | None = None  # of the entry that becomes current when it is shown
        self._view = SidebarView(context.theme)
        self._tag_commands = TagCommands(context, self)
        self._toggle_action = context.menus.add(Section.VIEW_PANES, self.tr("Ta&gs"), self.toggle, "Ctrl+B")
        self._toggle_action.setCheckable(True)
        self._save_action = context.menus.add(
            Section.EDIT_FIND, self.tr("Sa&ve this search"), self.save_search, "Ctrl+Shift+S"
        )
        self._save_action.setEnabled(False)
        self._midnight = Midnight(self)
        self._connect()
        self._pane.set_content(self._view)
        context.page.add_part(PagePart.SIDEBAR, self._view, self._view.focus_list)
        self._restore()

    def _restore(self) -> None:
        """Show the entries that were saved for this store, until they are counted."""
        remembered = self.context.preferences.of_store(self.context.location.key)
        self._contents = Contents.from_json(remembered.get("known"))
        self._searches = SavedSearch.from_json(remembered.get("searches"))
        collapsed = remembered.get("folded")
        tags = collapsed if isinstance(collapsed, list) else []
        self._view.collapsed_tags = {tag for tag in tags if isinstance(tag, str)}
        self._pane.set_requested(requested=remembered.get("sidebar") is not False)
        self._show_entries()

    @override
    def set_store(self, opened: OpenStore) -> None:
        super().set_store(opened)
        self._tag_commands.store = opened.store
        self._enable_tag_changes()
        self._restore()
        new_worker = self.context.bridge.new_worker
        store = opened.store
        self._counters = [
            RepeatedQuery(
                new_worker("plant-counts"), store, lambda reader, _task: Contents.of(reader.counts()), self._on_counted
            ),
            RepeatedQuery(new_worker("search-counts"), store, self._count_searches, self._on_searches_counted),
        ]
        self._recount()

    @override
    def release_store(self) -> None:
        super().release_store()
        self._view.accept_renaming()
        self.save_view()
        for counter in self._counters:
            counter.close()
        self._counters.clear()
        self._tag_commands.store = None
        self._tag_commands.counts = {}
        self._contents = Contents.from_json(self._contents.to_json())
        self._search_counts = {}
        self._show_entries()

    @override
    def save_view(self) -> None:
        if self._tag_commands.store is not None:
            known = {} if self._contents.counts is None else {"known": self._contents.to_json()}
            self._save_values(sidebar=self._pane.is_requested, folded=sorted(self._view.collapsed_tags), **known)

    @Slot()
    def toggle(self) -> None:
        """Show or hide the sidebar; move the focus to it if it is shown as a drawer."""
        self._pane.toggle()
        if self._pane.is_drawer:
            self._view.focus_list()

    @Slot(str)
    def show_search(self, text: str) -> None:
        """Mark the entries that the present search contains as active."""
        self._search_text = text
        self._save_action.setEnabled(bool(text))
        self._show_entries()

    @Slot()
    def save_search(self) -> None:
        """Save the present search unless it is saved already, and open the editor of its name."""
        if not self._search_text or self._tag_commands.store is None:
            return
        saved = next((search for search in self._searches if search.text == self._search_text), None)
        if saved is None:
            saved = SavedSearch.unnamed(self._search_text, self._searches)
            self._set_searches([*self._searches, saved])
        if not self._pane.isVisible():
            self._pane.toggle()
        self._view.start_renaming(("search", saved.name))

    def set_reachable(self, *, is_reachable: bool, reason: str) -> None:
        """Disable the sidebar for a reason while the store is not reachable."""
        had_focus = self._view.hasFocus()
        set_disabled_reason(self._view, "" if is_reachable else reason)
        if had_focus and not is_reachable:
            self._pane.give_up_focus()

    def _connect(self) -> None:
        self._view.chosen.connect(self._choose_entry)
        self._view.renamed.connect(self._rename)
        self._view.removal_requested.connect(self._remove)
        self._view.menu_requested.connect(self._open_menu)
        self._view.plants_dropped.connect(self.tagging_requested)
        self._view.moved.connect(self._rename_tag)
        self._view.collapsed_tags_changed.connect(self.view_changed)
        self._view.renaming_ended.connect(self._show_entries)
        self._tag_commands.renamed.connect(self._on_tag_renamed)
        self._tag_commands.renamed.connect(self.renamed)
        self._midnight.passed.connect(self._recount)
        self.context.theme.changed.connect(self._update_needed_width)
        self._pane.changed.connect(self._on_pane_changed)
        self.context.bridge.changed.connect(self._recount)
        self.context.bridge.health_changed.connect(self._on_health_changed)

    def _count_searches(self, reader: PlantReader, task: Task) -> dict[str, int]:
        """Return the numbers of plants of the saved searches; on a thread of its own, as each may read all plants."""
        search_counts = {}
        for text in [search.text for search in self._searches]:
            task.raise_if_cancelled()
            search_counts[text] = reader.count_selected(parse_search(text))
        return search_counts

    @Slot()
    def _recount(self) -> None:
        for counter in self._counters:
            counter.run_soon()

    def _on_counted(self, contents: Contents) -> None:
        self._contents = contents
        self._tag_commands.counts = {tag: plants or 0 for tag, plants in contents.tags.items()}
        self.counted.emit(contents.counts, list(contents.tags))
        self._show_entries()

    def _on_searches_counted(self, search_counts: dict[str, int]) -> None:
        self._search_counts = search_counts
        self._show_entries()

    @Slot(object)
    def _on_health_changed(self, error: StoreError | None) -> None:
        self._enable_tag_changes()
        if error is None:
            self._recount()

    def _enable_tag_changes(self) -> None:
        store = self._tag_commands.store
        self._view.can_change_tags = not prevents_changes(None if store is None else store.change_error)

    @Slot()
    def _show_entries(self) -> None:
        if self._view.is_renaming:
            return
        self._view.show_entries(entries_of(self._contents, self._searches, self._search_counts, self._search_text))
        if self._pending_key is not None and self._view.set_current(self._pending_key):
            self._pending_key = None
        self._update_needed_width()

    @Slot(str, object)
    def _on_tag_renamed(self, old: str, new: str | None) -> None:
        """If the current entry has the renamed tag, or one below it, let its new entry be current."""
        current = self._view.current()
        if new is not None and current is not None and is_in_branch(current.tag or "", old):
            self._pending_key = "tag", renamed_with_branch(current.tag or "", old, new) or new

    @Slot()
    def _update_needed_width(self) -> None:
        self._pane.set_needed_width(self._view.needed_width())

    @Slot()
    def _on_pane_changed(self) -> None:
        self._toggle_action.setChecked(self._pane.isVisible())
        self.view_changed.emit()

    @Slot(object, bool)
    def _choose_entry(self, entry: SidebarEntry, add: bool) -> None:
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
        menu.addAction(self.tr("&Show only these"), lambda: self._choose_entry(entry, add=False))
        if entry.children and entry.tag is not None and entry.own_plants:
            text = self.tr("Sho&w only {tag} itself").format(tag=tag_text(entry.tag).replace("&", "&&"))
            menu.addAction(text, partial(self.filter_chosen.emit, HasTag.exactly(entry.tag), False))
        if entry.term is not None:
            text = self.tr("Remove from the fi&lters") if entry.is_active else self.tr("&Add to the filters")
            menu.addAction(text, lambda: self._choose_entry(entry, add=True))
        if self._view.can_rename(entry):
            menu.addSeparator()
            menu.addAction(self.tr("&Rename"), partial(self._view.start_renaming, entry.key)).setShortcut("F2")
            menu.addAction(entry.removal_label, partial(self._remove, entry)).setShortcut("Del")
        menu.popup(position)

    @Slot(object, str)
    def _rename(self, entry: SidebarEntry, name: str) -> None:
        if entry.search is None:
            self._rename_tag(entry.tag or "", name)
        elif name and name != entry.search.name:
            others = [other for other in self._searches if other != entry.search]
            new = entry.search.renamed(name, others)
            self._pending_key = "search", new.name
            self._set_searches([new if other == entry.search else other for other in self._searches])

    @Slot(str, str)
    def _rename_tag(self, tag: str, new: str) -> None:
        if self._contents.counts is not None:
            self._tag_commands.rename(tag, new)

    @Slot(object)
    def _remove(self, entry: SidebarEntry) -> None:
        if entry.search is not None:
            previous_searches = list(self._searches)
            self._set_searches([other for other in self._searches if other != entry.search])
            text = self.tr("Deleted the search {name}.").format(name=quoted(entry.search.name))
            self.context.page.toast.show_message(text, (self.tr("Undo"), lambda: self._set_searches(previous_searches)))
        else:
            self._tag_commands.remove(entry)

    def _set_searches(self, searches: list[SavedSearch]) -> None:
        self._searches = searches
        if self._tag_commands.store is not None:
            self._save_values(searches=[search._asdict() for search in searches])
        self._show_entries()
        self._recount()

    def _save_values(self, **values: object) -> None:
        self.context.preferences.change_store(self.context.location.key, **values)
