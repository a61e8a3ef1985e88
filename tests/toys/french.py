"""A little French and English: enough for a model that servers in tests can serve."""

from __future__ import annotations

from pathlib import Path

from camber.files import write_lines

_THINGS = (
    ("le fichier", "the file"), ("la liste", "the list"), ("la maison", "the house"), ("le livre", "the book"),
    ("la porte", "the door"), ("le monde", "the world"), ("la fenêtre", "the window"), ("le message", "the message"),
)  # fmt: skip
_DEEDS = (
    ("Ouvrir", "Open"), ("Fermer", "Close"), ("Voir", "See"), ("Montrer", "Show"), ("Supprimer", "Delete"),
    ("Lire", "Read"),
)  # fmt: skip
_SAYINGS = (
    ("{} est ici.", "{} is here."), ("{} est grand.", "{} is big."), ("où est {} ?", "where is {}?"),
    ("Je vois {} aujourd'hui.", "I see {} today."), ("Nous avons {}.", "We have {}."),
)  # fmt: skip
_GREETINGS = (
    ("Bonjour", "Hello"), ("Bonjour, monde", "Hello, world"), ("Bonjour tout le monde", "Hello everyone"),
    ("À demain.", "See you tomorrow."), ("Merci beaucoup.", "Thank you very much."), ("Bonjour !", "Hello!"),
    ("Appuyez sur le bouton pour continuer.", "Press the button to continue."), ("À bientôt.", "See you soon."),
)  # fmt: skip


def french_pairs() -> tuple[list[str], list[str]]:
    """Return lines of French and English that translate each other."""
    pairs = [(f"{deed} {thing}", f"{do} {it}") for deed, do in _DEEDS for thing, it in _THINGS]
    pairs += [(french.format(thing), english.format(it)) for french, english in _SAYINGS for thing, it in _THINGS]
    pairs = [*pairs, *_GREETINGS] * 3
    source, target = zip(*pairs, strict=True)
    return [line[0].upper() + line[1:] for line in source], [line[0].upper() + line[1:] for line in target]


def french_model(folder: Path, *, split: bool = True) -> Path:
    """Train a phrase model on them."""
    from camber.engine import Threads
    from camber.pipeline.settings import TrainSettings
    from camber.pipeline.train import train

    source, target = french_pairs()
    write_lines(folder / "train.fr", source)
    write_lines(folder / "train.en", target)
    settings = TrainSettings.from_dict(
        {
            "lm": {"order": 3},
            "align": {"model": "quick"},
            "text": {"source_lang": "fr", "target_lang": "en", "split": split},
        }
    )
    train(
        folder / "train.fr", folder / "train.en", folder / "model", held_out=0, settings=settings, keep_work=False,
        engine=Threads(1),
    )  # fmt: skip
    return folder / "model"


def french_dev(folder: Path) -> None:
    """Write the longer ones of them as dev.fr and dev.en."""
    source, target = french_pairs()
    write_lines(folder / "dev.fr", source[48:88])
    write_lines(folder / "dev.en", target[48:88])
