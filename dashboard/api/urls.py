"""The addresses of this room: importing a module of operations declares them."""

from django.urls import URLPattern, path

from dashboard.api import (
    api_tokens,
    audit,
    by_config,
    canaries,
    clusters,
    demo,
    groups,
    nightly,
    orders,
    pauses,
    picks,
    plans,
    producers,
    queues,
    report_tokens,
    rounds,
    views,
)
from dashboard.api.site import addresses, of_the_api, openapi

OPERATIONS = (
    api_tokens,
    audit,
    by_config,
    canaries,
    clusters,
    demo,
    groups,
    nightly,
    orders,
    pauses,
    picks,
    plans,
    producers,
    queues,
    report_tokens,
    rounds,
)

urlpatterns: list[URLPattern] = [
    path("api/", views.page, name="api"),
    path("api/tokens/make", views.make_token, name="make api token"),
    path("api/tokens/<int:pk>/revoke", views.revoke_token, name="revoke api token"),
    path("api/v1/openapi.json", of_the_api(openapi), name="api openapi"),
    *addresses(),
]
