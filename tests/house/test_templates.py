"""What every page's template keeps to, whoever writes it."""

import re

from tests.house.project import ROOT, files, is_vendored

TEMPLATES = [path for path in files("*.html") if path.parts[0] == "templates" and not is_vendored(path)]
TABLE = re.compile(r"<table\b[^>]*>\s*(<caption\b)?")


def test_every_table_says_to_a_screen_reader_what_it_is_of() -> None:
    found = {str(path): TABLE.findall((ROOT / path).read_text()) for path in TEMPLATES}

    assert sum(map(len, found.values())) > 20
    assert [path for path, captions in found.items() if not all(captions)] == []
