"""The addresses of the whole site. Each view says which role it needs; one that does not is closed to everybody."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView
from django.views.i18n import JavaScriptCatalog, set_language

from dashboard.people.gate import needs, open_to_all
from dashboard.people.roles import Role

handler400 = "dashboard.api.errors.bad_request"  # the API answers in JSON, the pages in pages
handler403 = "dashboard.api.errors.forbidden"
handler404 = "dashboard.api.errors.not_found"
handler500 = "dashboard.api.errors.failed"
admin.site.site_header = admin.site.site_title = "Evenkeel"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("dashboard.groups.urls")),
    path("", include("dashboard.plans.urls")),
    path("", include("dashboard.pauses.urls")),
    path("", include("dashboard.producers.urls")),
    path("", include("dashboard.reports.urls")),
    path("", include("dashboard.history.urls")),
    path("", include("dashboard.api.urls")),
    path("", include("dashboard.auditing.urls")),
    path("", include("dashboard.people.urls")),
    path("", include("dashboard.health.urls")),
    path("words.js", open_to_all(JavaScriptCatalog.as_view(domain="djangojs")), name="words"),
    path("language/", open_to_all(set_language), name="language"),
    path(  # one door with its limits, not two
        "admin/login/", open_to_all(RedirectView.as_view(pattern_name="log in", query_string=True)), name="admin door"
    ),
    path(  # likewise: the page that writes it into the audit log
        "admin/password_change/",
        needs(Role.VIEWER)(RedirectView.as_view(pattern_name="change password")),
        name="admin password",
    ),
    path("admin/", admin.site.urls),
]
