"""The addresses of this room."""

from django.urls import path

from dashboard.reports import views

urlpatterns = [
    path("api/v1/reports", views.take, name="reports"),
    path("tokens/", views.list_tokens, name="tokens"),
    path("tokens/make", views.make_token, name="make token"),
    path("tokens/<int:pk>/revoke", views.revoke_token, name="revoke token"),
]
