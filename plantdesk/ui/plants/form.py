"""The form for a new plant: ID, name, tag, and a message line. `AddPlantController` connects it with the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import partial

from PySide6.QtCore import QEvent, QKeyCombination, QLocale, QStringListModel, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QLineEdit, QPushButton, QWidget
from typing_extensions import override

from plantdesk.domain.plant_urls import split_url
from plantdesk.domain.tags import tag_from_input
from plantdesk.ui.plants.form_fields import NameField, TagField
from plantdesk.ui.qt import set_properties
from plantdesk.ui.theme.metrics import EDGE, XS, S, with_tabular_digits
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.widgets.dialog import ENTER_KEYS
from plantdesk.ui.widgets.fields import MAX_LENGTH, LineEdit
from plantdesk.ui.widgets.messages import MessageAction, MessageLine, Tone
from plantdesk.ui.widgets.offers import TagCompleter
from plantdesk.ui.widgets.plain_text import PlainLabel, set_disabled_reason

#: Milliseconds from a change of the texts to `draft_due`.
DRAFT_DELAY_MS = 500
#: Widths for text of 13 px, in a form that is wide enough, and in a narrower one.
_WIDE_FORM = 900
_ID_WIDTH = 76
_TAG_WIDTH = 184
_NARROW_ID_WIDTH = 72
_NARROW_TAG_WIDTH = 150
_MAX_ID_WIDTH = 150


class FieldName(StrEnum):
    """The fields of the form; the values are those of `InvalidField.field`."""

    ID = "id"
    NAME = "name"
    TAG = "tag"


class PlantForm(QFrame):
    """The form for a new plant. Enter emits `submitted`; Escape closes the message, or empties the fields."""

    #: (keep_name) Enter was pressed, or Ctrl+Enter to keep the name for the next plant.
    submitted = Signal(bool)
    #: Half a second has passed since the first change of a text.
    draft_due = Signal()
    #: Escape has removed the texts.
    emptied = Signal()

    def __init__(self, theme: Theme, message: MessageLine, *, empties_on_escape: bool = True) -> None:
        """Make a form with `message` under its fields; without `empties_on_escape` it leaves Escape to the window."""
        super().__init__()
        self.theme = theme
        self.message = message
        self._empties_on_escape = empties_on_escape
        self._widest_id = ""
        self._draft_timer = QTimer(self, singleShot=True, interval=DRAFT_DELAY_MS)
        #: Whether Enter in Name moves to Tag. Enter in Tag then adds the plant.
        self.enter_goes_to_tag = False
        self.setAccessibleName(self.tr("New plant"))
        self._id_edit = LineEdit()
        self._set_up(self._id_edit, self.tr("ID of the new plant; empty for the next free one"))
        self._id_edit.setFont(with_tabular_digits(self._id_edit.font()))
        self.name_field = NameField()
        self.tag_field = TagField(theme)
        self._set_up(self.name_field, self.tr("Name of the new plant"))
        self._set_up(self.tag_field, self.tr("Tag of the new plant"))
        #: The tags that are offered as completions.
        self.tags = QStringListModel(self)
        self.tag_field.setCompleter(TagCompleter(self.tags, self))
        self._add_button = QPushButton(self.tr("&Add"))
        self._add_button.setProperty("variant", "primary")
        theme.icons.put_on(self._add_button, "plus", "on_accent")
        self._lay_out()
        self._connect()

    def _connect(self) -> None:
        self._draft_timer.timeout.connect(self.draft_due)
        self._add_button.clicked.connect(self._on_return)
        self._id_edit.returnPressed.connect(self._on_id_entered)
        self.name_field.returnPressed.connect(self._on_name_entered)
        self.tag_field.returnPressed.connect(self._on_return)
        self.name_field.textChanged.connect(self._show_quantity)
        self._id_edit.textEdited.connect(self._show_scanned_id)
        for key in ENTER_KEYS:
            shortcut = QShortcut(QKeyCombination(Qt.KeyboardModifier.ControlModifier, key), self)
            shortcut.activated.connect(partial(self.submitted.emit, True))
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.setAutoRepeat(False)

    @property
    def id_text(self) -> str:
        """The ID as it was typed, without spaces around it; empty for the next free one."""
        return self._id_edit.text().strip()

    @property
    def name_text(self) -> str:
        """The name as the field shows it, without spaces around it and without a quantity."""
        return self.name_field.name

    @Slot(str)
    def _show_scanned_id(self, text: str) -> None:
        """Replace an address that a barcode reader types by its number: the address is longer than the field."""
        prefix, plant_id = split_url(text)
        if plant_id is not None:
            self._id_edit.setText(f"{prefix}{plant_id}")

    @property
    def tag_text(self) -> str:
        """The tag as it was typed, without spaces around it; empty for none."""
        return tag_from_input(self.tag_field.text())

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of ID, name (with its quantity) and tag, without spaces around them."""
        return self.id_text, self.name_field.text().strip(), self.tag_text

    @property
    def is_empty(self) -> bool:
        """Whether no field has text, except for a pinned tag."""
        tag = "" if self.tag_field.is_pinned else self.tag_field.text()
        return not (self._id_edit.text() or self.name_field.text() or tag)

    def draft(self) -> list[str]:
        """Return the typed texts for `fill`, without completions; an empty list without a name and an ID."""
        if not (self.name_text or self.id_text):
            return []
        is_from_name = self.name_field.is_filled and self.tag_field.is_filled
        return [self.id_text, self.name_field.typed_text.strip(), "" if is_from_name else self.tag_text]

    def show_next_id(self, plant_id: int | None) -> None:
        """Show the ID that the plant will get as placeholder; None while it is unknown."""
        self._id_edit.setPlaceholderText("" if plant_id is None else str(plant_id))
        self._set_widths()

    def set_widest_id(self, widest_id: str) -> None:
        """Make the ID field wide enough for this ID, before the next ID is known."""
        self._widest_id = widest_id
        self._set_widths()

    @Slot()
    def clear_id(self) -> None:
        """Empty the ID, so that the plant gets the next free one, and close the message about it."""
        self._id_edit.clear()
        self.close_message()
        self.focus_name()

    def set_refusal(self, reason: str) -> None:
        """Disable the form for a reason, or enable it with an empty one; its texts stay."""
        if self._add_button.isEnabled() is bool(reason):
            for widget in (self._id_edit, self.name_field, self.tag_field, self._add_button):
                set_disabled_reason(widget, reason)

    def set_tags(self, tags: Iterable[str]) -> None:
        """Offer these tags as completions."""
        self.tags.setStringList([tag for tag in tags if tag])

    def start_next(self, *, keep_name: bool = False) -> None:
        """Empty the fields, except for a pinned tag; if the form has the focus, move it to Name."""
        # Unlike clear(), setText() forgets what was typed: Ctrl+Z must not bring an added plant back into the field.
        self._id_edit.setText("")
        if keep_name:
            self.name_field.accept_fill()
            self.tag_field.restore_fill()
        else:
            self.name_field.setText("")
            if not self.tag_field.is_pinned:
                self.tag_field.setText("")
        self.clear_errors()
        if self.isAncestorOf(self.window().focusWidget()):
            self.focus_name()

    def fill(self, texts: Sequence[str]) -> None:
        """Set the texts of ID, name and tag, cut if they are too long, and remove error marks."""
        for field, text in zip(self._fields_by_name().values(), texts, strict=True):
            field.setText(text[:MAX_LENGTH])
        self.clear_errors()

    def add_below(self, widget: QWidget) -> None:
        """Show `widget` below the message."""
        self._layout.addWidget(widget, 3, 0, 1, 4)

    def show_errors(self, fields: Sequence[str], text: str, *actions: MessageAction) -> None:
        """Mark the invalid fields and show `text`; the focus stays."""
        self._mark(fields)
        self.message.show_message(Tone.ERROR, text, *actions)

    def focus_field(self, name: str) -> None:
        """Move the focus to a field and select its text."""
        field = self._fields_by_name()[FieldName(name)]
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        field.selectAll()

    def clear_errors(self) -> None:
        """Remove the error marks of all fields; the message stays."""
        self._mark([])

    def close_message(self) -> None:
        """Remove the message; if one of its buttons has the focus, move the focus to Name."""
        self.clear_errors()
        focused = QApplication.focusWidget()
        if focused is not None and self.isAncestorOf(focused) and focused not in self._fields_by_name().values():
            self.focus_name()
        self.message.clear()

    @Slot()
    def focus_name(self) -> None:
        """Move the focus to the end of Name, without a selection: the next key would replace it."""
        self.name_field.setFocus(Qt.FocusReason.OtherFocusReason)
        if not self.name_field.is_filled:
            self.name_field.end(False)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape or not (self._empties_on_escape and self._handle_escape()):
            super().keyPressEvent(event)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._set_widths()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_widths()

    def _set_up(self, field: LineEdit, accessible_name: str) -> None:
        field.setAccessibleDescription(accessible_name)
        field.refused.connect(partial(self.message.show_message, Tone.WARNING))
        field.textEdited.connect(self._on_edited)
        field.textChanged.connect(self._on_changed)

    def _fields_by_name(self) -> dict[FieldName, QLineEdit]:
        return {FieldName.ID: self._id_edit, FieldName.NAME: self.name_field, FieldName.TAG: self.tag_field}

    def _lay_out(self) -> None:
        layout = self._layout = QGridLayout(self)
        layout.setContentsMargins(EDGE, S + 2, EDGE, S - 2)
        layout.setHorizontalSpacing(S + 2)
        layout.setVerticalSpacing(XS)
        labels = (self.tr("&ID"), self.tr("&Name"), self.tr("Ta&g"))
        for column, (text, field) in enumerate(zip(labels, self._fields_by_name().values(), strict=True)):
            layout.addWidget(PlainLabel(text, role="caption", buddy=field), 0, column)
            layout.addWidget(field, 1, column)
        layout.addWidget(self._add_button, 1, 3)
        layout.addWidget(self.message, 2, 0, 1, 4)
        layout.setColumnStretch(1, 1)
        self._set_widths()

    def _set_widths(self) -> None:
        scaled = self.theme.metrics.scaled
        is_narrow = self.width() < scaled(_WIDE_FORM)
        texts = (self._id_edit.placeholderText(), self._widest_id)
        widest = max(map(self._id_edit.fontMetrics().horizontalAdvance, texts))
        id_width = max(scaled(_NARROW_ID_WIDTH if is_narrow else _ID_WIDTH), widest + 2 * EDGE)
        self._id_edit.setFixedWidth(min(id_width, scaled(_MAX_ID_WIDTH)))
        self.tag_field.setFixedWidth(scaled(_NARROW_TAG_WIDTH if is_narrow else _TAG_WIDTH))

    def _handle_escape(self) -> bool:
        """Close the message, else empty the fields; return False if there is neither."""
        if self.message.tone is not Tone.HINT:
            self.close_message()
            return True
        has_text = any(field.text() for field in self._fields_by_name().values())
        if has_text:
            self.tag_field.setText("")
            self.name_field.clear()  # Ctrl+Z brings it back
            self.start_next(keep_name=True)
            self.emptied.emit()
        return has_text

    def _mark(self, invalid: Sequence[str]) -> None:
        for name, field in self._fields_by_name().items():
            set_properties(field, invalid=name in invalid)

    @Slot()
    def _on_id_entered(self) -> None:
        """Submit if there is a name, else move to Name: a barcode reader types an ID and Enter."""
        if self.name_field.text().strip():
            self._on_return()
        else:
            self.focus_name()

    @Slot()
    def _on_name_entered(self) -> None:
        if self.enter_goes_to_tag and self.name_text:
            self.focus_field(FieldName.TAG)
        else:
            self._on_return()

    @Slot()
    def _on_return(self) -> None:
        self.submitted.emit(False)

    @Slot()
    def _show_quantity(self) -> None:
        quantity = self.name_field.quantity
        text = self.tr("&Add") if quantity <= 1 else self.tr("&Add {count}").format(count=QLocale().toString(quantity))
        self._add_button.setText(text)

    @Slot()
    def _on_changed(self) -> None:
        if not self._draft_timer.isActive():
            self._draft_timer.start()

    @Slot()
    def _on_edited(self) -> None:
        if self.message.tone in {Tone.ERROR, Tone.WARNING}:
            self.message.clear()
        self.clear_errors()
