from __future__ import annotations

import re

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from dashboard.common.policy import POLICY, PolicyMiddleware
from tests.house.project import ROOT, files


def answer(_request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def test_every_answer_says_what_may_run() -> None:
    response = PolicyMiddleware(answer)(RequestFactory().get("/"))

    assert response["Content-Security-Policy"] == POLICY
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY


@pytest.mark.parametrize("path", [str(path) for path in files("*.html") if path.parts[0] == "templates"])
def test_no_template_holds_what_the_policy_refuses(path: str) -> None:
    text = (ROOT / path).read_text()

    assert not re.search(r"\sstyle=|\son[a-z]+=|javascript:|<style|<script(?![^>]*\ssrc=)", text)
