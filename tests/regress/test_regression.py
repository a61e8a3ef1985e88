"""N-gram vectors, ridge regression and maximum margin regression, against dense computations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.linalg
from hypothesis import given
from hypothesis import strategies as st
from naive import ngram_spectra
from scipy.optimize import minimize

from camber.arrays.sparse import Counts
from camber.corpus import Sentences
from camber.errors import CamberError
from camber.regress import ridge
from camber.regress.cholesky import cholesky, solve
from camber.regress.collapsed import Collapsed
from camber.regress.gradients import Gradients
from camber.regress.margin import MarginRegression
from camber.regress.ridge import Factorised, gram_solver
from camber.regress.spectrum import NgramMap, Spectrum, of_columns, squared_norms, string_kernel, transposed

texts = st.lists(st.lists(st.sampled_from("abc"), max_size=7), min_size=1, max_size=6)
spectra = st.builds(Spectrum, st.integers(1, 4), st.sampled_from(["blended", "weighted"]))


@given(texts, spectra)
def test_products_of_rows_are_the_string_kernel_and_that_is_its_definition(
    text: list[list[str]], spectrum: Spectrum
) -> None:
    sentences = Sentences.encode(text)
    _, rows = NgramMap.of(sentences, spectrum)
    dense = rows.dense()
    for i, left in enumerate(sentences):
        for j, right in enumerate(sentences):
            expected = ngram_spectra.kernel(left.tolist(), right.tolist(), spectrum.weights.tolist())
            assert string_kernel(left, right, spectrum) == pytest.approx(expected)
            assert float(dense[i] @ dense[j]) == pytest.approx(expected, rel=1e-5)
    assert squared_norms(sentences, spectrum) == pytest.approx((dense**2).sum(1), rel=1e-5)


@given(texts, texts, spectra)
def test_known_ngrams_of_another_text_have_the_same_columns(
    text: list[list[str]], other: list[list[str]], spectrum: Spectrum
) -> None:
    sentences = Sentences.encode(text)
    grams, rows = NgramMap.of(sentences, spectrum)
    assert grams.rows(sentences).dense().tolist() == rows.dense().tolist()
    again = NgramMap.of_arrays(spectrum, grams.words, grams.arrays()["keys"], grams.lengths)
    there = Sentences.encode(other, sentences.vocabulary)
    assert again.rows(there).dense().tolist() == grams.rows(there).dense().tolist()
    products = grams.rows(there).dense() @ rows.dense().T
    for i, left in enumerate(there):
        known = [-1 - k if word < 0 else word for k, word in enumerate(left.tolist())]  # no unknown word is another
        for j, right in enumerate(sentences):
            expected = ngram_spectra.kernel(known, right.tolist(), spectrum.weights.tolist())
            assert products[i, j] == pytest.approx(expected, rel=1e-5)


def test_a_matrix_by_columns_and_with_some_columns_is_that_matrix() -> None:
    table = np.random.default_rng(1).integers(0, 3, (5, 4))
    rows = Counts.of_dense(table)
    assert transposed(rows).dense().tolist() == table.T.tolist()
    assert of_columns(rows, np.array([1, 3])).dense().tolist() == table[:, [1, 3]].tolist()


@pytest.mark.parametrize("size", [1, 3, 64, 130])
def test_the_factor_is_that_of_numpy_and_solves(size: int) -> None:
    rng = np.random.default_rng(size)
    table = rng.normal(size=(size, size + 3))
    matrix = table @ table.T + np.eye(size)
    factor = cholesky(matrix)
    assert np.tril(factor) == pytest.approx(np.linalg.cholesky(matrix))
    assert (factor == factor.T).all()
    right = rng.normal(size=(size, 2))
    solution = right.copy()
    solve(factor, solution)
    assert matrix @ solution == pytest.approx(right)
    one = right[:, 1].copy()
    solve(factor, one)
    assert one == pytest.approx(solution[:, 1])
    with pytest.raises(CamberError, match="not positive definite"):
        cholesky(-matrix)


def random_text(sentences: int, words: int, seed: int) -> Sentences:
    rng = np.random.default_rng(seed)
    return Sentences.encode(
        [
            [f"w{word}" for word in (rng.pareto(1.0, rng.integers(1, 9)) * 3).astype(int) % words]
            for _ in range(sentences)
        ]
    )


@pytest.mark.parametrize("frequent", [0, 5, 1000])
@pytest.mark.parametrize("weighting", ["blended", "weighted"])
@pytest.mark.parametrize("columns", [1, 3])
def test_both_solvers_solve_with_the_gram_matrix(frequent: int, weighting: str, columns: int) -> None:
    _, rows = NgramMap.of(random_text(80, 30, 2), Spectrum(order=3, weighting=weighting))
    dense = rows.dense()
    right = np.random.default_rng(3).normal(size=(80, columns))
    expected = np.linalg.solve(dense @ dense.T + 0.1 * np.eye(80), right)
    assert Factorised.of(rows, 0.1).solve(right).values == pytest.approx(expected)
    found = Gradients.of(rows, 0.1, tolerance=1e-10, frequent=frequent).solve(right)
    assert found.values == pytest.approx(expected, abs=1e-6)
    assert found.residual <= 1e-10
    assert found.steps > 0


def test_conjugate_gradients_stop_where_nothing_is_left_and_take_as_many_steps_as_others() -> None:
    _, rows = NgramMap.of(random_text(400, 60, 7), Spectrum())
    right = np.random.default_rng(8).normal(size=(400, 3))
    right[:, 1] = 0.0
    solver = Gradients.of(rows, 1.0, tolerance=1e-6, frequent=0)
    found = solver.solve(right)
    assert (found.values[:, 1] == 0.0).all()
    dense = rows.dense() @ rows.dense().T + np.eye(400)
    steps: list[int] = []
    diagonal = np.diag(1.0 / np.diag(dense))
    solution, _ = scipy.sparse.linalg.cg(dense, right[:, 0], rtol=1e-6, M=diagonal, callback=lambda _: steps.append(1))
    alone = solver.solve(right[:, :1])
    assert alone.values[:, 0] == pytest.approx(solution, abs=1e-4)
    assert alone.steps == pytest.approx(len(steps), rel=0.1)


@given(texts, spectra)
def test_collapsed_rows_have_the_same_gram_matrix(text: list[list[str]], spectrum: Spectrum) -> None:
    _, rows = NgramMap.of(Sentences.encode(text), spectrum)
    dense = rows.dense()
    collapsed = Collapsed.of(rows)
    count, width = len(collapsed.sizes), len(collapsed.squares)
    assert count == len(np.unique(dense, axis=0))
    assert collapsed.sizes.tolist() == np.bincount(collapsed.row_of).tolist()
    assert (np.diff(collapsed.offsets) > 1).all()  # what only one row has is in `alone`
    assert (np.diff(np.diff(collapsed.offsets)) <= 0).all()
    table = np.zeros((width, count))
    for column, (a, b) in enumerate(zip(collapsed.offsets[:-1], collapsed.offsets[1:], strict=True)):
        table[column, collapsed.rows[a:b]] = collapsed.counts[a:b]
    assert len(np.unique(table, axis=0)) == width
    gram = np.diag(collapsed.alone) + table.T @ (collapsed.squares[:, None] * table)
    assert gram[np.ix_(collapsed.row_of, collapsed.row_of)] == pytest.approx(dense @ dense.T, rel=1e-5)
    half = width // 2
    assert collapsed.squared(half, width) == pytest.approx((collapsed.squares[half:, None] * table[half:] ** 2).sum(0))
    order = np.random.default_rng(count).permutation(count)
    offsets, columns = collapsed.by_rows(half, width, order)
    assert np.diff(offsets).tolist() == collapsed.entries(half, width)[order].tolist()
    for k, row in enumerate(order.tolist()):
        there = np.bincount(columns[offsets[k] : offsets[k + 1]], minlength=width - half)
        assert there.tolist() == table[half:, row].tolist()


def test_a_word_that_no_sentence_has_once_is_counted() -> None:
    _, rows = NgramMap.of(Sentences.encode([["a", "a", "b"], ["a", "a", "a"], ["b"]]), Spectrum(1, "weighted"))
    right = np.arange(6.0).reshape(3, 2)
    expected = np.linalg.solve(rows.dense() @ rows.dense().T + 0.1 * np.eye(3), right)
    assert Gradients.of(rows, 0.1, tolerance=1e-10).solve(right).values == pytest.approx(expected)


@pytest.mark.parametrize("columns", [1, 4])
def test_single_precision_reaches_the_residual_that_it_tells(columns: int) -> None:
    _, rows = NgramMap.of(random_text(3000, 400, 11), Spectrum())
    solver = Gradients.of(rows, 0.1)
    right = rows.products(np.ones(rows.width))[:, None] * np.linspace(1.0, 2.0, columns)
    right[::3] *= 1.5
    found = solver.solve(right)
    left = right - np.array([rows.products(rows.project(v)) + 0.1 * v for v in found.values.T]).T
    sums = np.zeros((len(solver.sizes), columns))
    np.add.at(sums, solver.row_of, left)  # equal sentences count by the mean of what is left
    means = np.zeros_like(sums)
    np.add.at(means, solver.row_of, right)
    sizes = solver.sizes[:, None]
    reached = np.linalg.norm(sums / sizes, axis=0) / np.linalg.norm(means / sizes, axis=0)
    assert found.residual <= solver.tolerance
    assert reached.max() == pytest.approx(found.residual, rel=0.05)
    exact = Gradients.of(rows, 0.1, tolerance=1e-9).solve(right).values
    assert np.linalg.norm(found.values - exact) < 0.1 * np.linalg.norm(exact)


def test_vectors_that_are_not_counts_are_refused() -> None:
    table = np.array([[1.0, 0.0], [np.sqrt(2.0), 1.0], [0.0, 1.0]])
    with pytest.raises(CamberError, match="not counts"):
        Gradients.of(Counts.of_dense(table), 1.0)
    assert Factorised.of(Counts.of_dense(table), 1.0).solve(np.ones((3, 1))).steps == 0


def test_a_ridge_is_needed_and_the_size_chooses_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    _, rows = NgramMap.of(random_text(20, 9, 4), Spectrum())
    with pytest.raises(CamberError, match="more than 0"):
        gram_solver(rows, 0.0)
    assert isinstance(gram_solver(rows, 1.0), Factorised)
    monkeypatch.setattr(ridge, "SMALL", 10)
    assert isinstance(gram_solver(rows, 1.0), Gradients)


@pytest.mark.parametrize(("pairs", "cost"), [(60, 0.05), (60, 5.0), (300, 1.0)])
def test_margins_are_those_of_a_dense_solver(pairs: int, cost: float) -> None:
    sides = [NgramMap.of(random_text(pairs, 20, seed), Spectrum(order=3))[1] for seed in (5, 6)]
    fitted = MarginRegression(cost=cost, gap=1e-9, epochs=3000).fit(*sides)
    centred = [side.dense() - side.dense().mean(0) for side in sides]
    left, right = (table / np.linalg.norm(table, axis=1, keepdims=True) for table in centred)
    quadratic = (left @ left.T) * (right @ right.T)
    best = minimize(
        lambda a: (0.5 * a @ quadratic @ a - a.sum(), quadratic @ a - 1.0), np.zeros(pairs), jac=True,
        bounds=[(0, cost)] * pairs, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10000},
    )  # fmt: skip
    assert fitted.dual == pytest.approx(-best.fun, rel=1e-6)
    assert fitted.gap <= 1e-9
    # a pair that is there twice may share its multiplier in any way: margins are what both must agree on
    assert quadratic @ fitted.alphas == pytest.approx(quadratic @ best.x, abs=1e-3)
    assert ((fitted.alphas >= 0) & (fitted.alphas <= cost)).all()
