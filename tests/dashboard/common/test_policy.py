from __future__ import annotations

import re
from io import BytesIO

import pytest
from django.http import FileResponse, HttpRequest, HttpResponse
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


@pytest.mark.django_db  # the end of an answer looks after the connection that an earlier test left
def test_a_static_file_is_read_at_once_and_keeps_its_headers() -> None:
    def serve(_request: HttpRequest) -> FileResponse:
        return FileResponse(BytesIO(b"body{}"), content_type="text/css", headers={"ETag": '"1"'})

    response = PolicyMiddleware(serve)(RequestFactory().get("/static/a.css"))

    assert not response.streaming
    assert isinstance(response, HttpResponse)
    assert (response.content, response["Content-Type"], response["ETag"]) == (b"body{}", "text/css", '"1"')


@pytest.mark.django_db  # the end of an answer looks after the connection that an earlier test left
def test_a_static_file_that_was_changed_since_the_start_is_served_whole() -> None:
    def serve(_request: HttpRequest) -> FileResponse:
        return FileResponse(BytesIO(b"body{color:red}"), content_type="text/css", headers={"Content-Length": "6"})

    response = PolicyMiddleware(serve)(RequestFactory().get("/static/a.css"))

    assert response["Content-Length"] == "15"


@pytest.mark.parametrize("path", [str(path) for path in files("*.html") if path.parts[0] == "templates"])
def test_no_template_holds_what_the_policy_refuses(path: str) -> None:
    text = (ROOT / path).read_text()

    assert not re.search(r"\sstyle=|\son[a-z]+=|javascript:|<style|<script(?![^>]*\ssrc=)", text)
