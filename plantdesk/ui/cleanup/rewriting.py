"""The page that finds and replaces: what is searched, where, and each text that would change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QLocale, QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget
from typing_extensions import override

from plantdesk.domain.edits import Rewrite
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.rewriting import FIELDS, RewriteRule
from plantdesk.domain.selections import Selection
from plantdesk.domain.texts import Text, plants_text
from plantdesk.ui.background import Task
from plantdesk.ui.cleanup.changed_texts import ChangedTexts, ChangedTextTable, Preview, read_preview
from plantdesk.ui.cleanup.dialog import CleanUpPage
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.qt import STRETCH, fill, set_properties
from plantdesk.ui.texts import error_text, quoted, translated
from plantdesk.ui.theme.metrics import XS, M, S
from plantdesk.ui.widgets.fields import ComboBox, LineEdit, labelled
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, set_tool_tip

#: For text of 13 px.
_ACTION_WIDTH = 150
#: Milliseconds after the last key until the preview is read.
_DELAY = 150
#: The indexes of the actions in their combo box.
_REPLACE, _TIDY = 0, 4


class RewritingPage(CleanUpPage):
    """`edit_requested(edit, plants)`: make this edit of so many plants. `plant_requested(id)`: show this plant."""

    edit_requested = Signal(object, int)
    plant_requested = Signal(object)

    def __init__(
        self, context: WindowContext, store: PlantStore, scopes: Sequence[tuple[str, Selection]], find: str
    ) -> None:
        """`scopes` are the sets of plants to choose from, with their texts; `find` is the first text to search."""
        super().__init__(self.tr("Names and notes"))
        self._context, self._store = context, store
        self._preview = Preview()
        self._edit: Rewrite | None = None
        self._task: Task | None = None
        #: The texts of the actions. Each action has its own.
        self._new_texts: dict[int, str] = {}
        self._shown_action = _REPLACE
        self._delay = QTimer(self, singleShot=True, interval=_DELAY)
        self._make_fields()
        self._texts = ChangedTexts(self)
        self._view = ChangedTextTable(self._texts, context.theme)
        self._all = QCheckBox(self.tr("Change &all"))
        self._all.setTristate(True)
        self._count_label = PlainLabel(role="detail")
        self._empty_label = PlainLabel(tone="muted", alignment=Qt.AlignmentFlag.AlignCenter, wrapped=True)
        self._message = MessageLine(context.theme)
        self._lay_out()
        self._connect()
        self._find.setText(find)
        self.set_scopes(scopes)
        self._show_action()

    @override
    def start(self) -> None:
        self._find.selectAll()
        self._find.setFocus()

    @override
    def reload(self) -> None:
        self._on_input()

    @override
    def refresh(self) -> None:
        self._read()

    @property
    @override
    def is_reading(self) -> bool:
        return self._task is not None or self._delay.isActive()

    # --- what is chosen ---

    def set_scopes(self, scopes: Sequence[tuple[str, Selection]]) -> None:
        """Offer other sets of plants, the most likely first."""
        self._scopes = [plants for _, plants in scopes]
        with QSignalBlocker(self._scope):
            self._scope.clear()
            self._scope.addItems([text for text, _ in scopes])
        self._on_input()

    def show_count(self, text: str) -> None:
        """Show how many plants the scope of all plants has now."""
        for at, plants in enumerate(self._scopes):
            if plants.ids is None:
                self._scope.setItemText(at, text)

    def _make_fields(self) -> None:
        self._action = ComboBox(self.tr("Do"))
        actions = (
            self.tr("Replace"),
            self.tr("Add before names"),
            self.tr("Add after names"),
            self.tr("Add a line to notes"),
            self.tr("Tidy up"),
        )
        self._action.addItems(actions)
        self._find, self._new = LineEdit(), LineEdit()
        quotes = (
            (self.tr("Leave quotes"), ""),
            (self.tr("‘Typographic’ quotes"), "curly"),
            (self.tr("'Straight' quotes"), "straight"),
        )
        self._quotes = ComboBox(self.tr("Quotes"), quotes)
        self._scope = ComboBox(self.tr("Where"))
        texts = (self.tr("Names"), self.tr("Notes"), self.tr("Same case"), self.tr("Whole words"), self.tr("Pattern"))
        self._checks = [QCheckBox(text) for text in texts]
        self._names, self._notes, self._case, self._words, self._pattern = self._checks
        self._names.setChecked(True)
        self._notes.setChecked(True)
        hint = self.tr(
            "A pattern by the rules of RE2, such as (\\pL+) x (\\pL+): \\pL is any letter, \\1 the first group"
        )
        set_tool_tip(self._pattern, hint)

    @property
    def _rule(self) -> RewriteRule | None:
        """The rule that the user chose; None while it is incomplete."""
        fields = tuple(field for field, box in zip(FIELDS, self._checks, strict=False) if box.isChecked())
        find, new = self._find.text(), self._new.text()
        match self._action.currentIndex():
            case 0 if find and fields:
                return RewriteRule(
                    fields=fields,
                    find=find,
                    replacement=new,
                    ignore_case=not self._case.isChecked(),
                    whole_words=self._words.isChecked(),
                    is_pattern=self._pattern.isChecked(),
                )
            case 1 if new:
                return RewriteRule(prefix=new)
            case 2 if new:
                return RewriteRule(suffix=new)
            case 3 if new.strip():
                return RewriteRule(note_line=new)
            case 4 if fields:
                return RewriteRule(fields=fields, tidies_blanks=True, quotes=self._quotes.currentData())
            case _:
                return None

    @Slot()
    def _show_action(self) -> None:
        """Show the fields of the chosen action."""
        action = self._action.currentIndex()
        self._new_texts[self._shown_action], self._shown_action = self._new.text(), action
        self._new.setText(self._new_texts.get(action, ""))
        is_replace, is_tidy = action == _REPLACE, action == _TIDY
        self._find_part.setVisible(is_replace)
        self._new_part.setVisible(not is_tidy)
        self._quotes_part.setVisible(is_tidy)
        labels = (self.tr("Replace with"), self.tr("Text before"), self.tr("Text after"), self.tr("Line"), "")
        self._new_label.setText(labels[action])
        self._new.setAccessibleName(labels[action])
        for box in (self._names, self._notes):
            box.setVisible(is_replace or is_tidy)
        for box in (self._case, self._words, self._pattern):
            box.setVisible(is_replace)
        self._texts.tick_all(ticked=True)
        self._on_input()

    # --- the preview ---

    @Slot()
    def _on_input(self) -> None:
        """Read the preview soon; until then, the present rows stay."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._edit = None
        self._delay.start()
        self._show_counts()

    @Slot()
    def _on_other_texts(self) -> None:
        self._texts.tick_all(ticked=True)
        self._on_input()

    @Slot()
    def _read(self) -> None:
        rule = self._rule
        if rule is None:
            self._show_problem("")
            self._texts.show(Preview())
            self._preview = Preview()
            self._show_counts()
            return
        plants = self._scopes[max(self._scope.currentIndex(), 0)]
        self._task = self._context.bridge.long_tasks.ask(
            self,
            partial(read_preview, self._store, rule, plants),
            partial(self._on_read, Rewrite(plants, rule)),
            self._on_failed,
            progress=self._on_part,
        )

    def _on_part(self, preview: Preview) -> None:
        self._show_problem("")
        self._show_rows(preview)

    def _on_read(self, edit: Rewrite, preview: Preview) -> None:
        self._task = None
        self._edit = edit._replace(since=preview.since)
        self._show_problem("")
        self._show_rows(preview)
        announce(self._view, self._count_label.text() or self._empty_label.text())

    def _on_failed(self, error: Exception) -> None:
        self._task = None
        from plantdesk.domain.patterns import InvalidReplacementError

        self._show_problem(error_text(error), self._new if isinstance(error, InvalidReplacementError) else self._find)
        self._show_rows(Preview())

    def _show_problem(self, text: str, field: QWidget | None = None) -> None:
        for each in (self._find, self._new):
            set_properties(each, invalid=each is field and self._action.currentIndex() == _REPLACE)
        if text != self._message.text:
            self._message.show_message(Tone.ERROR if text else Tone.HINT, text)

    def _show_rows(self, preview: Preview) -> None:
        self._preview = preview
        self._texts.show(preview)
        if preview.rows and not self._view.currentIndex().isValid():
            self._view.setCurrentIndex(self._texts.index(0, 0))
        self._show_counts()

    @Slot()
    def _show_counts(self) -> None:
        places, plants, left = self._texts.counts
        has_rows = self._texts.rowCount() > 0
        self._pages.setCurrentIndex(int(not has_rows))
        self._all.setVisible(has_rows)
        self._all.setCheckState(self._texts.state)
        is_known = self._edit is not None and self._preview.is_complete
        can_apply = is_known and plants > 0
        hint = self.tr("One change. Ctrl+Z takes it back.")
        self.show_state(self._button_text(plants if can_apply else 0), hint, can_apply=can_apply)
        self._count_label.setText(self._count_text(places, plants, left) if is_known and has_rows else "…")
        self._count_label.setVisible(has_rows or self._task is not None)
        is_over = is_known or self._rule is None or bool(self._message.text)
        self._empty_label.setText(self._empty_text() if is_over else "…")

    def _button_text(self, plants: int) -> str:
        """Return the text of the button for so many plants; 0: the number is unknown."""
        if self._action.currentIndex() == _REPLACE:
            many = Text("Replace in {count:,} plants", one="Replace in 1 plant", count=plants)
            return translated(many) if plants else self.tr("Replace")
        many = Text("Change {count:,} plants", one="Change 1 plant", count=plants)
        return translated(many) if plants else self.tr("Change")

    def _count_text(self, places: int, plants: int, left: int) -> str:
        looked = plants_text(self._preview.plants)
        where = Text("{changed:,} of {plants}", changed=plants, plants=looked)
        text = translated(Text("{count:,} places in {where}", one="1 place in {where}", count=places, where=where))
        if left:
            text = self.tr("{text}, {left} left out").format(text=text, left=QLocale().toString(left))
        listed, all_places = self._texts.rowCount(), self._preview.places
        if listed < all_places and sum(row.places for row in self._preview.rows) < all_places:
            text = self.tr("{text}; the first {listed} are listed").format(text=text, listed=QLocale().toString(listed))
        return text

    def _empty_text(self) -> str:
        if self._message.text:
            return ""
        if self._rule is None:
            nothing = (self.tr("Type what is to be found."), *[self.tr("Type what is to be added.")] * 3)
            return (
                self.tr("Choose names or notes.")
                if not self._has_field
                else (*nothing, "")[self._action.currentIndex()]
            )
        if self._action.currentIndex() == _REPLACE and self._find.text() != self._new.text():
            return self.tr("Nothing contains {text}.").format(text=quoted(self._find.text()))
        return self.tr("There is nothing to change.")

    @property
    def _has_field(self) -> bool:
        return self._names.isChecked() or self._notes.isChecked()

    # --- what is done ---

    @override
    @Slot()
    def apply(self) -> None:
        if self._edit is None or not self.can_apply:
            return
        edit, only = self._edit, self._texts.only
        plants = edit.plants if only is None else edit.plants._replace(ids=only)
        _, count, _ = self._texts.counts
        self.edit_requested.emit(edit._replace(plants=plants, leave=frozenset(self._texts.left)), count)
        for field in (self._find, self._new):
            field.setText(field.text())  # clears the undo of the field, so that Ctrl+Z takes back the change
        super().apply()

    @Slot()
    def _on_all_clicked(self) -> None:
        self._texts.tick_all(ticked=self._texts.state is not Qt.CheckState.Checked)

    @override
    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    # --- the layout ---

    def _lay_out(self) -> None:
        scaled = self._context.theme.metrics.scaled
        action_part = labelled(self.tr("Do"), self._action)
        action_part.setFixedWidth(max(scaled(_ACTION_WIDTH), self._action.sizeHint().width()))
        self._find_part = labelled(self.tr("Find"), self._find)
        self._new_part = labelled(self.tr("Replace with"), self._new)
        self._new_label = self._new_part.findChildren(PlainLabel)[0]
        self._quotes_part = labelled(self.tr("Quotes"), self._quotes)
        parts = ((self._find_part, 1), (self._new_part, 1), (self._quotes_part, 1))
        fields = fill(QHBoxLayout(), action_part, *parts, spacing=S + 2)
        where = fill(QHBoxLayout(), self._scope, S, *self._checks[:2], STRETCH, spacing=M)
        how = fill(QHBoxLayout(), *self._checks[2:], STRETCH, spacing=M)
        captions = fill(QHBoxLayout(), self._all, STRETCH, self._count_label)
        self.rows = [fields, where, how]
        self._pages = QStackedLayout()
        for page in (self._view.framed(), self._empty_label):
            self._pages.addWidget(page)
        top = fill(QVBoxLayout(), fields, self._message, where, how, spacing=XS)
        fill(QVBoxLayout(self), top, captions, (self._pages, 1), margins=0, spacing=S)

    def _connect(self) -> None:
        self._delay.timeout.connect(self._read)
        self._action.currentIndexChanged.connect(self._show_action)
        self._find.textChanged.connect(self._on_other_texts)
        self._new.textChanged.connect(self._on_input)
        for box in (self._scope, self._quotes):
            box.currentIndexChanged.connect(self._on_other_texts)
        for check in self._checks:
            check.toggled.connect(self._on_other_texts)
        for field in (self._find, self._new):
            field.returnPressed.connect(self.apply)
        self._all.clicked.connect(self._on_all_clicked)
        self._texts.marks_changed.connect(self._show_counts)
        self._view.plant_requested.connect(self.plant_requested)
