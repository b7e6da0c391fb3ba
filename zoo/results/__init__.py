"""What trainings came to: a record of each, and the page that is made of all records.

`zoo record NAME` writes a record below `docs/results`, `zoo align SET` one of word alignments, and `zoo
results` makes `docs/results.md` of them. No figure of
the page is typed by hand; the published ones beside ours are in `zoo.results.published`, with their sources.
"""

from zoo.results.alignments import judge_alignments, read_alignments, write_alignments
from zoo.results.page import page, write_page
from zoo.results.records import read_records, record, write_record

__all__ = [
    "judge_alignments",
    "page",
    "read_alignments",
    "read_records",
    "record",
    "write_alignments",
    "write_page",
    "write_record",
]
