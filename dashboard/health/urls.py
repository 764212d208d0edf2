"""The addresses of this room; fixed, because others ask them."""

from django.urls import path

from dashboard.health import views

urlpatterns = [
    path("healthz", views.healthz, name="healthz"),
    path("metrics", views.metrics, name="metrics"),
]
