"""Finds the encoding of a text that is not in UTF-8, as far as its letters show it.

Names of plants are too short for charset-normalizer, which took German ones for cp1250 or big5, and was wrong for 13 of
32 lists in 16 encodings. Here an encoding is likely if its letters are those of one language.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter

#: The encoding that is taken where nothing fits better.
GUESSED = "cp1252"
_WESTERN = (
    *("äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúüªº", "ãáàâçéêíóôõúüªº", "àèéìíòóùúªº", "æøåéèêüöäòóôâ", "åäöéàüšž"),
    *("áðéíóúýþæö", "éèëïóöüáíê", "àçèéíïòóúü", "äöõüšž"),
)
_CENTRAL = (*("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţ", "äöüß"),)
_CYRILLIC = ("абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґў",)
_GREEK = ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",)
#: The letters beyond ASCII of the languages that are written in an encoding, the usual encodings first.
_LETTERS = {
    GUESSED: _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859-2": _CENTRAL,
    "cp1254": ("âçğıîöşüû",),
    "cp1251": _CYRILLIC,
    "koi8-r": _CYRILLIC,
    "cp866": _CYRILLIC,
    "iso8859-7": _GREEK,
    "cp850": _WESTERN,
    "mac-roman": _WESTERN,
    "cp852": _CENTRAL,
}
#: Encodings of two bytes a letter, and the first bytes of their usual letters.
_WIDE = {
    "shift_jis": range(0x81, 0x99),
    "gb18030": range(0xB0, 0xD8),
    "big5": range(0xA4, 0xC7),
    "euc_kr": range(0xB0, 0xC9),
}
#: The last bytes of ASCII, and of those that begin no letter of EUC.
_ASCII, _LATIN = 0x7F, 0xA0
_RUN = re.compile(r"[^\x00-\x7f]+")
#: A capital after a small letter of its word, and a sign in a word; an apostrophe, or the 3 of m³, is none.
_MIXED = re.compile(r"[a-zA-Z][^\x00-\x7f]|[^\x00-\x7f][a-zA-Z]")
_ODD = re.compile(
    r"[a-zß-öø-ÿа-яё](?=[À-ÖØ-ÞŠŒŽŸА-ЯЁ])|[^\W\d_][^\w\s\x00-\x7f‘’–—·×](?=[^\W\d_])"
    r"|[^\W\d_m][¹²³¼½¾¿£¯]|[£¯¹²³](?=[^\W\d_])|[‚ƒ†‡ˆ‰¤¦¨¬¯¸]"
)


def likely_encodings(head: bytes) -> list[str]:
    """Return the encodings that fit the first bytes of a text best, the usual ones first; none if hardly any fits."""
    wide = [name for name, usual in _WIDE.items() if _is_wide(head, name, usual)]
    if wide:
        return wide
    guess = head.decode(GUESSED, "replace")
    beyond_ascii = sum(each > _ASCII for each in head)
    misfits = {name: _misfits(head.decode(name, "replace"), alphabets) for name, alphabets in _LETTERS.items()}
    for name in [*misfits]:
        differing = sum(one != other for one, other in zip(guess, head.decode(name, "replace"), strict=True))
        if name != GUESSED and 3 * differing < beyond_ascii:
            del misfits[name]
    least = min(misfits.values())
    most = {GUESSED: 2 * least}  # a list of several languages fits none exactly
    return [name for name, count in misfits.items() if count <= most.get(name, least) and 2 * count <= beyond_ascii]


def _misfits(text: str, alphabets: tuple[str, ...]) -> int:
    """Return how many characters beyond ASCII are not of the language that fits best, or oddly placed."""
    letters = Counter(each for each in "".join(_RUN.findall(text)).lower() if each.isalpha())
    strange = min(sum(count for each, count in letters.items() if each not in alphabet) for alphabet in alphabets)
    mixed = len(_MIXED.findall(text)) if alphabets in (_CYRILLIC, _GREEK) else 0
    return strange + mixed + len(_ODD.findall(text)) + text.count("\ufffd")


def _is_wide(head: bytes, encoding: str, usual: range) -> bool:
    """Return whether most letters of two bytes are usual ones, and few are beside letters of ASCII."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    runs = _RUN.findall(text)
    mixed = len(_MIXED.findall(text))
    letters = [each.encode(encoding) for each in "".join(runs)]
    count = sum(each[0] in usual and (each[1] > _LATIN or usual.start < _LATIN) for each in letters if len(each) > 1)
    return 2 * count > len(letters) and 4 * mixed <= len(runs)
