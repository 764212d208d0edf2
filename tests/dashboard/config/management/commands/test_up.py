import pytest
from django.core.management import CommandError, call_command


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"port": -1}, "--port -1; it needs a number from 0 to 65535"),
        ({"namesrv": "nowhere"}, "--namesrv 'nowhere'"),
        ({"namesrv": "http://a:1/"}, "it needs host:port, not the address of a page"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_anything_is_started(
    options: dict[str, object], word: str
) -> None:
    with pytest.raises(CommandError, match=word):
        call_command("up", **options)
