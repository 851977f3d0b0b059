"""Tables as people have them: each is read, or refused in a sentence that says what to do."""

from __future__ import annotations

import io
import zipfile

import pytest

from your_table.columns import columns_of
from your_table.page import grow, take
from your_table.reading import MOST_ROWS, MOST_WITH_NUMPY, Refusal, read_table

PLAIN = "sort,größe,preis,süß\nBoskop,7.5,1.2,ja\nGala,6.25,2,nein\nBoskop,8,1.5,ja\n"
HEAD, *BELOW = [line.split(",") for line in PLAIN.splitlines()]


def as_german(text: str) -> str:
    return text.replace(",", ";").replace(".", ",")


SPELLINGS = {
    "as it is": PLAIN.encode(),
    "with a mark of Unicode": PLAIN.encode("utf-8-sig"),
    "UTF-16 with a mark": PLAIN.encode("utf-16"),
    "UTF-16 without": PLAIN.encode("utf-16-le"),
    "Windows": as_german(PLAIN).encode("cp1252"),
    "an old Macintosh's line ends": PLAIN.replace("\n", "\r").encode(),
    "tabs": PLAIN.replace(",", "\t").encode(),
    "bars, and lines without anything": PLAIN.replace(",", " | ").replace("\n", "\n\n").encode(),
    "quotes": "\r\n".join(",".join(f'"{word}"' for word in line) for line in [HEAD, *BELOW]).encode(),
    "Excel's own first line": f"sep=;\r\n{as_german(PLAIN)}".encode(),
    "a title above": f"Obst im Herbst,,,\n{PLAIN}".encode(),
}


def numbers(data: bytes) -> list[list[float]]:
    """The columns of numbers of a file."""
    from your_table.columns import values

    table = read_table(data)
    columns = columns_of(table)
    return [values(column, "number", table.separator) for column in columns if column.name in ("größe", "preis")]


@pytest.mark.parametrize("data", SPELLINGS.values(), ids=SPELLINGS)
def test_one_table_in_many_spellings(data):
    table = read_table(data)
    assert table.names == HEAD
    assert [row[0] for row in table.rows] == ["Boskop", "Gala", "Boskop"] and table.rows[1][3] == "nein"
    assert numbers(data) == [[7.5, 6.25, 8.0], [1.2, 2.0, 1.5]]


def test_chinese_of_windows():
    table = read_table("色泽,敲声,好瓜\n青绿,浊响,是\n乌黑,沉闷,否\n".encode("gb18030"))
    assert table.names == ["色泽", "敲声", "好瓜"] and table.rows[1] == ["乌黑", "沉闷", "否"]
    assert "gb18030" in table.notes[0]


def test_cyrillic_when_the_reader_says_so():
    data = "цвет,вес\nкрасный,1\nзелёный,2\n".encode("cp1251")
    assert read_table(data, "cp1251").names == ["цвет", "вес"]


def test_a_field_may_hold_lines_and_separators():
    table = read_table(b'words,n\n"one, two\nthree ""four""",1\nx,2\n')
    assert table.rows[0] == ['one, two three "four"', "1"]


def workbook(*rows: str) -> bytes:
    """A workbook as Excel writes it: shared strings, numbers with all digits, cells left out."""
    file = io.BytesIO()
    home = "http://schemas.openxmlformats.org"
    spaces = f'xmlns="{home}/spreadsheetml/2006/main" xmlns:r="{home}/officeDocument/2006/relationships"'
    sheet = "".join(f"<row>{row}</row>" for row in rows)
    strings = "<si><t>sugar</t></si><si><r><t>ri</t></r><r><t>pe</t></r></si><si><t>yes</t></si>"
    link = '<Relationship Id="rId7" Target="worksheets/sheet3.xml"/>'
    parts = {
        "workbook.xml": f'<workbook {spaces}><sheets><sheet name="A" sheetId="1" r:id="rId7"/></sheets></workbook>',
        "_rels/workbook.xml.rels": f'<Relationships xmlns="x">{link}</Relationships>',
        "sharedStrings.xml": f"<sst {spaces}>{strings}</sst>",
        "worksheets/sheet3.xml": f"<worksheet {spaces}><sheetData>{sheet}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(file, "w") as made:
        for name, content in parts.items():
            made.writestr(f"xl/{name}", content)
    return file.getvalue()


def test_a_workbook_of_excel():
    """What a formula gave, truth values, errors as gaps, and cells that are left out."""
    head = '<c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>ok</t></is></c><c r="C1" t="s"><v>1</v></c>'
    first = '<c r="A2"><v>0.45999999999999996</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" t="s"><v>2</v></c>'
    second = '<c r="A3"><f>A2*2</f><v>3.0</v></c><c r="C3" t="str"><v>no</v></c>'
    third = '<c r="A4" t="e"><v>#N/A</v></c><c r="B4" t="b"><v>0</v></c><c r="C4" t="s"><v>2</v></c>'
    table = read_table(workbook(head, first, second, third))
    assert table.names == ["sugar", "ok", "ripe"]
    assert table.rows == [["0.45999999999999996", "TRUE", "yes"], ["3", "", "no"], ["", "FALSE", "yes"]]


def test_ragged_rows_are_filled_and_told():
    table = read_table(b"a,b,c\n1,2,3\n4,5\n6,7,8,9\n1,2,3,\n")
    assert table.rows == [["1", "2", "3"], ["4", "5", ""], ["6", "7", "8"], ["1", "2", "3"]]
    assert len(table.notes) == 1 and table.notes[0].startswith("2 rows have more or fewer fields than there are names")


def test_names_are_made_where_there_are_none_and_told_apart():
    assert read_table(b"5.1,3.5,0\n4.9,3.0,1\n").names == ["column 1", "column 2", "column 3"]
    assert len(read_table(b"5.1,3.5,0\n4.9,3.0,1\n").rows) == 2
    assert read_table(b"a,,a,a\n1,2,3,4\n5,6,7,8\n").names == ["a", "column 2", "a (again)", "a (again) (again)"]


def test_of_a_million_rows_some_are_drawn():
    table = read_table(b"a,b\n" + b"".join(b"%d,%d\n" % (k % 7, k % 2) for k in range(1_000_000)))
    assert len(table.rows) == MOST_ROWS and table.n_rows == 1_000_000
    assert table.notes == [
        f"Of the 1,000,000 rows {MOST_ROWS:,} were drawn at random; the tree grows from these. "
        f"Methods that fetch NumPy learn from {MOST_WITH_NUMPY:,}."
    ]


REFUSED = {
    b"": "empty",
    b"\xef\xbb\xbf \n\n": "empty",
    b"a,b\n1,2\n": "fewer than two rows",
    b"name\nAda\nBob\n": "Only one column",
    b"%PDF-1.7\n...": "a PDF document",
    b"\xd0\xcf\x11\xe0\xa1\xb1": "save it as CSV (UTF-8) or as .xlsx",
    b'{"rows": [1, 2]}': "JSON",
    b"<!doctype html><table>": "a web page",
    b"PK\x03\x04 and no more": "damaged",
    b'a,b\n"1,2\n' + b"3,4\n" * 200: "is not closed",
}


@pytest.mark.parametrize("data", REFUSED, ids=REFUSED.values())
def test_what_cannot_be_read_is_refused_in_a_sentence(data):
    with pytest.raises(Refusal, match=REFUSED[data].replace("(", r"\(").replace(")", r"\)")):
        read_table(data)
    assert take(data, "table.csv")["refused"].endswith(".")


def test_another_archive_is_no_workbook():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("table.csv", PLAIN)
    with pytest.raises(Refusal, match="Unpack it"):
        read_table(file.getvalue())


# -- what a column is taken for ---------------------------------------------------------------------------------------


def kind(*words: str, name: str = "x", separator: str = ",") -> tuple[str, str]:
    """What a column of words is taken for, beside one to predict."""
    lines = [separator.join((f'"{word}"', label)) for word, label in zip(words, "ab" * len(words))]
    [column, _] = columns_of(read_table(f"{name}{separator}y\n{chr(10).join(lines)}\n".encode()))
    return column.kind, column.why


def test_what_columns_are_taken_for():
    assert kind("1", "2.5", "NA", "3") == ("number", "")
    assert kind("1.000,5", "2,5", "12.000", "3", separator=";") == ("number", "")
    assert kind("1,000.5", "12,000", "7") == ("number", "")
    assert kind("$3", "12 %", "−4", "1e3") == ("number", "")
    assert kind("red", "green", "red", "NA") == ("category", "")
    assert kind("1", "2", "3", "4") == ("left out", "it numbers the rows")
    assert kind("17", "4", "12", "9", name="Patient ID") == ("left out", "it numbers the rows")
    assert kind("5", "5", "5") == ("left out", "it says the same in every row")
    assert kind("", "?", "") == ("left out", "it is empty")
    assert kind(*(f"name {k}" for k in range(50))) == ("left out", "nearly all its words differ")


def test_a_million_names_are_left_out():
    """And where the reader takes them in all the same, the tree stands."""
    rows = "".join(f"person {k},{k % 3},{'yes' if k % 3 else 'no'}\n" for k in range(50_000))
    about = take(f"name,group,label\n{rows}".encode(), "people.csv")
    assert [column["kind"] for column in about["columns"]] == ["left out", "number", "category"]
    grown = grow({**about["suggested"], "kinds": {"name": "category"}})
    assert grown["rules"][0].startswith("if group <= 0.5 then no")


# -- what cannot be predicted -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"target": "one"}, "Every row says “same” in “one”, so there is nothing to tell apart: predict another"),
        ({"target": "name"}, "“name” holds 40 different words, and a tree of classes needs 20 or fewer"),
        ({"target": "x", "method": "id3"}, "“x” holds numbers, and ID3 predicts classes: choose CART"),
        ({"target": "y", "kinds": {"x": "left out", "name": "left out"}}, "No column is left to ask about"),
        ({"target": "y", "method": "id3"}, "ID3 asks about words alone: choose C4.5 or CART."),
        ({"target": "y", "kinds": {"name": "number", "x": "left out"}}, "“name” holds no numbers: take it for"),
    ],
)  # fmt: skip
def test_what_cannot_be_predicted_is_refused(settings, sentence):
    letters = [f"{chr(97 + k // 6)}{chr(97 + k % 6)}" for k in range(40)]
    rows = "".join(f"{name},same,{k * 1.5},{'ab'[k % 2]}\n" for k, name in enumerate(letters))
    take(f"name,one,x,y\n{rows}".encode(), "table.csv")
    assert sentence in grow(settings)["refused"]


def test_a_table_where_nothing_can_be_predicted():
    rows = "".join(f"name {k},{k}\n" for k in range(30))
    assert take(f"name,id\n{rows}".encode(), "t.csv")["refused"].startswith("No column can be predicted")
