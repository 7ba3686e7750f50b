"""Questions to the user: for a tag, before closing, before undoing a change of others, and about two versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QStringListModel, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from plantdesk.domain.edits import Insert, Update
from plantdesk.domain.errors import InvalidPlantError
from plantdesk.domain.history import Change
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.records import PlantRow
from plantdesk.domain.tags import tag_from_input
from plantdesk.domain.texts import shortened
from plantdesk.ui.background import StoreQueries
from plantdesk.ui.feature import Feature, WindowContext
from plantdesk.ui.page import PagePart
from plantdesk.ui.texts import error_text, one_line, quoted, translate, translated
from plantdesk.ui.theme.metrics import S
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.dialog import START_ROLE, ButtonRole, Dialog, MessageBox
from plantdesk.ui.widgets.fields import LineEdit
from plantdesk.ui.widgets.messages import InfoBar, MessageLine, Tone
from plantdesk.ui.widgets.offers import TagCompleter
from plantdesk.ui.widgets.plain_text import PlainLabel

Answer = Callable[[], object]
_WIDTH = 420


class TagDialog(Dialog):
    """Asks for a tag, with completions. Its button is disabled while the field is empty."""

    #: (tag) The user has entered a valid tag; None: no tag.
    chosen = Signal(object)

    def __init__(
        self, theme: Theme, texts: tuple[str, str, str], tags: QStringListModel, parent: QWidget | None = None
    ) -> None:
        """`texts` are the title, the label of the field and the button; `tags` are offered as completions."""
        title, label, button = texts
        super().__init__(title, parent)
        self._edit = LineEdit()
        self._edit.setCompleter(TagCompleter(tags, self))
        self._message = MessageLine(theme)
        self._label = PlainLabel(label, buddy=self._edit)
        self._button = self.add_primary(button, self._on_accepted)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._edit.textChanged.connect(self._on_text_changed)
        self._edit.returnPressed.connect(self._button.click)  # does nothing while there is no tag
        self._on_text_changed()
        self.arrange(self._label, self._edit, self._message, spacing=S)
        self.setMinimumWidth(_WIDTH)
        self._edit.setFocus()

    def add_removal(self, text: str) -> None:
        """Add a button that emits `chosen` with None."""
        self.buttons.addButton(text, START_ROLE).clicked.connect(self._on_removed)

    def _read_tag(self) -> str:
        return tag_from_input(self._edit.text())

    @Slot()
    def _on_text_changed(self) -> None:
        self._button.setEnabled(bool(self._read_tag()))
        self._message.clear()

    @Slot()
    def _on_removed(self) -> None:
        self.chosen.emit(None)
        self.accept()

    @Slot()
    def _on_accepted(self) -> None:
        from plantdesk.domain.validation import plant_fields

        tag = self._read_tag()
        try:
            plant_fields({"name": "", "tag": tag})
        except InvalidPlantError as error:
            self._message.show_message(Tone.ERROR, error_text(error))
        else:
            self.chosen.emit(tag)
            self.accept()


def confirm_undo(context: WindowContext, store: PlantStore, change: Change, window: QWidget, undo: Answer) -> None:
    """Call `undo` now, or if another computer has made the change, when the user confirms it."""
    if change.desk in {"", store.desk}:
        undo()
        return
    title = translate("UndoQuestion", "{desk} made this change. Undo it for all computers?")
    box = MessageBox(
        context.theme,
        translate("UndoQuestion", "History"),
        title.format(desk=one_line(shortened(change.desk))),
        one_line(translated(change.title)),
        window,
    )
    box.add_button(translate("UndoQuestion", "&Undo it")).clicked.connect(undo)
    box.add_button(translate("UndoQuestion", "&Leave it"), ButtonRole.RejectRole)
    box.open()


class CloseQuestion(QObject):
    """Decides whether the window may close, and asks the user if closing would cancel work or leave plants unsaved.

    While the question is open, the window closes as soon as nothing prevents it, unless a dialog or a persistent toast
    reports a problem of the work that has ended.
    """

    #: Close the window: the user wants it, or nothing prevents it any more.
    confirmed = Signal()

    def __init__(self, window: QWidget, context: WindowContext, features: Sequence[Feature]) -> None:
        super().__init__(window)
        self._window = window
        self._context = context
        self._features = features
        self._box: MessageBox | None = None
        for feature in features:
            # Queued: the feature shows its message first.
            feature.close_unblocked.connect(self._on_close_unblocked, Qt.ConnectionType.QueuedConnection)

    def may_close_store(self) -> bool:
        """Write unsaved input to disk and return True; while work runs, show why not, and return False."""
        if running_text := self._running_text():
            title = self.tr("Wait until this is done, or cancel it.")
            box = MessageBox(self._context.theme, "PlantDesk", title, running_text, self._window)
            box.add_button(self.tr("&Keep open"), ButtonRole.RejectRole)
            box.open()
        else:
            self._remember_unsaved()
        return not running_text

    def may_close(self) -> bool:
        """Write unsaved input to disk; return whether the window may close, else ask the user."""
        running_text = self._running_text()
        unsaved = self._remember_unsaved()
        if running_text:
            title = self.tr("Close PlantDesk and cancel this?")
            self._ask(title, running_text, self.tr("&Cancel it and close"), self.tr("&Keep open"))
        elif unsaved:
            text, confirm_label = self._unsaved_texts()
            show = partial(self._context.page.focus_part, PagePart.UNSAVED)
            self._ask(unsaved, text, confirm_label, self.tr("&Show"), show)
        return not running_text and not unsaved

    def _unsaved_texts(self) -> tuple[str, str]:
        """Return the consequence of closing for unsaved plants, and the label of the button that closes."""
        if not self._context.preferences.keeps_unsaved:
            text = self.tr(
                "What you typed cannot be remembered: the settings file cannot be written. The disk may be full."
            )
            return text, self.tr("&Close and discard")
        text = self.tr("PlantDesk remembers what you typed, and lists it when it is opened again.")
        if self._context.location.server is not None:
            text = self.tr("They wait on this computer, and are sent to the server when PlantDesk is opened again.")
        return text, self.tr("&Close and keep")

    def _ask(self, title: str, text: str, confirm: str, stay: str, on_stay: Answer | None = None) -> None:
        """Ask, unless a question is open; `confirm` and `stay` are the labels of the two buttons."""
        if self._is_open():
            return
        box = self._box = MessageBox(self._context.theme, "PlantDesk", title, text, self._window)
        box.add_button(confirm).clicked.connect(self.confirmed)
        stay_button = box.add_button(stay, ButtonRole.RejectRole)
        if on_stay is not None:
            stay_button.clicked.connect(on_stay)
        box.open()

    @Slot()
    def _on_close_unblocked(self) -> None:
        if self._box is not None and self._is_open() and not (self._running_text() or self._remember_unsaved()):
            self._box.reject()
            if not self._context.page.toast.is_persistent and QApplication.activeModalWidget() is None:
                self.confirmed.emit()

    def _is_open(self) -> bool:
        return self._box is not None and isValid(self._box) and self._box.isVisible()

    def _running_text(self) -> str:
        return " ".join(filter(None, (feature.running_text for feature in self._features)))

    def _remember_unsaved(self) -> str:
        return " ".join(filter(None, [feature.remember_unsaved() for feature in self._features]))


class ConflictQuestion(QObject):
    """Asks which version of a plant to keep. It has its own bar, so that no message replaces the question."""

    #: Drop the user's version.
    discarded = Signal()
    #: A button was clicked, and its action has begun.
    answered = Signal()

    def __init__(self, context: WindowContext, changed: str, deleted: str, parent: QObject) -> None:
        """`changed` and `deleted` are titles of the questions, with `{name}` for the name of the plant."""
        super().__init__(parent)
        self._context = context
        self._changed = changed
        self._deleted = deleted
        self._bars: list[InfoBar] = []

    @property
    def is_open(self) -> bool:
        """Whether a question is shown that the user has not answered."""
        return bool(self._bars)

    def read(self, queries: StoreQueries, row: PlantRow, mine: str, done: Callable[[PlantRow | None], object]) -> None:
        """Read the plant for `done` (None: deleted). If it fails, ask to try again or to drop `mine`."""
        retry = partial(self.read, queries, row, mine, done)

        def ask(error: Exception) -> None:
            title = self.tr("{name} was changed elsewhere and cannot be read now")
            actions = (self.tr("Try again"), retry), (self.tr("Discard mine"), self.discarded.emit)
            self._ask(title, row, f"{error_text(error)}\n{self._own_version_text(mine)}", *actions)

        queries.run(self, lambda reader, _task: reader.plant(row.id), done, ask)

    def ask_about_changed(self, current: PlantRow, mine: str, theirs: str, keep: Answer) -> None:
        """Ask which version to keep: `theirs` in the store, or `mine`, which `keep` saves."""
        text = f"{self._own_version_text(mine)}\n{self.tr('Theirs: {theirs}').format(theirs=theirs)}"
        take_theirs = self.tr("Take theirs"), self.discarded.emit
        self._ask(self._changed, current, text, (self.tr("Keep mine"), keep), take_theirs)

    def ask_about_deleted(self, row: PlantRow, mine: str, add: Answer) -> None:
        """Ask whether to add the deleted plant again, as in `mine`; `add` does it."""
        actions = (self.tr("Add it again"), add), (self.tr("Leave it deleted"), self.discarded.emit)
        self._ask(self._deleted, row, self._own_version_text(mine), *actions)

    def close(self) -> None:
        """Remove the question without an answer."""
        while self._bars:
            self._close_bar(self._bars[-1])

    def _ask(self, title: str, row: PlantRow, text: str, *actions: tuple[str, Answer]) -> None:
        bar = self._context.page.add_bar()
        self._bars.append(bar)
        answers = [(label, partial(self._answer, bar, action)) for label, action in actions]
        bar.show_state(Tone.WARNING, title.format(name=quoted(row.name)), text, *answers, persistent=True)

    def _answer(self, bar: InfoBar, action: Answer) -> None:
        self._close_bar(bar)
        action()
        self.answered.emit()

    def _close_bar(self, bar: InfoBar) -> None:
        self._bars.remove(bar)
        bar.clear()
        bar.deleteLater()

    def _own_version_text(self, mine: str) -> str:
        return self.tr("Yours: {mine}").format(mine=mine)


def insert_again(edit: Update) -> Insert:
    """Return the edit that adds a deleted plant again, with the changes of `edit`."""
    from plantdesk.domain.validation import new_plant

    tag = {} if edit.tag is None else {"tag": edit.tag}
    return Insert(new_plant({"id": edit.seen.id, "name": edit.name, **tag}), edit.note)
