"""The language of the window: gettext's catalogue for our texts, Qt's own file for Qt's texts."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, Qt, QTranslator
from PySide6.QtWidgets import QApplication
from typing_extensions import override

from plantdesk.platform import languages


class Translator(QTranslator):
    """Translates by text and disambiguation in our catalogue; for other texts Qt asks the next translator."""

    @override
    def translate(self, context: str, sourceText: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        return languages.current().text(sourceText, disambiguation or "")

    @override
    def isEmpty(self) -> bool:
        return False


def name_of(language: str) -> str:
    """Return a language's own name, with its country if the catalogue is for one."""
    locale = QLocale(language)
    name = "English" if language == "en" else locale.nativeLanguageName().partition(" de ")[0]  # “español de España”
    return f"{name[:1].upper()}{name[1:]}" + (f" ({locale.nativeTerritoryName()})" if "_" in language else "")


def use_language(app: QApplication, setting: str) -> None:
    """Use the language of a setting, or of the system if it is empty; dates and numbers follow the region."""
    system = QLocale.system()
    language = languages.choose(setting, system.uiLanguages(), languages.available())
    languages.set_current(languages.catalogue_of(language))
    if language != "en":
        app.installTranslator(_load_qt_translator(language, app))
        app.installTranslator(Translator(app))  # installed last, so it is asked first
    locale = QLocale()
    if setting:
        locale = QLocale(QLocale(language).language(), system.territory())
    elif locale.language() is QLocale.Language.C:  # it neither groups digits nor formats dates for reading
        locale = QLocale(QLocale.Language.English)
    QLocale.setDefault(locale)
    if QLocale(language).textDirection() is Qt.LayoutDirection.RightToLeft:
        app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # never reset: Qt's option -reverse sets it


def words_for_cancel() -> dict[str, tuple[str, str]]:
    """Return the word for “Cancel” of each language, ours and Qt's, to check that both catalogues exist."""
    words = {}
    for language in languages.available():
        own = languages.catalogue_of(language).text("Cancel")
        qt_translator = _load_qt_translator(language, None)
        words[language] = own or "Cancel", qt_translator.translate("QPlatformTheme", "Cancel") or "Cancel"
    return words


def _load_qt_translator(language: str, parent: QObject | None) -> QTranslator:
    """Return the translations of Qt's own texts; empty if Qt does not have the language."""
    translator = QTranslator(parent)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    translator.load(QLocale(language), "qtbase", "_", folder)
    return translator
