"""The sidebar of the window: what it shows, how that is counted, and what is done with its entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, QPoint, QStringListModel, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMenu
from typing_extensions import override

from plantdesk.domain.errors import Text, prevents_changes
from plantdesk.domain.folding import natural_key
from plantdesk.domain.search import parse_terms
from plantdesk.domain.selections import HasTag
from plantdesk.domain.tags import is_in_branch, levels, tops
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.event_loop import Midnight
from plantdesk.ui.feature import Feature
from plantdesk.ui.menus import Section
from plantdesk.ui.page import Part
from plantdesk.ui.sidebar.entries import (
    Contents,
    Kind,
    Known,
    SavedSearch,
    SidebarEntry,
    entries_of,
    in_order,
    known_from_json,
    known_of,
    named_search,
    searches_as_json,
    searches_from_json,
    tag_term,
    unused_name,
)
from plantdesk.ui.sidebar.tag_commands import TagCommands, hues_from_json
from plantdesk.ui.sidebar.view import SidebarView
from plantdesk.ui.texts import quoted, shown, tag_text
from plantdesk.ui.widgets.plain_text import allow

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from plantdesk.domain.errors import StoreError
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.domain.protocols import PlantReader, PlantStore
    from plantdesk.ui.background import Task
    from plantdesk.ui.bridge import Bridge
    from plantdesk.ui.feature import OpenStore, WindowContext


_Result = TypeVar("_Result")

_MIN_PAUSE_MS, _MAX_PAUSE_MS, _RETRY_DELAY_MS = 50, 60_000, 2000


class Counter(QObject, Generic[_Result]):
    """Runs one query at a time. Under steady change the pauses are longer than the queries, up to `max_pause_ms`."""

    def __init__(
        self,
        bridge: Bridge,
        store: PlantStore,
        name: str,
        query: Callable[[PlantReader, Task], _Result],
        done: Callable[[_Result], object],
        parent: QObject,
    ) -> None:
        """Run `query` on a thread called `name`; `done` gets its result on the GUI thread."""
        super().__init__(parent)
        self._query = query
        self._done = done
        self.max_pause_ms = _MAX_PAUSE_MS
        self._started_at = 0.0
        self._next_at = 0.0
        self._is_running = False
        self._is_outdated = False
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._ask)
        self._worker = bridge.worker(name)
        self._queries = StoreQueries(self._worker, store)

    @Slot()
    def count_soon(self) -> None:
        """Run the query again soon: plants have changed."""
        self._is_outdated = True
        if not self._is_running and not self._pause.isActive():
            self._pause.start(max(0, round((self._next_at - monotonic()) * 1000)))

    def close(self) -> None:
        """Cancel the query and end the thread; nothing follows."""
        self._pause.stop()
        self._queries.close()
        self._worker.close()

    @Slot()
    def _ask(self) -> None:
        self._is_running, self._is_outdated = True, False
        self._started_at = monotonic()
        self._queries.ask(self, self._query, self._on_counted, self._on_failed)

    def _on_counted(self, result: _Result) -> None:
        took_ms = round((monotonic() - self._started_at) * 1000)
        self._end(max(_MIN_PAUSE_MS, min(2 * took_ms, self.max_pause_ms)))
        self._done(result)

    def _on_failed(self, _error: Exception) -> None:
        """Try again later: `Bridge.health_changed` reports what is wrong with the store."""
        self._is_outdated = True
        self._end(_RETRY_DELAY_MS)

    def _end(self, pause_ms: int) -> None:
        self._is_running = False
        self._next_at = monotonic() + pause_ms / 1000
        if self._is_outdated:
            self._pause.start(pause_ms)


#: The first count of a large store takes long, those after it do not.
_COUNTS_PAUSE_MS = 200

#: Tags that a menu offers.
_MAX_MERGE = 40


class Sidebar(Feature):
    """Counts in the background, and shows the entries.

    `filter_chosen(term, add)`: the plants of a term are requested, with `add` beside those of other filters; None: all.
    `search_chosen(text)`: a saved search is requested. `tagging_requested(tag)`: the selected plants get a tag, or
    none. `renamed(old, new)`: a tag has another name, or None. `counted(counts, tags)`: the counts are
    other ones; the tags are in their order. `left`: it was hidden while it had the focus.
    `export_requested`: the plants that are shown now are to be exported.
    """

    filter_chosen = Signal(object, bool)
    search_chosen = Signal(str)
    tagging_requested = Signal(object)
    renamed = Signal(str, object)
    counted = Signal(object, object)
    left = Signal()
    export_requested = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._store: PlantStore | None = None
        self._counters: list[Counter[Contents] | Counter[dict[str, int]]] = []
        self._contents: Contents | None = None
        self._searches: list[SavedSearch] = []
        self._found: dict[str, int] = {}
        self._folded: set[str] = set()
        self._new_tags: set[str] = set()  # that no plant has yet
        self._search = ""
        self._followed: str | None = None  # the tag whose entry gets the focus
        self._selected = 0
        self._is_shown_for_drag = False
        self._view = SidebarView(context.theme)
        self._tags = TagCommands(context, self)
        self._toggle = context.menus.add(Section.VIEW_PANES, self.tr("Ta&gs"), self.toggle, "Ctrl+B")
        self._toggle.setCheckable(True)
        self._save = context.menus.add(
            Section.EDIT_FIND, self.tr("Sa&ve this search"), self.save_search, "Ctrl+Shift+S"
        )
        self._save.setEnabled(False)
        self._midnight = Midnight(self)
        self._known = Known()
        self._connect()
        context.page.sidebar.set_content(self._view)
        self._show_remembered(context.location)

    @override
    def complete(self) -> None:
        self.context.page.add_part(Part.SIDEBAR, self._view, self._view.focus_list)

    def _show_remembered(self, location: StoreLocation) -> None:
        """Show what the sidebar of a store was, so that nothing comes or goes when the store is counted."""
        remembered = self.context.preferences.of_store(location.key)
        self._known = known_from_json(remembered.get("known"))
        self._searches = searches_from_json(remembered.get("searches"))
        folded = remembered.get("folded")
        self._folded = {tag for tag in folded if isinstance(tag, str)} if isinstance(folded, list) else set()
        self.context.theme.tags.set_chosen(hues_from_json(remembered.get("hues")))
        self.context.page.sidebar.set_requested(requested=remembered.get("sidebar") is not False)
        self._show()

    @override
    def set_store(self, opened: OpenStore) -> None:
        self._store = opened.store
        self._allow_tags()
        self._show_remembered(self.context.location)
        bridge, store = self.context.bridge, opened.store
        counts = Counter(bridge, store, "plant-counts", self._count, self._on_counted, self)
        counts.max_pause_ms = _COUNTS_PAUSE_MS
        searches = Counter(bridge, store, "search-counts", self._count_searches, self._on_searches_counted, self)
        self._counters = [counts, searches]
        self._count_soon()
        self._show()

    @override
    def release_store(self) -> None:
        self._view.accept_renaming()
        self.save_view()
        for counter in self._counters:
            counter.close()
        self._counters.clear()
        self._store = self._contents = None
        self._found = {}
        self._new_tags = set()
        self._show()

    @override
    def save_view(self) -> None:
        if self._store is not None:
            requested = self.context.page.sidebar.is_requested
            known = {} if self._contents is None else {"known": known_of(self._contents)}
            self.context.preferences.change_store(self.context.location.key, sidebar=requested, **known)

    @Slot()
    def toggle(self) -> None:
        """Show or hide the sidebar; where it covers the list, it gets the focus."""
        pane = self.context.page.sidebar
        pane.toggle()
        if pane.is_drawer:
            self._view.focus_list()

    @Slot(bool)
    def show_for_drag(self, started: bool) -> None:
        """Open the sidebar where it is hidden, so that plants can be dropped on a tag; close it afterwards."""
        pane = self.context.page.sidebar
        if started:
            self._is_shown_for_drag = not pane.isVisible()
        if self._is_shown_for_drag and pane.isVisible() is not started:
            pane.toggle()

    @Slot(str)
    def show_search(self, text: str) -> None:
        """Mark the entries of the present search as active."""
        self._search = text
        self._save.setEnabled(bool(text))
        self._view.entries.set_search(text)

    @Slot(int)
    def show_selection(self, count: int) -> None:
        """Offer to give so many selected plants a tag."""
        self._selected = count

    @Slot()
    def save_search(self) -> None:
        """Save the present search, and let the user name it."""
        if not self._search or self._store is None:
            return
        saved = next((each for each in self._searches if each.text == self._search), None)
        if saved is None:
            saved = named_search(self._search, self._searches)
            self._set_searches([*self._searches, saved])
        pane = self.context.page.sidebar
        if not pane.isVisible():
            pane.toggle()
        self._view.start_renaming(SidebarEntry(Kind.SEARCH, saved.name, search=saved).key)

    def _connect(self) -> None:
        self._view.chosen.connect(self._on_chosen)
        self._view.renamed.connect(self._on_entry_renamed)
        self._view.removal_requested.connect(self._remove)
        self._view.menu_requested.connect(self._open_menu)
        self._view.plants_dropped.connect(self._on_plants_dropped)
        self._view.moved.connect(self._rename_tag)
        self._view.folding_requested.connect(self._fold)
        self._view.left.connect(self.left)
        self._view.renaming_ended.connect(self._show)
        self._tags.renaming.connect(self._on_renaming)
        self._tags.renamed.connect(self.renamed)
        self._midnight.passed.connect(self._count_soon)
        self.context.theme.changed.connect(self._make_room)
        self.context.page.sidebar.changed.connect(self._on_pane_changed)
        self.context.page.sidebar.changed.connect(self.view_changed)
        self.context.bridge.changed.connect(self._count_soon)
        self.context.bridge.health_changed.connect(self._on_health_changed)

    # --- counting ---

    def _count(self, reader: PlantReader, _task: Task) -> Contents:
        """Count the plants; on the thread of the counts."""
        before = self._contents
        counts = reader.counts(None if before is None else before.counts)
        return Contents(counts, in_order(tag for tag in counts.tags if tag is not None))

    def _count_searches(self, reader: PlantReader, task: Task) -> dict[str, int]:
        """Count the plants of the saved searches; on a thread of its own, as each may read all plants."""
        from plantdesk.domain.search import parse_search

        found = {}
        for text in [search.text for search in self._searches]:
            if task.cancelled:
                raise InterruptedError
            found[text] = reader.count_selected(parse_search(text))
        return found

    @Slot()
    def _count_soon(self) -> None:
        for counter in self._counters:
            counter.count_soon()

    def _on_counted(self, contents: Contents) -> None:
        if self._contents is None:
            self._tags.forget_colors(contents.counts.tags)
        self._contents = contents
        self.counted.emit(contents.counts, contents.tags)
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
        error = None if self._store is None else self._store.change_error
        self._view.entries.can_change_tags = not prevents_changes(error)

    def set_reachable(self, *, is_reachable: bool, reason: str) -> None:
        """Let filters be chosen and tags be changed, or neither, for a reason."""
        had_focus = self._view.hasFocus()
        allow(self._view, "" if is_reachable else reason)
        if had_focus and not is_reachable:
            self.left.emit()

    @Slot()
    def _show(self) -> None:
        if self._view.is_renaming:
            return
        shown = entries_of(self._with_new_tags(), self._known, self._searches, self._found, self._folded)
        self._view.entries.set_entries(shown)
        if self._followed is not None and self._go_to_tag(self._followed):
            self._followed = None
        self._make_room()

    def _go_to_tag(self, tag: str) -> bool:
        """Make the entry of a tag, which may be a branch, the current one; False where there is none."""
        return any(self._view.go_to((Kind.FILTER, tag_term(tag, is_branch=each))) for each in (False, True))

    def _with_new_tags(self) -> Contents | None:
        if self._contents is None or not self._new_tags:
            return self._contents
        counts = self._contents.counts
        self._new_tags -= counts.tags.keys()
        return Contents(counts, in_order([*self._contents.tags, *self._new_tags]))

    @Slot(object, str)
    def _on_renaming(self, tags: Sequence[str], new: str) -> None:
        """Let the focus follow to the new tag."""
        current = self._view.current()
        if current is not None and current.tag in tags:
            self._follow(new)

    def _follow(self, tag: str) -> None:
        """Let the focus be on a tag when its entry is there, and show it where it is folded away."""
        self._folded -= set(tops(tag))
        self._followed = tag

    @Slot(str, bool, bool)
    def _fold(self, tag: str, folded: bool, whole: bool) -> None:
        """Hide what is below a tag, or show it, where `whole` with all that is below those."""
        before, branches = self._folded, {tag}
        if whole and self._contents is not None:
            branches |= {top for each in self._contents.tags for top in tops(each) if is_in_branch(top, tag)}
        self._folded = before | branches if folded else before - branches
        if self._folded != before:
            if self._store is not None:
                self.context.preferences.change_store(self.context.location.key, folded=sorted(self._folded))
            current = self._view.current()
            self._show()
            if current is not None:
                self._view.go_to(current.key)

    @Slot()
    def _make_room(self) -> None:
        self.context.page.sidebar.set_needed_width(self._view.needed_width())

    # --- entries ---

    @Slot(object, bool)
    def _on_chosen(self, entry: SidebarEntry, add: bool) -> None:
        if entry.search is not None:
            self.search_chosen.emit(entry.search.text)
        else:
            self.filter_chosen.emit(entry.term, add)
        if not add:
            self.context.page.sidebar.close_drawer()

    @Slot(object, QPoint)
    def _open_menu(self, entry: SidebarEntry, position: QPoint) -> None:
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("&Show only these"), lambda: self._on_chosen(entry, add=False))
        if entry.is_branch and entry.tag is not None and entry.own:
            itself = HasTag.just(entry.tag)
            text = self.tr("Sho&w only {tag} itself").format(tag=tag_text(entry.tag).replace("&", "&&"))
            menu.addAction(text, lambda: self.filter_chosen.emit(itself, False))
        if entry.search is None and entry.term is not None:
            is_active = entry.term in parse_terms(self._search)
            text = self.tr("Remove from the fi&lters") if is_active else self.tr("&Add to the filters")
            menu.addAction(text, lambda: self._on_chosen(entry, add=True))
        if entry.takes_plants and self._selected:
            template = Text("Set &for {count:,} selected plants", one="Set &for the selected plant")
            action = menu.addAction(
                shown(template.filled(count=self._selected)), lambda: self._on_plants_dropped(entry)
            )
            action.setEnabled(self._view.entries.can_change_tags)
        if self._view.entries.can_rename(entry):
            menu.addSeparator()
            menu.addAction(self.tr("&Rename"), lambda: self._view.start_renaming(entry.key)).setShortcut("F2")
            if entry.tag is not None:
                self._add_tag_commands(menu, entry, entry.tag)
            remove = self._removal_text(entry)
            menu.addAction(remove, lambda: self._remove(entry)).setShortcut("Del")
        menu.popup(position)

    def _add_tag_commands(self, menu: QMenu, entry: SidebarEntry, tag: str) -> None:
        name = tag_text(tag).replace("&", "&&")
        menu.addAction(self.tr("&New tag in {tag}…").format(tag=name), partial(self._ask_for_new, tag))
        menu.addAction(self.tr("Mo&ve to…"), partial(self._ask_where, tag))
        self._add_merge_menu(menu, entry)
        menu.addMenu(self._tags.color_menu(tag, menu))
        menu.addSeparator()
        if entry.is_branch:
            menu.addAction(self.tr("&Fold all"), partial(self._fold, tag, True, True))
        text = Text("E&xport {count:,} plants…", one="E&xport 1 plant…", count=entry.plants or 0)
        menu.addAction(shown(text), partial(self._export, entry)).setEnabled(bool(entry.plants))

    def _export(self, entry: SidebarEntry) -> None:
        self.filter_chosen.emit(entry.term, False)
        self.export_requested.emit()

    def _ask_for_new(self, above: str) -> None:
        """Ask for a tag below another one; it stays in the sidebar until the window closes, or plants have it."""
        texts = self.tr("New tag in {tag}").format(tag=quoted(above)), self.tr("Name of the new tag"), self.tr("&Make")
        self._ask_for_tag(texts, lambda text: text and f"{above}/{text}", []).connect(self._on_new_tag)

    def _ask_where(self, tag: str) -> None:
        """Ask for the tag below which a branch is moved; none: the top."""
        name, tags = levels(tag)[-1], [] if self._contents is None else self._contents.tags
        title = self.tr("Move {tag}").format(tag=quoted(tag))
        texts = title, self.tr("Below this tag; empty: the top"), self.tr("&Move")
        chosen = self._ask_for_tag(texts, lambda text: f"{text}/{name}" if text else name, tags)
        chosen.connect(partial(self._rename_tag, tag))

    def _ask_for_tag(
        self, texts: tuple[str, str, str], becomes: Callable[[str], str], offered: Sequence[str]
    ) -> SignalInstance:
        from plantdesk.ui.tag_dialog import TagDialog

        dialog = TagDialog(self.context.theme, texts, QStringListModel(offered), self.context.page, becomes)
        dialog.open()
        return dialog.chosen

    def _on_new_tag(self, tag: str) -> None:
        self._new_tags.add(tag)
        self._follow(tag)
        self._show()
        self._view.setFocus()

    def _add_merge_menu(self, menu: QMenu, entry: SidebarEntry) -> None:
        """Offer to merge a branch into its top, else the tags to merge this one into, or all that are filtered by.

        These come first, then the others: the most used ones, all in the order of the alphabet.
        """
        counts, tag = {} if self._contents is None else self._contents.counts.tags, entry.tag or ""
        if entry.is_branch:
            below = [each for each in counts if each and each != tag and is_in_branch(each, tag)]
            if self._store is not None and below:
                merge_all = self.tr("Mer&ge all into {tag}").format(tag=tag_text(tag).replace("&", "&&"))
                menu.addAction(merge_all, partial(self._tags.merge, self._store, below, tag, counts))
            return
        terms = parse_terms(self._search)
        filtered = [each for each in counts if each and HasTag.just(each) in terms]
        merged = filtered if tag in filtered and len(filtered) > 1 else [tag]
        others = [each for each in counts if each and [each] != merged]
        others = sorted(others, key=lambda each: (each not in merged, -counts[each]))[:_MAX_MERGE]
        others.sort(key=lambda each: (each not in merged, natural_key(each)))
        if others and self._store is not None:
            text = Text("Mer&ge {count:,} tags into", one="Mer&ge into", count=len(merged))
            into = menu.addMenu(shown(text))
            for other in others:
                tags = [each for each in merged if each != other]
                merge = partial(self._tags.merge, self._store, tags, other, counts)
                into.addAction(tag_text(other).replace("&", "&&"), merge)

    def _removal_text(self, entry: SidebarEntry) -> str:
        if entry.search is not None:
            return self.tr("&Delete this search")
        return shown(Text("Re&move from {count:,} plants", one="Re&move from 1 plant", count=entry.plants or 0))

    @Slot(object, str)
    def _on_entry_renamed(self, entry: SidebarEntry, name: str) -> None:
        if entry.search is not None:
            self._rename_search(entry.search, name)
        elif entry.tag is not None:
            self._rename_tag(entry.tag, name)

    @Slot(str, str)
    def _rename_tag(self, tag: str, new: str) -> None:
        if tag in self._new_tags:
            self._new_tags.remove(tag)
            self._on_new_tag(new)
        elif self._store is not None and self._contents is not None:
            self._tags.rename(self._store, tag, new, self._contents.counts.tags)

    @Slot(object)
    def _remove(self, entry: SidebarEntry) -> None:
        if entry.search is not None:
            before = list(self._searches)
            self._set_searches([each for each in self._searches if each != entry.search])
            text = self.tr("Deleted the search {name}.").format(name=quoted(entry.search.name))
            self.context.page.toast.show_message(text, (self.tr("Undo"), lambda: self._set_searches(before)))
        elif entry.tag in self._new_tags:
            self._new_tags.remove(entry.tag)
            self._show()
        elif entry.tag is not None and self._store is not None:
            self._tags.remove(self._store, entry.tag, branch=entry.is_branch)

    @Slot(object)
    def _on_plants_dropped(self, entry: SidebarEntry) -> None:
        self.tagging_requested.emit(entry.tag)

    def _rename_search(self, search: SavedSearch, name: str) -> None:
        if name and name != search.name:
            others = [each for each in self._searches if each != search]
            new = SavedSearch(unused_name(name, others), search.text)
            self._set_searches([new if each == search else each for each in self._searches])

    def _set_searches(self, searches: list[SavedSearch]) -> None:
        self._searches = searches
        if self._store is not None:
            self.context.preferences.change_store(self.context.location.key, searches=searches_as_json(searches))
        self._show()
        self._count_soon()

    @Slot()
    def _on_pane_changed(self) -> None:
        self._toggle.setChecked(self.context.page.sidebar.isVisible())
