"""What a model learnt beyond linear weights, to be shown: curves of features, trees, and kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from camber.bend.response import Response
from camber.bend.trees.description import WeighedTree
from camber.errors import CamberError

if TYPE_CHECKING:
    from camber.rerank.mixture import Mixed


@dataclass(frozen=True)
class Learnt:
    """The responses of bent features, and trees; or the kernels of a re-ranker."""

    responses: Sequence[Response] = ()
    trees: Sequence[WeighedTree] = ()
    kernels: Mixed | None = None

    def of_features(self, features: Sequence[str] = ()) -> Learnt:
        """Return the curves of the named features, in the order of the names, and the trees that ask about any of them.

        Without names it is all that there is; nothing at all is an error.
        """
        if not self.responses and not self.trees:
            raise CamberError("no feature of this model is bent, and it has no trees: there is nothing to draw")
        bent = {response.feature: response for response in self.responses}
        asked = dict.fromkeys(name for tree in self.trees for name in tree.asks_about)
        if unknown := [name for name in features if name not in bent and name not in asked]:
            kind = "bent feature" if not self.trees else "feature with a curve or a tree"
            raise CamberError(f"no {kind} {', '.join(unknown)}; known: {', '.join({**bent, **asked})}")
        if not features:
            return self
        return Learnt(
            [bent[name] for name in dict.fromkeys(features) if name in bent],
            [tree for tree in self.trees if set(tree.asks_about) & set(features)],
        )


def learnt(model: Any) -> Learnt:
    """Return what a translator or re-ranker (a folder, or one that is open) learnt; a linear one is an error."""
    from camber.model.directory import ModelDirectory
    from camber.model.kinds import check_weighs
    from camber.model.translator import open_translator
    from camber.rerank.mixture import Mixed
    from camber.rerank.reranker import KIND, Reranker

    where = str(model) if isinstance(model, str | Path) else "MODEL"
    if isinstance(model, str | Path):
        model = ModelDirectory.opened(model, lambda it: Reranker.of(it) if it.kind == KIND else open_translator(it))
    if isinstance(model, Reranker):
        linear, remedy = model.fitted.bent is None, f"camber rerank fit --learner mnr --model {where} …"
        kernels = model.fitted if isinstance(model.fitted, Mixed) else None
        result = Learnt(model.responses(), model.fitted.trees(), kernels)
    else:
        if model.directory is not None:
            check_weighs(model.directory)
        bend, weights = model.decoder.bend, model.weights.values
        linear, remedy = not bend.FILE, f"camber tune {where} --bend mnr …"
        result = Learnt(bend.show(weights), bend.trees(weights))
    if linear:
        raise CamberError(f"{where}: a linear model, which has no curves to draw; let its features bend: {remedy}")
    return result
