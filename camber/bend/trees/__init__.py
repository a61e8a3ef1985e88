"""Regression trees on the features of parts (toutanova2013), learnt by histograms.

`collapse` finds equal parts, `binning` turns raw values into codes of a byte, `rows` holds what trees are grown on.
`histogram` sums targets by code, `splitting` finds the best cut of a node, `pairs` the same in the space of pairs of
hypotheses, `grower` splits the best node first. `tree` and `forest` are the result, `document` its file `trees.json`.

    rows = Rows.of_parts(parts)                        # equal parts are one row
    tree = Grower(rows, leaves=2).grow(targets)        # float64[rows]: sums of the targets of the parts of a row
    Forest(parts.features, (tree,)).values(raw)        # float64[rows, trees]
"""
