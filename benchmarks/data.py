"""The tables that are measured: made from a seed, of any number of rows.

A table of numbers has 20 columns of float32, row after row in memory, as scikit-learn wants them. They are drawn from a
normal distribution of standard deviation 100: scikit-learn takes numbers closer than 1e-7 for equal, and with a
deviation of 1 a million rows hold many such neighbours.

Five columns tell about the target, fifteen are noise; half of the target's variance is noise as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from treekit.numeric import Array

N_COLUMNS = 20
N_CATEGORIES = 8


class Table(NamedTuple):
    """Rows, what they are, and what they weigh (None: all the same)."""

    X: Array
    y: Array
    weight: Array | None = None


def targets(z: Array, rng: np.random.Generator) -> Array:
    """A number for each row of standardised columns: a line, a product, a step and a bend, plus noise."""
    signal = z[:, 0] + z[:, 1] * z[:, 2] + (z[:, 3] > 0.5) + np.abs(z[:, 4])
    return signal + rng.normal(scale=signal.std(), size=len(z))


def in_classes(target: Array, n_classes: int) -> Array:
    """Equally large classes, 0 for the lowest targets."""
    cuts = np.quantile(target, np.arange(1, n_classes) / n_classes)
    return np.searchsorted(cuts, target)


def numbers(n_rows: int, seed: int) -> Table:
    """Normal columns, and numbers to predict."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n_rows, N_COLUMNS), dtype=np.float32)
    return Table(100 * z, targets(z, rng))


def classes(n_rows: int, seed: int, n_classes: int = 2) -> Table:
    """Normal columns, and classes of equal size."""
    X, target, _ = numbers(n_rows, seed)
    return Table(X, in_classes(target, n_classes))


def ten_values(n_rows: int, seed: int) -> Table:
    """Columns that hold the whole numbers from 0 to 9, and two classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 10, (n_rows, N_COLUMNS)).astype(np.float32)
    return Table(X, in_classes(targets((X - 4.5) / 3, rng), 2))


def weighted(n_rows: int, seed: int) -> Table:
    """Two classes, and rows that weigh anything from 0.5 to 1.5."""
    X, y, _ = classes(n_rows, seed)
    return Table(X, y, np.random.default_rng(seed).uniform(0.5, 1.5, n_rows))


def categories(n_rows: int, seed: int) -> tuple[pd.DataFrame, Array, Array]:
    """Columns of 8 categories, as a data frame and as 160 columns of 0 and 1 (one-hot codes), and two classes."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, N_CATEGORIES, (n_rows, N_COLUMNS))
    effect = rng.standard_normal((N_COLUMNS, N_CATEGORIES))  # what each category of a column stands for
    y = in_classes(targets(effect[np.arange(N_COLUMNS), code], rng), 2)
    names = list("abcdefgh")
    frame = pd.DataFrame({f"x{j}": pd.Categorical.from_codes(code[:, j], names) for j in range(N_COLUMNS)})
    one_hot = (code[:, :, np.newaxis] == np.arange(N_CATEGORIES)).reshape(n_rows, -1).astype(np.float32)
    return frame, one_hot, y


def two_columns_of_categories(n_rows: int, seed: int) -> tuple[pd.DataFrame, Array]:
    """Columns of 5,000 and of 50 categories, and numbers to predict."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n_values, n_rows) for n_values in (5000, 50)]
    y = sum(rng.standard_normal(code.max() + 1)[code] for code in codes) + rng.standard_normal(n_rows)
    names = "many", "few"
    return pd.DataFrame({name: pd.Categorical(code.astype(str)) for name, code in zip(names, codes)}), y
