"""The preview of an import: first rows, columns, counts over the whole files, and refused rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QLocale, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from plantdesk.domain.imports import OnConflict
from plantdesk.domain.protocols import PlantStore
from plantdesk.domain.texts import Text
from plantdesk.transfer.files import InputFile
from plantdesk.transfer.importing import ImportOptions, Preview, reading_differences
from plantdesk.transfer.inputs import ReadOptions, Sample, read_sample
from plantdesk.transfer.reading import Refused
from plantdesk.ui.background import Task
from plantdesk.ui.feature import WindowContext
from plantdesk.ui.qt import fill
from plantdesk.ui.texts import error_text, one_line, quoted, translated
from plantdesk.ui.theme.metrics import EDGE, XL, L, M, S, with_tabular_digits
from plantdesk.ui.theme.theme import Theme
from plantdesk.ui.transfer.file_preview import ColumnTable, ReadOptionsPanel
from plantdesk.ui.transfer.import_job import ImportJob, ImportProgress, progress_text
from plantdesk.ui.widgets.buttons import make_text_button
from plantdesk.ui.widgets.containers import ScrollArea
from plantdesk.ui.widgets.dialog import START_ROLE, ButtonRole, Dialog, FileDialog
from plantdesk.ui.widgets.fields import ComboBox, LineEdit
from plantdesk.ui.widgets.messages import MessageLine, Tone
from plantdesk.ui.widgets.painting import Icon
from plantdesk.ui.widgets.plain_table import PlainTable
from plantdesk.ui.widgets.plain_text import PlainLabel

_REFUSED_SIZE = QSize(760, 480)
#: Positions of two of the counts: taken IDs, and invalid rows.
_CONFLICT_ROW = 2
_INVALID_ROW = 3
#: The icons and texts of the counts: new plants, plants that are here already, taken IDs, and invalid rows.
_ICONS = (("plus", "ok"), ("check", "muted"), ("circle-alert", "warning"), ("circle-x", "error"))
_TEXTS = (
    Text("new plants", one="new plant"),
    Text("are here already and stay as they are", one="is here already and stays as it is"),
    Text("have an ID that is taken", one="has an ID that is taken"),
    Text("cannot be read"),
)
_CHOICE_WIDTH = 200
_SIZE = QSize(840, 700)
_TAG_WIDTH = 130
#: The most files whose names are shown.
_MAX_NAMES = 3


class RefusedDialog(Dialog):
    """Lists rows that cannot be imported, with the reasons, and saves all of them to a file."""

    #: (path) Write all of them to a file.
    save_requested = Signal(object)

    def __init__(
        self, theme: Theme, title: str, listed: Sequence[Refused], count: int, folder: Path, parent: QWidget
    ) -> None:
        """Show `listed`, the first of `count` rows; they can be saved in `folder`."""
        super().__init__(title, parent)
        self._folder = folder
        headings = (self.tr("Line"), self.tr("Reason"), self.tr("ID"), self.tr("Name"))
        table = PlainTable(theme, self.windowTitle(), headings, wide=1)
        rows = [
            (row.line, translated(row.reason), row.values.get("id", ""), row.values.get("name", "")) for row in listed
        ]
        table.show_rows([tuple(one_line(str(value)[:300]) for value in row) for row in rows])
        more = count - len(rows)
        text = self.tr("{count} more are in the file that you can save.").format(count=QLocale().toString(more))
        self._message = MessageLine(theme)
        self._message.set_hint(text if more else "")
        save = self.buttons.addButton(self.tr("&Save all with reasons…"), START_ROLE)
        save.clicked.connect(self._on_save)
        self.buttons.addButton(self.tr("Close"), ButtonRole.RejectRole)
        about = PlainLabel(self.tr("Nothing has been imported yet."), tone="muted")
        self.arrange(about, (table.make_frame(), 1), self._message)
        self.resize_to_fit(_REFUSED_SIZE)

    @Slot(object)
    def show_saved(self, file: Path) -> None:
        """Report in the message line that the rows were written to `file`."""
        self._message.show_message(Tone.OK, self.tr("Saved to “{file}”.").format(file=file.name))

    @Slot(object)
    def show_not_saved(self, error: Exception) -> None:
        """Report in the message line why the rows could not be written."""
        self._message.show_message(Tone.ERROR, error_text(error))

    @Slot()
    def _on_save(self) -> None:
        start = str(self._folder / self.tr("refused.csv"))
        name = FileDialog.get_save_file(self, self.windowTitle(), start, self.tr("CSV (*.csv)"))
        if name:
            self.save_requested.emit(Path(name))


class OutcomePanel(QFrame):
    """The counts of an import, and what the user chooses to do with conflicting and invalid rows."""

    #: The user has chosen something else.
    changed = Signal()
    #: (is_invalid) Show the invalid rows, or the conflicting ones.
    rows_requested = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._theme = theme
        self._icons = [Icon(theme, *icon) for icon in _ICONS]
        self._counts = [
            PlainLabel(role="strong", alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for _ in _ICONS
        ]
        rows = (_CONFLICT_ROW, _INVALID_ROW)
        self._buttons = {row: self._make_show_button(is_invalid=row == _INVALID_ROW) for row in rows}
        self._texts = [PlainLabel(wrapped=number in self._buttons) for number in range(len(_ICONS))]
        self.conflict_choice = self._make_combo(
            self.tr("Rows whose ID is taken"),
            (
                (self.tr("Do not import anything"), OnConflict.REFUSE),
                (self.tr("Leave them out"), OnConflict.SKIP),
                (self.tr("Give them a new ID"), OnConflict.NEW_ID),
                (self.tr("Replace the plants"), OnConflict.REPLACE),
            ),
        )
        invalid = ((self.tr("Do not import anything"), False), (self.tr("Leave them out"), True))
        self.invalid_choice = self._make_combo(self.tr("Rows that are invalid"), invalid)
        self.conflict_choice.setCurrentIndex(1)  # this changes no existing plant; the counts show what happens
        self.invalid_choice.setCurrentIndex(1)
        self._lay_out()
        self.show_preview(None)

    @property
    def on_conflict(self) -> OnConflict:
        """What the user has chosen for rows whose id is taken."""
        return OnConflict(self.conflict_choice.currentData())  # Qt keeps a StrEnum as a text

    @property
    def skip_invalid(self) -> bool:
        """Whether invalid rows are left out."""
        return bool(self.invalid_choice.currentData())

    def show_preview(self, preview: Preview | None) -> None:
        """Show the counts, and the choices that they need; None: the counts are not known yet."""
        counts = [None] * len(_ICONS) if preview is None else [*preview.counts[:3], preview.invalid]
        for label, text, count, template in zip(self._counts, self._texts, counts, _TEXTS, strict=True):
            label.setText("…" if count is None else QLocale().toString(count))
            text.setText(translated(template.filled(count=count or 0)))
        for number, button in self._buttons.items():
            button.setVisible(bool(counts[number]))
        self.conflict_choice.setVisible(counts[_CONFLICT_ROW] != 0)
        self.invalid_choice.setVisible(counts[_INVALID_ROW] != 0)

    def _make_show_button(self, *, is_invalid: bool) -> QPushButton:
        button = make_text_button(self.tr("Show"), lambda: self.rows_requested.emit(is_invalid))
        button.setProperty("variant", "link")
        return button

    def _make_combo(self, name: str, choices: Iterable[tuple[str, object]]) -> QComboBox:
        combo = ComboBox(name)
        combo.setMinimumWidth(_CHOICE_WIDTH)
        combo.setProperty("small", "true")
        for text, value in choices:
            combo.addItem(text, value)
        combo.currentIndexChanged.connect(self.changed)
        return combo

    def _lay_out(self) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(L, 0, L, 0)
        layout.setHorizontalSpacing(M)
        layout.setVerticalSpacing(0)
        layout.setColumnMinimumWidth(1, 70)
        layout.setColumnStretch(2, 2)  # so that no text is wrapped if there is room
        layout.setColumnStretch(3, 1)
        for row in range(len(_ICONS)):
            self._counts[row].setFont(with_tabular_digits())
            layout.setRowMinimumHeight(row, self._theme.metrics.compact_row + S)
            layout.addWidget(self._icons[row], row, 0)
            layout.addWidget(self._counts[row], row, 1)
            layout.addWidget(self._texts[row], row, 2, 1, 1 if row in self._buttons else 3)
        for row, choice in ((_CONFLICT_ROW, self.conflict_choice), (_INVALID_ROW, self.invalid_choice)):
            layout.addWidget(self._buttons[row], row, 3, Qt.AlignmentFlag.AlignLeft)
            layout.addWidget(choice, row, 4)


class ImportDialog(Dialog):
    """Previews an import: the user assigns columns to fields, sees what will happen, and starts it."""

    #: (job) The user has started the import; the receiver owns the job.
    started = Signal(object)

    def __init__(
        self,
        context: WindowContext,
        store: PlantStore,
        sources: Sequence[InputFile],
        reading: ReadOptions,
        folder: Path,
        tag: str = "",
    ) -> None:
        """Read `sources`; `tag` is proposed for plants without one. Refused rows can be saved in `folder`."""
        super().__init__(self.tr("Import"), context.page)
        self._theme = context.theme
        self._bridge = context.bridge
        self._store = store
        self._folder = folder
        self._sources = sources
        self._reading = reading
        self._sample: Sample | None = None
        self._sample_task: Task | None = None
        self._job: ImportJob | None = None
        self._tag = tag
        self._make_widgets()
        self._tag_edit.setText(tag)
        self._lay_out()
        self._connect()
        self._read_sample()

    def _make_widgets(self) -> None:
        self._about_label = PlainLabel(tone="muted", wrapped=True)
        self._options_button = QPushButton(self.tr("Change how it is read…"))
        self._options_button.setCheckable(True)
        self._options = ReadOptionsPanel()
        self._options.hide()
        self._first_row_warning = MessageLine(self._theme)
        self._first_row_warning.hide()
        self._columns = ColumnTable(self._theme)
        self._several_columns_check = QCheckBox(self.tr("Put the name together from several columns"))
        self._codes_check = QCheckBox()
        self._codes_check.hide()
        self._counting_label = _make_note()
        self._outcome = OutcomePanel(self._theme)
        self._tag_edit = LineEdit()
        self._tag_edit.setPlaceholderText(self.tr("As in the file"))
        placeholder = self._tag_edit.fontMetrics().horizontalAdvance(self._tag_edit.placeholderText())
        self._tag_edit.setFixedWidth(max(self._theme.metrics.scaled(_TAG_WIDTH), placeholder + 2 * EDGE))
        self._message = MessageLine(self._theme)
        self._message.set_hint(self.tr("Can be undone in one step."))
        self._import_button = self.add_primary(self.tr("Import"), self._on_import)
        self.buttons.addButton(self.tr("Cancel"), ButtonRole.RejectRole)
        self._import_button.setEnabled(False)

    def _connect(self) -> None:
        self._options_button.toggled.connect(self._options.setVisible)
        self._options.changed.connect(self._on_options_changed)
        self._options.header_chosen.connect(self._on_header_chosen)
        self._columns.fields_changed.connect(self._start_count)
        self._several_columns_check.clicked.connect(self._columns.set_several)
        self._codes_check.clicked.connect(self._on_codes_clicked)
        self._tag_edit.editingFinished.connect(self._on_tag_edited)
        self._outcome.changed.connect(self._show_choice)
        self._outcome.rows_requested.connect(self._show_rows)
        self.finished.connect(self._cancel_reading)

    def close_job(self) -> None:
        """Cancel the job, and block until it does not use the store any more."""
        job = self._job
        self._job = None
        if job is not None:
            job.disconnect(self)
            job.close()

    def _read_sample(self) -> None:
        self._cancel_reading()
        source = self._sources[0]
        reading = self._reading
        self._sample_task = self._bridge.long_tasks.run(
            self, lambda _task: read_sample(source, reading), self._on_sample, self._show_failure
        )

    def _on_sample(self, sample: Sample) -> None:
        """Show how the first file is read, and start to count all rows."""
        self._sample = sample
        self._options.show_sample(sample)
        self._columns.show_sample(sample)
        self._several_columns_check.setChecked(bool(sample.layout.name_parts))
        self._several_columns_check.setVisible(len(sample.layout.names) > 1)
        self._show_summary(None)
        self._warn_of_first_row(sample)
        self._codes_check.setVisible(sample.layout.codes is not None)
        if codes := sample.layout.codes:
            text = self.tr("Keep the codes of {column}, such as {code}, in the note")
            note = sample.layout.fields.get("note")
            if note is not None:
                text = self.tr("Keep the codes of {column}, such as {code}, in the note, in place of {note}")
            shown_names = {"column": quoted(codes.column, 30), "code": quoted(codes.example, 30)}
            self._codes_check.setText(text.format(**shown_names, note=quoted(sample.layout.names[note or 0], 30)))
        self._start_count()

    @Slot(bool)
    def _on_codes_clicked(self, keeps_codes: bool) -> None:
        if self._sample is not None and (codes := self._sample.layout.codes):
            self._columns.choose(codes.position, "note" if keeps_codes else "")

    def _warn_of_first_row(self, sample: Sample) -> None:
        """Warn, unless the user has chosen it, that the first row becomes a plant: it may be a header."""
        is_doubtful = sample.has_choice_of_header and not sample.layout.has_header
        is_chosen = self._reading.columns.has_header is not None
        self._first_row_warning.setVisible(is_doubtful and not is_chosen)
        self._first_row_warning.clear()
        if self._first_row_warning.isHidden():
            return
        first_row = sample.rows[0] if sample.rows else []
        column = sample.layout.fields.get("name", 0)
        name = first_row[column] if column < len(first_row) else None
        text = self.tr("Each row becomes a plant, also the first one, {name}.").format(name=quoted(name or "", 30))
        action = self.tr("First row is the header"), self._options.choose_header
        self._first_row_warning.show_message(Tone.WARNING, text, action)

    @Slot()
    def _on_options_changed(self) -> None:
        self._reading = self._options.make_read_options(self._reading, {})
        self._read_sample()

    @Slot()
    def _on_header_chosen(self) -> None:
        """Read the first row as header, or as plant; the fields keep their columns."""
        self._reading = self._options.make_read_options(self._reading, self._columns.columns)
        self._read_sample()

    @Slot()
    def _start_count(self) -> None:
        """Start a job that reads all files and compares them with the store, if there is a name column."""
        self._cancel_reading()
        if self._sample is None:
            return
        self._message.clear()
        fields = self._columns.fields
        codes = self._sample.layout.codes
        self._codes_check.setChecked(codes is not None and fields.get("note") == codes.position)
        if "name" not in fields:
            self._message.show_message(Tone.WARNING, self.tr("Choose the column that is the name."))
            return
        columns = self._sample.columns(self._columns.columns, by_name=len(self._sources) > 1)
        options = ImportOptions(self._reading._replace(columns=columns), tag=self._tag or None)
        job = self._job = ImportJob(self._bridge, self._store, self._sources, options)
        job.progressed.connect(self._on_progress)
        job.compared.connect(self._on_compared)
        job.failed.connect(self._show_failure)
        self._counting_label.setText(self.tr("Counting…"))
        self._show_choice()

    @Slot(object)
    def _on_progress(self, progress: ImportProgress) -> None:
        self._counting_label.setText(progress_text(progress))

    @Slot(object)
    def _on_compared(self, preview: Preview) -> None:
        self._counting_label.setText(self.tr("counted over the whole file"))
        self._outcome.show_preview(preview)
        self._show_summary(preview)
        self._show_choice()
        is_pasted = self._sources[0].path is None
        if self.focusWidget() in {None, self._options_button} and (self._first_row_warning.isHidden() or is_pasted):
            self._import_button.setFocus()  # so that Enter imports, unless the user has begun to change something

    @Slot()
    def _on_tag_edited(self) -> None:
        if self._tag != self._tag_edit.text():
            self._tag = self._tag_edit.text()
            self._start_count()

    @Slot()
    def _show_choice(self) -> None:
        """Show on the button the number of plants to import, or that a choice is missing."""
        preview = None if self._job is None else self._job.preview
        if preview is None:
            self._import_button.setText(self.tr("Import"))
            self._import_button.setEnabled(self._job is not None)
            return
        new, _, conflicts, owners = preview.counts
        on_conflict = self._outcome.on_conflict
        count = new + {OnConflict.NEW_ID: conflicts, OnConflict.REPLACE: owners}.get(on_conflict, 0)
        refuses_conflicts = conflicts > 0 and on_conflict is OnConflict.REFUSE
        is_refused = refuses_conflicts or (preview.invalid > 0 and not self._outcome.skip_invalid)
        imports = translated(Text("Import {count:,} plants", one="Import 1 plant", count=count))
        self._import_button.setText(imports if count else self.tr("Nothing to import"))
        self._import_button.setEnabled(count > 0 and not is_refused)
        if is_refused:
            text = self.tr("Choose what happens to the rows that cannot be imported as they are.")
            self._message.show_message(Tone.WARNING, text)
            return
        replaces = conflicts > 0 and on_conflict is OnConflict.REPLACE
        last = self.tr("Of several rows with one ID the last counts.")
        self._message.set_hint(last if replaces else self.tr("Can be undone in one step."))
        self._message.clear()

    @Slot()
    def _on_import(self) -> None:
        job = self._job
        self._job = None
        if job is not None:
            job.disconnect(self)
            job.apply(self._outcome.on_conflict, skip_invalid=self._outcome.skip_invalid)
            self.started.emit(job)
            self.accept()

    @Slot()
    def _cancel_reading(self) -> None:
        if self._sample_task is not None:
            self._sample_task.cancel()
        job = self._job
        self._job = None
        if job is not None:
            job.disconnect(self)
            job.cancel()
        self._counting_label.clear()
        self._outcome.show_preview(None)
        self._import_button.setEnabled(False)

    @Slot(object)
    def _show_failure(self, error: Exception) -> None:
        self._cancel_reading()
        self._message.show_message(Tone.ERROR, error_text(error))

    @Slot(bool)
    def _show_rows(self, is_invalid: bool) -> None:
        job = self._job
        if job is None or job.preview is None:
            return
        preview = job.preview
        if is_invalid:
            title = self.tr("Rows that cannot be read")
            rows = preview.invalid_rows
            count = preview.invalid
        else:
            title = self.tr("Rows whose ID is taken")
            rows = preview.conflict_rows
            count = preview.counts.conflicting
        dialog = RefusedDialog(self._theme, title, rows, count, self._folder, self)
        job.refused_saved.connect(dialog.show_saved)
        job.refused_not_saved.connect(dialog.show_not_saved)
        dialog.save_requested.connect(job.save_refused)
        dialog.open()

    def _show_summary(self, preview: Preview | None) -> None:
        """Show how the file is read: size, format, options, and what is left out."""
        if self._sample is None:
            return
        size = sum(source.size for source in self._sources)
        parts = [
            QLocale().formattedDataSize(size, 1, QLocale.DataSizeFormat.DataSizeSIFormat),
            self._sample.file.file_format.upper(),
            self._options.summarize(),
        ]
        if codes := self._sample.layout.codes:
            parts.append(self.tr("{column} has codes, not numbers: new IDs").format(column=quoted(codes.column, 30)))
        names = self._columns.columns.get("name", ())
        if len(names) > 1:
            columns = " + ".join(quoted(self._sample.layout.names[column] or str(column + 1), 30) for column in names)
            example = quoted(self._sample.example_name(names), 60)
            text = self.tr("name put together from {columns}, such as {name}")
            parts.append(text.format(columns=columns, name=example))
        if self._sample.file.doubtful_cell is not None:
            parts.append(self.tr("encoding guessed, as in {cell}").format(cell=quoted(self._sample.file.doubtful_cell)))
        if preview is not None:
            rows = sum(preview.counts[:3]) + preview.invalid + preview.blank
            parts.insert(0, translated(Text("{count:,} rows", one="1 row", count=rows)))
            if preview.blank:
                parts.insert(1, translated(Text("{count:,} are blank", one="1 is blank", count=preview.blank)))
            parts += map(translated, reading_differences(preview.readers))
        self._about_label.setText(" · ".join(filter(None, parts)))

    def _lay_out(self) -> None:
        bottom = fill(QHBoxLayout(), (self._message, 1), self.buttons, margins=(XL, M, XL, L), spacing=S)
        header = self._make_header()
        tag = self._make_tag_row()
        self.break_rows(header, tag, bottom)
        fill(QVBoxLayout(self), (ScrollArea(self._make_body(header, tag)), 1), bottom, margins=0, spacing=0)
        scaled = self._theme.metrics.scaled
        self.resize_to_fit(QSize(scaled(_SIZE.width()), scaled(_SIZE.height())))

    def _make_body(self, header: QHBoxLayout, tag: QHBoxLayout) -> QWidget:
        content = QWidget()
        fill(
            QVBoxLayout(content),
            header,
            self._options,
            self._first_row_warning,
            S,
            _make_title(self.tr("Columns"), _make_note(self.tr("first rows, as they will be read"))),
            (self._columns, 1),
            self._several_columns_check,
            self._codes_check,
            S,
            _make_title(self.tr("What will happen"), self._counting_label),
            self._outcome,
            S,
            tag,
            margins=(XL, L, XL, L),
            spacing=S,
        )
        return content

    def _make_header(self) -> QHBoxLayout:
        icon = Icon(self._theme, "file-spreadsheet", "accent", 24)
        names = [quoted(source.name)[1:-1] for source in self._sources]
        more = translated(Text("and {count:,} more", one="and 1 more", count=len(names[_MAX_NAMES:])))
        texts = fill(
            QVBoxLayout(),
            PlainLabel(
                " ".join([", ".join(names[:_MAX_NAMES]), *([more] if names[_MAX_NAMES:] else [])]), role="strong"
            ),
            self._about_label,
            spacing=2,
        )
        return fill(
            QHBoxLayout(),
            (icon, Qt.AlignmentFlag.AlignTop),
            (texts, 1),
            (self._options_button, Qt.AlignmentFlag.AlignTop),
            spacing=M,
        )

    def _make_tag_row(self) -> QHBoxLayout:
        return fill(
            QHBoxLayout(),
            PlainLabel(self.tr("Tag for plants without one"), buddy=self._tag_edit),
            self._tag_edit,
            (PlainLabel(self.tr("Rows without an ID get the next free one."), tone="muted", wrapped=True), 1),
            spacing=M,
        )


def _make_note(text: str = "") -> PlainLabel:
    return PlainLabel(text, tone="muted", alignment=Qt.AlignmentFlag.AlignRight, wrapped=True)


def _make_title(title: str, note: QWidget) -> QHBoxLayout:
    return fill(QHBoxLayout(), PlainLabel(title, role="caption"), (note, 1))
