"""Reports as files: one self-contained HTML page, a Markdown summary, tables as CSV, and all data as JSON.

content.py   sections with tables, figures and sentences, independent of the output format
markup.py    as HTML and as Markdown
vector.py    matplotlib's figures inside the page
ink.py       colours and styles of figures
files.py     writes a report into a folder
"""
