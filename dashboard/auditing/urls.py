"""The addresses of this room."""

from django.urls import path

from dashboard.auditing import views

urlpatterns = [path("audit/", views.audit, name="audit")]
