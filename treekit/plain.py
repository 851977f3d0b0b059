"""The algorithms of the book as plain formulas, in the order of its chapters.

>>> D = [Row({"sugar": 0.46}, "ripe"), Row({"sugar": 0.10}, "unripe")]
>>> follow(grow(D, {"sugar": None}, best_cut), Row({"sugar": 0.38}, None))
'ripe'
"""

from collections import Counter, namedtuple
from itertools import chain, pairwise, product
from math import exp, inf, log, log2

#: {attribute: value, or None}; label, number or residual; weight; second derivative
Row = namedtuple("Row", "x y w h", defaults=[1.0, 1.0])
#: its rows; the value it predicts; unless it is a leaf, a question and {answer: Node}
Node = namedtuple("Node", "rows value question branches", defaults=[None, {}])
TIE = 1e-12  #: numbers that are closer differ by rounding alone


def read(X, y):
    """The rows D of a data frame, and {attribute: its categories, or None}."""
    xy = zip(X.astype(object).where(X.notna(), None).to_dict("records"), y, strict=True)
    C = X.select_dtypes(exclude=["number", "bool"]).astype("category").dtypes
    return [Row(*r) for r in xy], {A: [*C[A].categories] if A in C else None for A in X}


# Entropy. A question is (attribute, cut); a cut is None, a number, or some categories.
def weight(D):
    """``|D|``, the number of rows; a row of weight 2 counts as two."""
    return sum(row.w for row in D)


def shares(D):
    """``p_k = |C_k| / |D|``: {class: its share}."""
    classes = dict.fromkeys(row.y for row in D)
    return {k: weight([row for row in D if row.y == k]) / weight(D) for k in classes}


def entropy(D):
    """``H(D) = −Σ p_k log₂ p_k``, in bits. :eq:`eq-empirical-entropy`"""
    return sum(p * log2(1 / p) for p in shares(D).values())


def value(row, A):
    """``A(x)``; if A is ((A_1, w_1), ...), ``Σ w_j A_j(x)``. :eq:`eq-oblique-cut`"""
    return row.x[A] if A in row.x else sum(w * row.x[A_j] for A_j, w in A)


def answer(row, question):
    """The value of A; with a cut, whether it is at most that, or one of those."""
    a, cut = value(row, question[0]), question[1]
    if cut is None or a is None:
        return a
    return a in cut if isinstance(cut, tuple) else a <= cut


def divide(D, question):
    """``D_m``: {answer: its rows}; a row without an answer is in none."""
    parts = {}
    for row in D:
        parts.setdefault(answer(row, question), []).append(row)
    return {m: part for m, part in parts.items() if m is not None}


def gain(D, question, impurity=entropy):
    """``g(D, A) = H(D) − Σ |D_m|/|D| H(D_m)``. :eq:`eq-information-gain`"""
    parts = divide(D, question).values()
    known = [*chain(*parts)]  # D, unless values are missing
    after = sum(weight(part) / weight(known) * impurity(part) for part in parts)
    return weight(known) / weight(D) * (impurity(known) - after)


# ID3, and the recursion that grows every tree of the book.
def largest(scores, least=-inf):
    """The key of the largest number, of equal ones the first; None below ``least``."""
    top = max([least, *scores.values()])
    return next((key for key in scores if scores[key] >= top - TIE), None)


def majority(D):
    """The class with the largest share, of equal ones the first in sorted order."""
    return largest(dict(sorted(shares(D).items())))


def divides(D, question, least=0):
    """Whether at least two parts weigh ``least`` or more."""
    return sum(weight(part) >= least - TIE for part in divide(D, question).values()) > 1


def largest_gain(D, attributes, gain=gain, epsilon=-inf):
    """``A* = arg max g(D, A)``, if it gains ``ε`` or more. :eq:`eq-id3-choice`"""
    questions = [(A, None) for A in attributes]
    return largest({q: gain(D, q) for q in questions if divides(D, q)}, epsilon)


def grow(D, attributes, choose=largest_gain, leaf=majority, depth=inf, send=divide):
    """The tree of the rows D: ID3's, unless told to choose in another way."""
    is_pure = len({row.y for row in D}) == 1
    question = None if is_pure or depth == 0 else choose(D, attributes)
    if question is None:
        return Node(D, leaf(D))
    A, cut = question
    parts, branches = send(D, question), {}
    for m in attributes[A] if cut is None else (True, False):
        branches[m] = Node([], leaf(D))  # an empty branch repeats its parent
        if m in parts:
            branches[m] = grow(parts[m], attributes, choose, leaf, depth - 1, send)
    return Node(D, leaf(D), question, branches)


def follow(node, row):
    """The prediction for a row, which goes down as far as there is a branch for it."""
    m = answer(row, node.question) if node.branches else None
    return follow(node.branches[m], row) if m in node.branches else node.value


# C4.5.
def split_information(D, question):
    """``H_A(D) = −Σ |D_m|/|D| log₂ |D_m|/|D|``. :eq:`eq-split-information`"""
    return entropy([Row({}, m, weight(D_m)) for m, D_m in divide(D, question).items()])


def thresholds(D, A):
    """``T_A``: halfway between neighbouring values. :eq:`eq-cut`"""
    values = sorted({value(row, A) for row in D} - {None})
    return [float(low / 2 + high / 2) for low, high in pairwise(values)]


def largest_ratio(D, attributes, least=2):
    """``A* = arg max g(D, A) / H_A(D)`` where ``g(D, A) ≥ ḡ``. :eq:`eq-c45-choice`"""
    g = {}
    for A, categories in attributes.items():
        questions = [(A, cut) for cut in ([None] if categories else thresholds(D, A))]
        of_A = {q: gain(D, q) for q in questions if divides(D, q, least)}
        if of_A:
            g[largest(of_A)] = max(of_A.values())
    mean = sum(g.values()) / max(len(g), 1)
    return largest({q: g[q] / split_information(D, q) for q in g if g[q] >= mean - TIE})


# CART.
def gini(D):
    """``Gini(D) = 1 − Σ p_k²``. :eq:`eq-gini`"""
    return 1 - sum(p**2 for p in shares(D).values())


def mean(D):
    """``c = Σ y / |D|``. :eq:`eq-leaf-mean`"""
    return sum(row.w * row.y for row in D) / weight(D)


def squared_error(D):
    """``H(D) = Σ (y − c)² / |D|``. :eq:`eq-squared-error`"""
    c = mean(D)
    return sum(row.w * (row.y - c) ** 2 for row in D) / weight(D)


def best_cut(D, attributes, gain=gain, epsilon=-inf, **terms):
    """The question with two answers that gains most. :eq:`eq-one-against-rest`"""
    of = {A: [(a,) for a in C or []] or thresholds(D, A) for A, C in attributes.items()}
    cuts = [(A, cut) for A in of for cut in of[A]]
    return largest({q: gain(D, q, **terms) for q in cuts if divides(D, q)}, epsilon)


# Pruning.
def leaves(node):
    """The leaves below a node, or the node itself if it is a leaf."""
    return [leaf for t in node.branches.values() for leaf in leaves(t)] or [node]


def link_strengths(node, N, impurity=gini):
    """``g(t) = (R(t) − R(T_t)) / (|T_t| − 1)`` of inner nodes. :eq:`eq-weakest-link`"""
    if not node.branches:
        return []
    R_t, *R = [weight(t.rows) / N * impurity(t.rows) for t in [node, *leaves(node)]]
    below = [link_strengths(t, N, impurity) for t in node.branches.values()]
    return [(R_t - sum(R)) / (len(R) - 1), *chain(*below)]


def prune(node, alpha, N, impurity=gini):
    """The smallest tree with the least ``R(T) + α |T|``. :eq:`eq-cost-complexity`"""
    branches = {m: prune(t, alpha, N, impurity) for m, t in node.branches.items()}
    pruned = node._replace(branches=branches)
    stays = branches and link_strengths(pruned, N, impurity)[0] > alpha + TIE
    return pruned if stays else Node(node.rows, node.value)


# Missing values.
def share_out(D, question):
    """``D_m``, and ``w r_m`` of each row without an answer. :eq:`eq-missing-shares`"""
    parts = divide(D, question)
    rest = [row for row in D if answer(row, question) is None]
    r = {m: weight(part) / (weight(D) - weight(rest)) for m, part in parts.items()}
    return {m: parts[m] + [row._replace(w=row.w * r[m]) for row in rest] for m in parts}


def predict_shares(node, row):
    """{class: share}; a row without an answer goes down all branches, as in growing."""
    if not node.branches:
        return node.value
    known, total = answer(row, node.question), Counter()
    for m, t in node.branches.items():
        r = m == known if known in node.branches else weight(t.rows) / weight(node.rows)
        total.update({k: r * p for k, p in predict_shares(t, row).items()})
    return total


# Oblique trees.
def climb(D, question, **terms):
    """The end of a climb that changes one ``w_j`` at a time. :eq:`eq-oblique-step`"""
    best = question
    for sign, j in product((1, -1), dict(question[0])):
        x = sorted(sign * row.x[j] for row in D)
        pivot = x[0] - (x[-1] - x[0]) / 20  # below all rows, then above them
        w, t = best
        u = [(t - value(row, w)) / (sign * row.x[j] - pivot) for row in D]
        in_u = [row._replace(x={"u": u_i}) for row, u_i in zip(D, u)]
        _, beta = best_cut(in_u, {"u": None}, **terms) or (None, 0)
        turned = tuple((A, w_A + sign * beta * (j == A)) for A, w_A in w)
        cuts = best, best_cut(D, {turned: None}, **terms)
        best = largest({q: gain(D, q, **terms) for q in cuts if q})
    return best if best == question else climb(D, best, **terms)


def tilted_cut(D, attributes, **terms):
    """The best end of the climbs that start at the best cut of each column."""
    usable = [A for A in attributes if divides(D, (A, None))]
    columns = [tuple((A, float(A == B)) for A in usable) for B in usable]
    ends = [climb(D, best_cut(D, {w: None}, **terms), **terms) for w in columns]
    return largest({q: gain(D, q, **terms) for q in ends})


# Forests. The model of many trees is a list of (vote, tree).
def forest(D, attributes, choose, M, rng):
    """[(1/M, G)]: each on ``|D|`` rows that ``rng`` draws with replacement."""
    trees = [grow(rng.choices(D, k=len(D)), attributes, choose) for _ in range(M)]
    return [(1 / M, G) for G in trees]


def random_cut(D, attributes, q, rng, **terms):
    """The best cut of q columns, drawn from those that can divide D."""
    usable = [A for A in attributes if divides(D, (A, None))]
    drawn = rng.sample(usable, min(q, len(usable)))
    return best_cut(D, {A: attributes[A] for A in drawn}, **terms)


def score(members, row):
    """``F(x) = Σ factor · f(x)``, a number. :eq:`eq-bagging`, :eq:`eq-additive`"""
    return sum(factor * follow(f, row) for factor, f in members)


# AdaBoost.
def adaboost(D, attributes, choose, rounds):
    """[(α, G)] for the labels −1 and +1: ``α = ½ ln [(1 − e) / e]``. :eq:`eq-vote`"""
    members = []
    for _ in range(rounds):
        G = grow(D, attributes, choose, depth=1)
        e = weight([row for row in D if follow(G, row) != row.y]) / weight(D)
        if e > 1 / 2 - TIE:  # no better than chance
            break
        if e == 0:  # decides alone
            return [*members, (1 + sum(alpha for alpha, _ in members), G)]
        alpha = log((1 - e) / e) / 2
        members.append((alpha, G))
        D = [row._replace(w=row.w * exp(-alpha * row.y * follow(G, row))) for row in D]
    return members


# Gradient boosting.
def squared(row, F):
    """``l = ½ (y − F)²``: the residual ``y − F`` takes the place of y."""
    return row._replace(y=row.y - F)


def logistic(row, F):
    """``l = ln(1 + e^F) − y F``: ``y − p`` for y, and ``h = p (1 − p)``."""
    p = 1 / (1 + exp(-F))
    return row._replace(y=row.y - p, h=p * (1 - p))


def newton(D, lam=0.0):
    """``w* = −G / (H + λ)`` and ``Obj* = −½ G² / (H + λ)``. :eq:`eq-leaf-value`"""
    G, H = -sum(row.w * row.y for row in D), sum(row.w * row.h for row in D)
    return -G / (H + lam), -(G**2) / (H + lam) / 2


def newton_gain(D, question, lam, gamma=0.0):
    """``½ [G_L²/(H_L + λ) + G_R²/(H_R + λ) − G²/(H + λ)] − γ``. :eq:`eq-newton-gain`"""
    after = sum(newton(part, lam)[1] for part in divide(D, question).values())
    return newton(D, lam)[1] - after - gamma


def boost(D, attributes, loss, F_0, choose, rounds, rate=0.1, depth=3, lam=0.0):
    """[(1, F_0), (ν, f_1), ...]: ``F_m = F_{m−1} + ν f_m``. :eq:`eq-shrinkage`"""
    members = [(1, Node(D, F_0))]
    for _ in range(rounds):
        residuals = [loss(row, score(members, row)) for row in D]
        f = grow(residuals, attributes, choose, lambda D: newton(D, lam)[0], depth)
        members.append((rate, f))
    return members
