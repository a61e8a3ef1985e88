"""Codes of languages as clients write them, their names, and which models translate between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_NAMES = """
af Afrikaans|ar Arabic|az Azerbaijani|be Belarusian|bg Bulgarian|bn Bengali|br Breton|bs Bosnian|ca Catalan|cs Czech
cy Welsh|da Danish|de German|el Greek|en English|eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian|fi Finnish
fo Faroese|fr French|ga Irish|gd Scottish Gaelic|gl Galician|gu Gujarati|he Hebrew|hi Hindi|hr Croatian|hu Hungarian
hy Armenian|id Indonesian|is Icelandic|it Italian|ja Japanese|ka Georgian|kab Kabyle|kk Kazakh|km Khmer|ko Korean
ku Kurdish|ky Kyrgyz|la Latin|lb Luxembourgish|lo Lao|lt Lithuanian|lv Latvian|mk Macedonian|mn Mongolian|mr Marathi
ms Malay|mt Maltese|my Burmese|nb Norwegian Bokmål|ne Nepali|nl Dutch|nn Norwegian Nynorsk|no Norwegian|oc Occitan
pa Punjabi|pl Polish|ps Pashto|pt Portuguese|ro Romanian|ru Russian|se Northern Sami|sk Slovak|sl Slovenian|so Somali
sq Albanian|sr Serbian|sv Swedish|sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|tl Tagalog|tr Turkish|tt Tatar
uk Ukrainian|ur Urdu|uz Uzbek|vi Vietnamese|xh Xhosa|yi Yiddish|zh Chinese|zu Zulu
"""
NAMES = dict(item.split(" ", 1) for item in re.split(r"[|\n]", _NAMES.strip()))

_LONGER_CODES = """
afr=af ara=ar aze=az bel=be bul=bg ben=bn bre=br bos=bs cat=ca ces=cs cze=cs cym=cy wel=cy dan=da deu=de ger=de ell=el
gre=el eng=en epo=eo spa=es est=et eus=eu baq=eu fas=fa per=fa fin=fi fao=fo fra=fr fre=fr gle=ga gla=gd glg=gl guj=gu
heb=he iw=he hin=hi hrv=hr hun=hu hye=hy arm=hy ind=id in=id isl=is ice=is ita=it jpn=ja kat=ka geo=ka kaz=kk khm=km
kor=ko kur=ku kir=ky lat=la ltz=lb lao=lo lit=lt lav=lv mkd=mk mac=mk mon=mn mar=mr msa=ms may=ms mlt=mt mya=my bur=my
nob=nb nep=ne nld=nl dut=nl nno=nn nor=no oci=oc pan=pa pol=pl pus=ps por=pt ron=ro rum=ro rus=ru sme=se slk=sk slo=sk
slv=sl som=so sqi=sq alb=sq srp=sr swe=sv swa=sw tam=ta tel=te tgk=tg tha=th tgl=tl tur=tr tat=tt ukr=uk urd=ur uzb=uz
vie=vi xho=xh yid=yi ji=yi zho=zh chi=zh zul=zu
"""
#: codes of three letters (ISO 639-3, and 639-2/B), and former ones → two letters
_LONGER = dict(item.split("=") for item in _LONGER_CODES.split())
#: those that are written from right to left
RIGHT_TO_LEFT = frozenset(["ar", "fa", "he", "ps", "ur", "yi"])


def plain_code(code: str) -> str:
    """Return a code in one spelling: small letters, hyphens, two letters where there are two.

    >>> plain_code("PT_br"), plain_code("eng"), plain_code("zh-Hans")
    ('pt-br', 'en', 'zh-hans')
    """
    first, *rest = re.split(r"[-_]", code.strip().lower())
    return "-".join([_LONGER.get(first, first), *rest])


def base_code(code: str) -> str:
    """Return a code without its country or script.

    >>> base_code("pt-BR")
    'pt'
    """
    return plain_code(code).split("-")[0]


def resolve(code: str, known: Collection[str]) -> str | None:
    """Return the known language that a code means: itself, the one without its country, or the only one with another.

    >>> resolve("pt-BR", ["pt", "en"]), resolve("EN", ["en-GB"]), resolve("de", ["en"])
    ('pt', 'en-GB', None)
    """
    by_plain = {plain_code(name): name for name in known}
    plain, base = plain_code(code), base_code(code)
    if plain in by_plain:
        return by_plain[plain]
    if base in by_plain:
        return by_plain[base]
    related = [name for name in known if base_code(name) == base]
    return related[0] if len(related) == 1 else None


def language_name(code: str) -> str:
    """Return the English name of a language, with its country if it has one; the code itself where none is known.

    >>> language_name("pt-BR"), language_name("x-own")
    ('Portuguese (BR)', 'x-own')
    """
    base, _, rest = plain_code(code).partition("-")
    if base not in NAMES:
        return code
    return f"{NAMES[base]} ({rest.upper()})" if rest else NAMES[base]


def in_order(codes: Iterable[str]) -> list[str]:
    """Return codes once each, by their names."""
    return sorted(set(codes), key=lambda code: (language_name(code), code))
