"""What the settings remember of the view of each store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plantdesk.ui.plants.table.columns import from_json

if TYPE_CHECKING:
    from plantdesk.domain.locations import StoreLocation
    from plantdesk.ui.plants.browser import PlantBrowser
    from plantdesk.ui.plants.form import PlantForm
    from plantdesk.ui.plants.table.columns import TableLayout
    from plantdesk.ui.preferences import Preferences

#: The characters of the longest id.
_LONGEST_ID = 20


class RememberedView:
    """Restores the view of a store when it is opened, and saves it when it has changed, until the store is closed."""

    def __init__(self, preferences: Preferences, form: PlantForm) -> None:
        self._preferences = preferences
        self._form = form
        self._restored: str | None = None
        self._last_search = ""

    def show_form(self, location: StoreLocation) -> None:
        """Give the form the room that it had, for its first paint."""
        widest_id = self._preferences.of_store(location.key).get("widest_id")
        if isinstance(widest_id, str):
            self._form.make_room(widest_id[:_LONGEST_ID])

    def show_layout(self, location: StoreLocation, browser: PlantBrowser) -> TableLayout:
        """Show columns, order and search as they were, before the store is open; return the layout."""
        values = self._preferences.of_store(location.key)
        layout = from_json(values)
        browser.table.set_table_layout(layout)
        widest_id, has_sources = values.get("widest_id"), values.get("sources") is True
        if isinstance(widest_id, str):
            browser.table.columns.set_contents(widest_id[:_LONGEST_ID], has_sources=has_sources)
            browser.table.set_opening(opening=bool(widest_id))
        browser.search_bar.restore(values)
        self._last_search = browser.search_bar.text
        return layout

    def restore(self, location: StoreLocation, browser: PlantBrowser) -> TableLayout:
        """Show the plants as they were, unless a search was typed already; return the layout."""
        self._restored = location.key
        values = self._preferences.of_store(location.key)
        layout = from_json(values)
        browser.table.set_table_layout(layout)
        if browser.search_bar.text == self._last_search:
            if values.get("search", "") != self._last_search:  # else what Ctrl+F has selected would no longer be
                browser.search_bar.restore(values)
            browser.table.keeper.return_to(values.get("position"))
        if values.get("pinned") is True:
            self._form.tag_field.set_pinned(pinned=True)
        return layout

    def save(self, browser: PlantBrowser) -> None:
        """Remember the view of the open store; until all rows are there, the position stays that of the last start."""
        if self._restored is not None:
            self._last_search = browser.search_bar.text
            position = {"position": browser.table.keeper.position()} if browser.model.complete else {}
            self._preferences.change_store(
                self._restored,
                **browser.table.table_layout().as_json(),
                **browser.search_bar.as_json(),
                widest_id=browser.table.columns.widest_id,
                sources=browser.table.columns.has_sources,
                pinned=self._form.tag_field.is_pinned,
                **position,
            )

    def close(self) -> None:
        """Save nothing until another store is open."""
        self._restored = None
