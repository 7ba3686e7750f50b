"""What is remembered of the plants of each store: layout and position of the table, the search, what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.ui.plants.table.columns import TableLayout, from_json

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.ui.plants.browser import PlantBrowser
    from plantdesk.ui.plants.form import PlantForm
    from plantdesk.ui.plants.unsaved_plants import UnsavedPlants
    from plantdesk.ui.preferences import Preferences


#: The characters of the longest id.
_LONGEST_ID = 20
#: More characters of a source than there is room for.
_LONGEST_SOURCE = 100


class RememberedView:
    """Restores the view of a store when it is opened, and saves it when it is closed."""

    def __init__(self, preferences: Preferences, form: PlantForm, unsaved: UnsavedPlants) -> None:
        self._preferences = preferences
        self._form = form
        self._unsaved = unsaved
        self._unsaved_of: str | None = None
        self._restored: str | None = None
        self._last_search = ""

    def show_form(self, location: StoreLocation) -> None:
        """Give the form the room that it had, for its first paint."""
        widest_id = self._preferences.of_store(location.key).get("widest_id")
        if isinstance(widest_id, str):
            self._form.make_room(widest_id[:_LONGEST_ID])

    def restore_unsaved(self, location: StoreLocation) -> None:
        """List the plants that an earlier window could not save in this store; those of this window go along."""
        if location.key != self._unsaved_of:
            if self._unsaved_of is not None:
                self._preferences.change_store(self._unsaved_of, unsaved=[])
            self._unsaved_of = location.key
            self._unsaved.restore(self._preferences.of_store(location.key).get("unsaved"))

    def save_unsaved(self) -> None:
        """Remember the plants that are not saved."""
        if self._unsaved_of is not None:
            values = self._unsaved.as_json()
            if values or "unsaved" in self._preferences.of_store(self._unsaved_of):
                self._preferences.change_store(self._unsaved_of, unsaved=values)

    def show_layout(self, location: StoreLocation, browser: PlantBrowser) -> TableLayout:
        """Show columns, order and search as they were, before the store is open; return the layout."""
        values = self._preferences.of_store(location.key)
        layout = from_json(values)
        browser.table.set_table_layout(layout)
        widest_id, has_sources = values.get("widest_id"), values.get("sources") is True
        if isinstance(widest_id, str):
            browser.table.columns.set_contents(widest_id[:_LONGEST_ID], has_sources=has_sources)
            browser.table.set_opening(opening=bool(widest_id))
        if isinstance(source := values.get("widest_source"), str) and source:
            browser.table.columns.set_sources([source[:_LONGEST_SOURCE]])
        search = values.get("search")
        self._last_search = search if isinstance(search, str) else ""
        browser.search_bar.set_search(self._last_search)
        return layout

    def restore(self, location: StoreLocation, browser: PlantBrowser) -> TableLayout:
        """Show the plants as they were, unless a search was typed already, and what was typed; return the layout."""
        self._restored = location.key
        values = self._preferences.of_store(location.key)
        layout = from_json(values)
        browser.table.set_table_layout(layout)
        if browser.search_bar.text == self._last_search:
            search = values.get("search")
            browser.search_bar.set_search(search if isinstance(search, str) else "")
            browser.table.keeper.return_to(values.get("position"))
        draft = values.get("draft")
        if isinstance(draft, list) and all(isinstance(text, str) for text in draft):
            self._form.restore(draft)
        if values.get("pinned") is True:
            self._form.tag_field.set_pinned(pinned=True)
        return layout

    def save(self, location: StoreLocation, browser: PlantBrowser) -> None:
        """Remember the view, once for each store that was opened; for one that was not, what was typed."""
        draft = list(self._form.texts) if self._form.name_text or self._form.id_text else []
        if draft:
            self._unsaved.edited = None  # it is in the form
        self.save_unsaved()
        if self._restored is None:
            if any(draft):
                self._preferences.change_store(location.key, draft=draft)
        else:
            self._last_search = browser.search_bar.text
            self._preferences.change_store(
                self._restored,
                **browser.table.table_layout().as_json(),
                search=self._last_search,
                widest_id=browser.table.columns.widest_id,
                sources=browser.table.columns.has_sources,
                widest_source=browser.table.columns.widest_source,
                position=browser.table.keeper.position(),
                draft=draft,
                pinned=self._form.tag_field.is_pinned,
            )
            self._restored = None
