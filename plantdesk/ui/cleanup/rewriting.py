"""The page that rewrites names and notes: its actions, the plants that it searches, and the preview."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, auto
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
from plantdesk.ui.cleanup.changed_texts import ChangedTexts, ChangedTextTable, TextChanges, TickedCounts, read_preview
from plantdesk.ui.cleanup.dialog import CleanUpPage
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.qt import STRETCH, fill, set_properties
from plantdesk.ui.texts import error_text, quoted, translated
from plantdesk.ui.theme.metrics import XS, M, S
from plantdesk.ui.widgets.fields import ComboBox, LineEdit, with_label
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.plain_text import PlainLabel, announce, set_tool_tip

#: For text of 13 px.
_ACTION_WIDTH = 150
#: Milliseconds after the last change until the preview is read.
_DELAY_MS = 150


class _Action(IntEnum):
    """The actions of a rule; the values are the indexes in the combo box."""

    REPLACE = 0
    ADD_BEFORE_NAME = auto()
    ADD_AFTER_NAME = auto()
    ADD_NOTE_LINE = auto()
    TIDY = auto()


class RewritingPage(CleanUpPage):
    """The page on which the user describes a rule for names and notes, and ticks the texts it changes."""

    #: (edit, count) Apply an edit that changes `count` plants.
    edit_requested = Signal(object, int)
    #: (id) Show this plant.
    plant_requested = Signal(object)

    def __init__(
        self, context: WindowContext, store: PlantStore, scopes: Sequence[tuple[str, Selection]], find: str
    ) -> None:
        """`scopes` are the sets of plants to choose from, with their labels; `find` is the initial text to search."""
        super().__init__(self.tr("Names and notes"))
        self._context = context
        self._store = store
        self._preview = TextChanges()
        self._edit: Rewrite | None = None
        self._task: Task | None = None
        #: What was typed into the new text, by action.
        self._new_texts: dict[_Action, str] = {}
        self._shown_action = _Action.REPLACE
        self._delay_timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._make_fields()
        self._texts = ChangedTexts(self)
        self._table = ChangedTextTable(self._texts, context.theme)
        self._all_box = QCheckBox(self.tr("Change &all"))
        self._all_box.setTristate(True)
        self._count_label = PlainLabel(role="detail")
        self._empty_label = PlainLabel(tone="muted", alignment=Qt.AlignmentFlag.AlignCenter, wrapped=True)
        self._message = MessageLine(context.theme)
        self._lay_out()
        self._connect()
        self._find_edit.setText(find)
        self.set_scopes(scopes)
        self._show_action()

    @override
    def start(self) -> None:
        self._find_edit.selectAll()
        self._find_edit.setFocus()

    @override
    def reload(self) -> None:
        self._on_input()

    @override
    def refresh(self) -> None:
        self._read_preview()

    @property
    @override
    def is_reading(self) -> bool:
        return self._task is not None or self._delay_timer.isActive()

    def set_scopes(self, scopes: Sequence[tuple[str, Selection]]) -> None:
        """Replace the sets of plants that the user can choose, the default first; read the preview."""
        self._scopes = [plants for _, plants in scopes]
        with QSignalBlocker(self._scope_box):
            self._scope_box.clear()
            self._scope_box.addItems([text for text, _ in scopes])
        self._on_input()

    def show_count(self, text: str) -> None:
        """Set the label of the scope that is not a selection, after the number of its plants has changed."""
        for index, plants in enumerate(self._scopes):
            if plants.ids is None:
                self._scope_box.setItemText(index, text)

    def _make_fields(self) -> None:
        self._action_box = ComboBox(self.tr("Do"))
        actions = (
            self.tr("Replace"),
            self.tr("Add before names"),
            self.tr("Add after names"),
            self.tr("Add a line to notes"),
            self.tr("Tidy up"),
        )
        self._action_box.addItems(actions)
        self._find_edit = LineEdit()
        self._new_edit = LineEdit()
        quotes = (
            (self.tr("Leave quotes"), ""),
            (self.tr("‘Typographic’ quotes"), "curly"),
            (self.tr("'Straight' quotes"), "straight"),
        )
        self._quotes_box = ComboBox(self.tr("Quotes"), quotes)
        self._scope_box = ComboBox(self.tr("Where"))
        self._names_check = QCheckBox(self.tr("Names"))
        self._notes_check = QCheckBox(self.tr("Notes"))
        self._same_case_check = QCheckBox(self.tr("Same case"))
        self._whole_words_check = QCheckBox(self.tr("Whole words"))
        self._pattern_check = QCheckBox(self.tr("Pattern"))
        self._match_checks = (self._same_case_check, self._whole_words_check, self._pattern_check)
        self._names_check.setChecked(True)
        self._notes_check.setChecked(True)
        hint = self.tr(
            "A pattern by the rules of RE2, such as (\\pL+) x (\\pL+): \\pL is any letter, \\1 the first group"
        )
        set_tool_tip(self._pattern_check, hint)

    @property
    def _action(self) -> _Action:
        return _Action(self._action_box.currentIndex())

    @property
    def _described_rule(self) -> RewriteRule | None:
        """The rule that the fields describe; None while it would change nothing."""
        checks = self._names_check, self._notes_check
        fields = tuple(field for field, check in zip(FIELDS, checks, strict=True) if check.isChecked())
        find = self._find_edit.text()
        new = self._new_edit.text()
        match self._action:
            case _Action.REPLACE if find and fields:
                return RewriteRule(
                    fields=fields,
                    find=find,
                    replacement=new,
                    ignore_case=not self._same_case_check.isChecked(),
                    whole_words=self._whole_words_check.isChecked(),
                    is_pattern=self._pattern_check.isChecked(),
                )
            case _Action.ADD_BEFORE_NAME if new:
                return RewriteRule(prefix=new)
            case _Action.ADD_AFTER_NAME if new:
                return RewriteRule(suffix=new)
            case _Action.ADD_NOTE_LINE if new.strip():
                return RewriteRule(note_line=new)
            case _Action.TIDY if fields:
                return RewriteRule(fields=fields, tidies_blanks=True, quotes=self._quotes_box.currentData())
            case _:
                return None

    @Slot()
    def _show_action(self) -> None:
        """Show the fields of the chosen action; each action keeps its own new text."""
        action = self._action
        self._new_texts[self._shown_action] = self._new_edit.text()
        self._shown_action = action
        self._new_edit.setText(self._new_texts.get(action, ""))
        is_replace = action is _Action.REPLACE
        is_tidy = action is _Action.TIDY
        self._find_part.setVisible(is_replace)
        self._new_part.setVisible(not is_tidy)
        self._quotes_part.setVisible(is_tidy)
        labels = {
            _Action.REPLACE: self.tr("Replace with"),
            _Action.ADD_BEFORE_NAME: self.tr("Text before"),
            _Action.ADD_AFTER_NAME: self.tr("Text after"),
            _Action.ADD_NOTE_LINE: self.tr("Line"),
        }
        self._new_label.setText(labels.get(action, ""))
        self._new_edit.setAccessibleName(labels.get(action, ""))
        for check in (self._names_check, self._notes_check):
            check.setVisible(is_replace or is_tidy)
        for check in self._match_checks:
            check.setVisible(is_replace)
        self._texts.tick_all(ticked=True)
        self._on_input()

    @Slot()
    def _on_input(self) -> None:
        """Cancel the running preview, and read another one soon; the present rows stay until then."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._edit = None
        self._delay_timer.start()
        self._show_counts()

    @Slot()
    def _on_rule_changed(self) -> None:
        self._texts.tick_all(ticked=True)
        self._on_input()

    @Slot()
    def _read_preview(self) -> None:
        """Read in the background what the rule changes; without a rule show nothing."""
        rule = self._described_rule
        if rule is None:
            self._show_problem("")
            self._texts.show(TextChanges())
            self._preview = TextChanges()
            self._show_counts()
            return
        plants = self._scopes[max(self._scope_box.currentIndex(), 0)]
        self._task = self._context.bridge.long_tasks.run(
            self,
            partial(read_preview, self._store, rule, plants),
            partial(self._on_read, Rewrite(plants, rule)),
            self._on_failed,
            progress=self._on_progress,
        )

    def _on_progress(self, preview: TextChanges) -> None:
        self._show_problem("")
        self._show_rows(preview)

    def _on_read(self, edit: Rewrite, preview: TextChanges) -> None:
        self._task = None
        self._edit = edit._replace(since=preview.since)
        self._show_problem("")
        self._show_rows(preview)
        announce(self._table, self._count_label.text() or self._empty_label.text())

    def _on_failed(self, error: Exception) -> None:
        self._task = None
        from plantdesk.domain.patterns import InvalidReplacementError

        self._show_problem(
            error_text(error), self._new_edit if isinstance(error, InvalidReplacementError) else self._find_edit
        )
        self._show_rows(TextChanges())

    def _show_problem(self, text: str, field: QWidget | None = None) -> None:
        """Show a message, and mark the field that it is about; an empty message removes both."""
        for edit in (self._find_edit, self._new_edit):
            set_properties(edit, invalid=edit is field and self._action is _Action.REPLACE)
        if text != self._message.text:
            self._message.show_message(Tone.ERROR if text else Tone.HINT, text)

    def _show_rows(self, preview: TextChanges) -> None:
        self._preview = preview
        self._texts.show(preview)
        if preview.rows and not self._table.currentIndex().isValid():
            self._table.setCurrentIndex(self._texts.index(0, 0))
        self._show_counts()

    @Slot()
    def _show_counts(self) -> None:
        """Show how much of the preview is ticked: on the button, beside it, and above the table."""
        counts = self._texts.counts
        has_rows = self._texts.rowCount() > 0
        self._pages.setCurrentIndex(0 if has_rows else 1)
        self._all_box.setVisible(has_rows)
        self._all_box.setCheckState(self._texts.check_state)
        is_known = self._edit is not None and self._preview.is_complete
        can_apply = is_known and counts.plants > 0
        hint = self.tr("One change. Ctrl+Z takes it back.")
        self.show_state(self._button_text(counts.plants if can_apply else 0), hint, can_apply=can_apply)
        self._count_label.setText(self._count_text(counts) if is_known and has_rows else "…")
        self._count_label.setVisible(has_rows or self._task is not None)
        is_reading = not is_known and self._described_rule is not None and not self._message.text
        self._empty_label.setText("…" if is_reading else self._empty_text())

    def _button_text(self, plants: int) -> str:
        """Return the text of the button for a number of plants; 0 if it is unknown."""
        if self._action is _Action.REPLACE:
            template = Text("Replace in {count:,} plants", one="Replace in 1 plant", count=plants)
            return translated(template) if plants else self.tr("Replace")
        template = Text("Change {count:,} plants", one="Change 1 plant", count=plants)
        return translated(template) if plants else self.tr("Change")

    def _count_text(self, counts: TickedCounts) -> str:
        searched = plants_text(self._preview.searched_plants)
        where = Text("{changed:,} of {plants}", changed=counts.plants, plants=searched)
        template = Text("{count:,} places in {where}", one="1 place in {where}", count=counts.matches, where=where)
        text = translated(template)
        if counts.unticked:
            text = self.tr("{text}, {left} left out").format(text=text, left=QLocale().toString(counts.unticked))
        listed = self._texts.rowCount()
        if sum(row.match_count for row in self._preview.rows) < self._preview.match_count:
            text = self.tr("{text}; the first {listed} are listed").format(text=text, listed=QLocale().toString(listed))
        return text

    def _empty_text(self) -> str:
        if self._message.text:
            return ""
        if self._described_rule is None:
            return self._missing_text()
        if self._action is _Action.REPLACE and self._find_edit.text() != self._new_edit.text():
            return self.tr("Nothing contains {text}.").format(text=quoted(self._find_edit.text()))
        return self.tr("There is nothing to change.")

    def _missing_text(self) -> str:
        """Return what the user has to do next, so that the fields describe a rule."""
        if not (self._names_check.isChecked() or self._notes_check.isChecked()):
            return self.tr("Choose names or notes.")
        if self._action is _Action.REPLACE:
            return self.tr("Type what is to be found.")
        return self.tr("Type what is to be added.")

    @override
    @Slot()
    def apply(self) -> None:
        if self._edit is None or not self.can_apply:
            return
        edit = self._edit
        ticked_ids = self._texts.ticked_ids
        plants = edit.plants if ticked_ids is None else edit.plants._replace(ids=ticked_ids)
        edit = edit._replace(plants=plants, leave=frozenset(self._texts.unticked_keys))
        self.edit_requested.emit(edit, self._texts.counts.plants)
        for field in (self._find_edit, self._new_edit):
            field.setText(field.text())  # clears the undo of the field, so that Ctrl+Z takes back the change
        super().apply()

    @Slot()
    def _on_all_clicked(self) -> None:
        self._texts.tick_all(ticked=self._texts.check_state is not Qt.CheckState.Checked)

    @override
    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _lay_out(self) -> None:
        scaled = self._context.theme.metrics.scaled
        action_part = with_label(self.tr("Do"), self._action_box)
        action_part.setFixedWidth(max(scaled(_ACTION_WIDTH), self._action_box.sizeHint().width()))
        self._find_part = with_label(self.tr("Find"), self._find_edit)
        self._new_part = with_label(self.tr("Replace with"), self._new_edit)
        self._new_label = self._new_part.findChildren(PlainLabel)[0]
        self._quotes_part = with_label(self.tr("Quotes"), self._quotes_box)
        parts = ((self._find_part, 1), (self._new_part, 1), (self._quotes_part, 1))
        fields = fill(QHBoxLayout(), action_part, *parts, spacing=S + 2)
        where = fill(QHBoxLayout(), self._scope_box, S, self._names_check, self._notes_check, STRETCH, spacing=M)
        match_row = fill(QHBoxLayout(), *self._match_checks, STRETCH, spacing=M)
        captions = fill(QHBoxLayout(), self._all_box, STRETCH, self._count_label)
        self.rows = [fields, where, match_row]
        self._pages = QStackedLayout()
        for page in (self._table.make_frame(), self._empty_label):
            self._pages.addWidget(page)
        top = fill(QVBoxLayout(), fields, self._message, where, match_row, spacing=XS)
        fill(QVBoxLayout(self), top, captions, (self._pages, 1), margins=0, spacing=S)

    def _connect(self) -> None:
        self._delay_timer.timeout.connect(self._read_preview)
        self._action_box.currentIndexChanged.connect(self._show_action)
        self._find_edit.textChanged.connect(self._on_rule_changed)
        self._new_edit.textChanged.connect(self._on_input)
        for box in (self._scope_box, self._quotes_box):
            box.currentIndexChanged.connect(self._on_rule_changed)
        for check in (self._names_check, self._notes_check, *self._match_checks):
            check.toggled.connect(self._on_rule_changed)
        for field in (self._find_edit, self._new_edit):
            field.returnPressed.connect(self.apply)
        self._all_box.clicked.connect(self._on_all_clicked)
        self._texts.ticks_changed.connect(self._show_counts)
        self._table.plant_requested.connect(self.plant_requested)
