"""What every process that marks needs, imported and set up once, in the server that forks them: see `grading.run`.

It holds nothing of an assignment or a student.
"""

# ruff: noqa: F401
import sqlite3

import IPython.core.completerlib
import IPython.core.magics
import IPython.core.oinspect
import nbformat
import sqlalchemy.dialects.sqlite
from nbformat.v4 import new_notebook
from sqlalchemy.orm import configure_mappers

import grading.run
import treekit.exercises

configure_mappers()  # of nbgrader's gradebook
nbformat.reads(nbformat.writes(new_notebook()), as_version=4)  # which compiles the schemas of notebooks
grading.run.programs()  # reads many files, once
