"""The addresses of this room."""

from django.urls import path

from dashboard.groups import views

urlpatterns = [
    path("", views.overview, name="overview"),
    path("groups/smalls", views.smalls, name="smalls"),
    path("groups/<int:pk>/", views.group, name="group"),
    path("groups/<int:pk>/facts", views.facts, name="group facts"),
    path("groups/<int:pk>/queue", views.queue, name="queue"),
    path("groups/<int:pk>/rounds/", views.round_list, name="rounds"),
    path("groups/<int:pk>/rounds/<int:number>/", views.round_page, name="round"),
]
