"""The addresses of this room."""

from django.urls import path

from dashboard.history import views

urlpatterns = [
    path("nightly/", views.nightly, name="nightly"),
    path("nightly/order", views.order, name="order a report"),
    path("nightly/<str:name>/", views.report, name="nightly report"),
]
