"""The addresses of this room."""

from django.urls import path

from dashboard.producers import views

urlpatterns = [
    path("producers/", views.producers, name="producers"),
    path("producers/canary/<int:pk>", views.switch_canary, name="switch canary"),
]
