"""The addresses of this room."""

from django.urls import path

from dashboard.people import views

urlpatterns = [
    path("login/", views.log_in, name="log in"),
    path("logout/", views.log_out, name="log out"),
    path("password/", views.change_password, name="change password"),
]
