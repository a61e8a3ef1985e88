"""What MkDocs asks of us while it builds the site (mkdocs.yml): pages from elsewhere, generated parts, formulas."""

from __future__ import annotations

from typing import Any

import commands
import formulas
import names
import places
from mkdocs.structure.files import File, Files

#: a page says by such a line where something is put in
COMMANDS, NAMES = "<!-- generated: commands -->", "<!-- generated: names -->"


def on_files(files: Files, config: Any) -> Files:
    """Add what stands outside of ``docs/``."""
    for name in places.from_repository():
        files.append(File.generated(config, name, abs_src_path=str(places.REPOSITORY / name)))
    icon = places.REPOSITORY / "camber" / "serve" / "page" / "icon.svg"
    files.append(File.generated(config, icon.name, abs_src_path=str(icon)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Put in what is generated, and mend links."""
    return whole(markdown, page.file.src_uri)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Draw formulas."""
    return formulas.with_formulas(html)


def whole(markdown: str, page: str) -> str:
    """Return all of a page's text."""
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, commands.reference())
    if NAMES in markdown:
        markdown = markdown.replace(NAMES, names.blocks())
    markdown = names.modules(markdown).replace("<details>", '<details markdown="1">')
    return places.with_links(markdown, page)
