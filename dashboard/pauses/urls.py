"""The addresses of this room."""

from django.urls import path

from dashboard.pauses import views

urlpatterns = [path("groups/<int:pk>/pauses/", views.pauses, name="pauses")]
