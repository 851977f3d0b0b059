"""The small tables of the book, as data frames in English or Chinese, and a function that puts numbers into bins.

Columns of words are categorical, their values in the order of first appearance: an attribute keeps the values
that some rows of the table happen to lack. ``frame.attrs["chinese"]`` maps every English term to the Chinese one,
and ``language="zh"`` gives the table in Chinese.

A trap in tables of your own: ``pandas.read_csv`` takes words such as "None", "NA" and "null" for missing entries, so a
category of that name turns into a gap without a warning. Where a table has one, read it with
``keep_default_na=False, na_values=[""]``, as the tables here are read: then only an empty field is missing.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd

__all__ = ["load_watermelon", "load_playtennis", "load_loan", "load_lunch", "load_benchmarks", "load_tuning", "in_bins"]


def load_watermelon(version: str = "2.0", language: str = "en") -> pd.DataFrame:
    """Seventeen watermelons (西瓜): which of them are ripe?

    Parameters
    ----------
    version : {"2.0", "3.0", "3.0-alpha", "2.0-alpha"}
        "2.0" has six attributes in words; "3.0" adds density and sugar; "3.0-alpha" has density and sugar alone;
        "2.0-alpha" is 2.0 with some entries missing.
    language : {"en", "zh"}
        Language of columns and values.

    Returns
    -------
    DataFrame of 17 rows, numbered from 1; the label is the last column, ``ripe`` (好瓜).

    Raises
    ------
    ValueError
        If ``version`` or ``language`` is none of these.

    Notes
    -----
    Source: Zhou (2016), tables 4.1, 4.3, 4.4 and 4.5.
    """
    measured = ["density", "sugar"]
    if version == "2.0-alpha":
        # The columns take their values from the full table: a gap removes an entry, not a value.
        melons = _read("watermelon_missing")
        full = _read("watermelon")
        for column in melons:
            melons[column] = melons[column].cat.set_categories(full[column].cat.categories)
    elif version in ("2.0", "3.0", "3.0-alpha"):
        melons = _read("watermelon")
        keep = {"2.0": melons.columns.difference(measured), "3.0": melons.columns, "3.0-alpha": [*measured, "ripe"]}
        melons = melons.loc[:, melons.columns.isin(keep[version])]
    else:
        raise ValueError(f"version must be '2.0', '3.0', '3.0-alpha' or '2.0-alpha'; got {version!r}.")
    return _in_language(melons, language)


def load_playtennis(language: str = "en") -> pd.DataFrame:
    """Fourteen days, with ``play`` (打网球) as the label: the table of Quinlan (1986) as Mitchell (1997) prints it.

    The index is the day. ``language`` is "en" or "zh".
    """
    return _in_language(_read("playtennis"), language)


def load_loan(language: str = "en") -> pd.DataFrame:
    """Fifteen loan applications, with ``approved`` (批准贷款) as the label: table 5.1 of Li Hang.

    ``language`` is "en" or "zh".
    """
    return _in_language(_read("loan"), language)


def load_lunch(language: str = "en") -> pd.DataFrame:
    """Twelve dishes near the office: the distance in metres, the price in yuan, and whether we went (``eat``, 去吃).

    Made for this book after the lunch example of its sources: two hundred metres, twenty yuan, Lanzhou noodles.
    The index is the dish. ``language`` is "en" or "zh".
    """
    return _in_language(_read("lunch"), language)


def load_benchmarks() -> pd.DataFrame:
    """Time and memory that treekit takes, compared with other programs: one row for each comparison.

    ``what`` was done on a table of ``n_rows`` rows; ``measure`` names the unit of the numbers of ``treekit`` and of the
    ``other`` program, the ``peer``; ``seen`` is their ratio, or treekit's number where it stands alone. ``date``,
    ``machine`` and ``versions`` record the conditions. `make bench` of the book's repository writes the file again.
    """
    with files("treekit.data").joinpath("benchmarks.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False, na_values=[""])


def load_tuning() -> pd.DataFrame:
    """What XGBoost gains by tuning, compared with other models: one row per table, split and model.

    ``left`` is the loss on the test rows of a ``split`` of a ``table``, as a share of the loss of a constant
    prediction; ``seconds`` are the CPU seconds in which the ``model`` was tuned and fitted. A model *only x* is XGBoost
    with early stopping and one parameter tuned; a model *and x* tunes x besides all that the models before it tune.
    The forest, LightGBM and CatBoost are not tuned. `make tuning` of the book's repository writes the file again.
    """
    with files("treekit.data").joinpath("tuning.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def _read(name: str) -> pd.DataFrame:
    """One CSV file of treekit/data; its first column names the rows, columns of words become categorical."""
    with files("treekit.data").joinpath(f"{name}.csv").open(encoding="utf-8") as file:
        frame = pd.read_csv(file, index_col=0, keep_default_na=False, na_values=[""])
    words = frame.columns[~frame.dtypes.map(pd.api.types.is_numeric_dtype)]
    return frame.astype({column: pd.CategoricalDtype(frame[column].dropna().unique()) for column in words})


def _in_language(frame: pd.DataFrame, language: str) -> pd.DataFrame:
    """The frame in English, with its Chinese terms attached, or in Chinese."""
    terms = _read("terms")["chinese"].astype(str)
    if language == "zh":
        for column in frame.select_dtypes("category"):
            frame[column] = frame[column].cat.rename_categories(terms)
        return frame.rename(index=terms, columns=terms).rename_axis(index=terms)
    if language != "en":
        raise ValueError(f"language must be 'en' or 'zh'; got {language!r}.")
    words = [
        frame.index.name,
        *frame.columns,
        *(v for c in frame.select_dtypes("category") for v in frame[c].cat.categories),
    ]
    frame.attrs["chinese"] = {word: terms[word] for word in words}
    return frame


def in_bins(train: pd.DataFrame, new: pd.DataFrame, n_bins: int = 4) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Numbers as bins, for a tree that asks about categories: each holds about equally many training rows.

    Parameters
    ----------
    train : the training rows, columns of numbers without gaps. They alone decide where the edges lie.
    new : rows to be put into the same bins, with the same columns.
    n_bins : how many bins a column has; fewer where edges coincide.

    Returns
    -------
    Both tables with the numbers of the bins, from 0. A value on an edge belongs to the bin below it.

    Examples
    --------
    >>> train, new = in_bins(pd.DataFrame({"sugar": [1, 2, 3, 4]}), pd.DataFrame({"sugar": [0, 2.5, 9]}), n_bins=2)
    >>> train["sugar"].tolist(), new["sugar"].tolist()
    ([0, 0, 1, 1], [0, 0, 1])
    """
    edges = train.quantile(np.linspace(0, 1, n_bins + 1)[1:-1])
    binned = ({A: np.searchsorted(edges[A].unique(), rows[A]) for A in train} for rows in (train, new))
    in_train, in_new = map(pd.DataFrame, binned)
    return in_train.set_index(train.index), in_new.set_index(new.index)
