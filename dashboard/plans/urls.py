"""The addresses of this room."""

from django.urls import path

from dashboard.plans import editing, views

urlpatterns = [
    path("groups/<int:pk>/plan/", views.plan, name="plan"),
    path("groups/<int:pk>/by-config/", editing.by_config, name="by config"),
    path("groups/<int:pk>/by-config/edit", editing.edit, name="edit by config"),
    path("groups/<int:pk>/by-config/export.json", editing.as_json, name="by config as json"),
    path("groups/<int:pk>/by-config/export.java", editing.as_java, name="by config as java"),
]
