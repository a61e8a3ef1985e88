"""What trees do to lists, as the definition has it: everything scored anew with one tree's weight at 0."""


def path_to_leaf(node, raw):
    """Which answers lead to the leaf of a part, and the leaf: trees as the file has them."""
    path = ""
    while "feature" in node:
        value = raw[node["feature"]]
        absent = value != value
        answer = node["absent"] if absent else ("then" if "below" not in node or value < node["below"] else "else")
        path += answer
        node = node[answer]
    return path, node


def added(tree, weight, hypothesis, linear):
    """What a tree adds to the score of a hypothesis, a list of parts."""
    total = 0.0
    for raw in hypothesis:
        _, leaf = path_to_leaf(tree["root"], raw)
        total += leaf["constant"]
        if tree["linear in"] is not None:
            x = linear(raw, tree["linear in"])
            total += leaf["coefficient"] * x if x == x else 0.0
    return weight * total


def chosen(scores):
    """The first of those with the highest score."""
    return max(range(len(scores)), key=lambda place: (scores[place], -place))


def changed_sentences(trees, weights, number, lists, linear):
    """(sentence, chosen, chosen without the tree) of all on which a tree acted; lists: (base, text, parts) each."""
    changed = []
    for sentence, hypotheses in enumerate(lists):
        if not hypotheses:
            continue

        def scores(left_out=None, hypotheses=hypotheses):
            return [
                base + sum(added(tree, weights[k], parts, linear) for k, tree in enumerate(trees) if k != left_out)
                for base, _, parts in hypotheses
            ]

        one = chosen(scores())
        without = scores(number)
        two = chosen(without)
        if without[two] > without[one] + 1e-9 and hypotheses[one][1] != hypotheses[two][1]:
            changed.append((sentence, one, two))
    return changed


def parts_acted_on(tree, weight, lists):
    """How many parts of all lists get something else than what the most frequent leaf adds, and how many there are."""
    ends = [path_to_leaf(tree["root"], raw) for hypotheses in lists for _, _, parts in hypotheses for raw in parts]
    counts = {}
    order = leaf_paths(tree["root"])
    for path, _ in ends:
        counts[path] = counts.get(path, 0) + 1
    usual = max(order, key=lambda path: (counts.get(path, 0), -order.index(path)))
    leaf = dict(zip(order, leaves(tree["root"]), strict=True))

    def adds(path):
        return [weight * leaf[path]["constant"], weight * leaf[path].get("coefficient", 0.0)]

    return sum(adds(path) != adds(usual) for path, _ in ends), len(ends)


def leaf_paths(node, path=""):
    """The answers that lead to each leaf, from the left."""
    if "feature" not in node:
        return [path]
    return [*leaf_paths(node["then"], path + "then"), *leaf_paths(node["else"], path + "else")]


def leaves(node):
    return [node] if "feature" not in node else [*leaves(node["then"]), *leaves(node["else"])]
