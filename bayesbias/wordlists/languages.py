"""The languages of word lists, by their codes of ISO 639-1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.errors import SpecError

#: The language of a list that names none.
ENGLISH = "en"

# Code and English name of every language of ISO 639-1.
_NAMES = """\
aa Afar|ab Abkhazian|ae Avestan|af Afrikaans|ak Akan|am Amharic|an Aragonese|ar Arabic|as Assamese
av Avaric|ay Aymara|az Azerbaijani|ba Bashkir|be Belarusian|bg Bulgarian|bi Bislama|bm Bambara
bn Bengali|bo Tibetan|br Breton|bs Bosnian|ca Catalan|ce Chechen|ch Chamorro|co Corsican|cr Cree
cs Czech|cu Church Slavic|cv Chuvash|cy Welsh|da Danish|de German|dv Divehi|dz Dzongkha|ee Ewe
el Greek|en English|eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian|ff Fulah|fi Finnish
fj Fijian|fo Faroese|fr French|fy Western Frisian|ga Irish|gd Scottish Gaelic|gl Galician|gn Guarani
gu Gujarati|gv Manx|ha Hausa|he Hebrew|hi Hindi|ho Hiri Motu|hr Croatian|ht Haitian|hu Hungarian
hy Armenian|hz Herero|ia Interlingua|id Indonesian|ie Interlingue|ig Igbo|ii Sichuan Yi|ik Inupiaq
io Ido|is Icelandic|it Italian|iu Inuktitut|ja Japanese|jv Javanese|ka Georgian|kg Kongo|ki Kikuyu
kj Kuanyama|kk Kazakh|kl Greenlandic|km Khmer|kn Kannada|ko Korean|kr Kanuri|ks Kashmiri|ku Kurdish
kv Komi|kw Cornish|ky Kyrgyz|la Latin|lb Luxembourgish|lg Ganda|li Limburgish|ln Lingala|lo Lao
lt Lithuanian|lu Luba-Katanga|lv Latvian|mg Malagasy|mh Marshallese|mi Maori|mk Macedonian
ml Malayalam|mn Mongolian|mr Marathi|ms Malay|mt Maltese|my Burmese|na Nauru|nb Norwegian Bokmål
nd North Ndebele|ne Nepali|ng Ndonga|nl Dutch|nn Norwegian Nynorsk|no Norwegian|nr South Ndebele
nv Navajo|ny Chichewa|oc Occitan|oj Ojibwa|om Oromo|or Oriya|os Ossetian|pa Punjabi|pi Pali
pl Polish|ps Pashto|pt Portuguese|qu Quechua|rm Romansh|rn Rundi|ro Romanian|ru Russian
rw Kinyarwanda|sa Sanskrit|sc Sardinian|sd Sindhi|se Northern Sami|sg Sango|si Sinhala|sk Slovak
sl Slovenian|sm Samoan|sn Shona|so Somali|sq Albanian|sr Serbian|ss Swati|st Southern Sotho
su Sundanese|sv Swedish|sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|ti Tigrinya|tk Turkmen
tl Tagalog|tn Tswana|to Tonga|tr Turkish|ts Tsonga|tt Tatar|tw Twi|ty Tahitian|ug Uighur
uk Ukrainian|ur Urdu|uz Uzbek|ve Venda|vi Vietnamese|vo Volapük|wa Walloon|wo Wolof|xh Xhosa
yi Yiddish|yo Yoruba|za Zhuang|zh Chinese|zu Zulu"""

#: The English name of each language by its code.
LANGUAGES: dict[str, str] = {
    code: name
    for code, _, name in (
        entry.partition(" ") for line in _NAMES.splitlines() for entry in line.split("|")
    )
}


def check_language(code: object) -> str:
    """Return the code of a language, or refuse what is not one."""
    if isinstance(code, str) and code in LANGUAGES:
        return code
    hint = ""
    if isinstance(code, str):
        by_name = {name.lower(): each for each, name in LANGUAGES.items()}
        same = by_name.get(code.lower(), code.lower())
        hint = f" Did you mean {same!r}?" if same in LANGUAGES else ""
    raise SpecError(
        f"'language' is {code!r}; expected a code of ISO 639-1, two letters such as 'en' or 'de'."
        f"{hint}"
    )


def joined(languages: Iterable[str]) -> str:
    """Return the language of several lists: its code, or all codes with a + between them."""
    return "+".join(dict.fromkeys(languages))


def to_entry(parts: Mapping[str, Mapping[str, str]]) -> str | dict[str, dict[str, str]]:
    """Return how a file names languages, given those of each list of each part.

    One code if the language is the same everywhere, else a table of the codes.
    """
    codes = [code for part in parts.values() for code in part.values()]
    if len(set(codes)) == 1:
        return codes[0]
    return {name: dict(part) for name, part in parts.items() if part}


def from_entry(entry: Any, parts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the language of each list of each part, given what a file says of it."""
    if not isinstance(entry, Mapping):
        code = check_language(entry)
        return {name: dict.fromkeys(part, code) for name, part in parts.items()}
    languages = {name: dict.fromkeys(part, ENGLISH) for name, part in parts.items()}
    for name, codes in entry.items():
        if name not in parts:
            raise SpecError(
                f"languages of {name!r}; expected {quoted(parts)}.{did_you_mean(name, parts)}"
            )
        if not isinstance(codes, Mapping):
            languages[name] = dict.fromkeys(parts[name], check_language(codes))
            continue
        for key, code in codes.items():
            if key not in parts[name]:
                raise SpecError(
                    f"a language of {key!r}, which is not one of the {name}."
                    f"{did_you_mean(key, parts[name])}"
                )
            languages[name][key] = check_language(code)
    return languages
