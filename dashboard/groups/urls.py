"""The addresses of this room."""

from django.urls import path

from dashboard.groups import found_views, order_views, past_views, receipt_views, views

urlpatterns = [
    path("", views.overview, name="overview"),
    path("findings/", found_views.findings, name="findings"),
    path("groups/smalls", views.smalls, name="smalls"),
    path("groups/fared", views.fared, name="fared"),
    path("groups/<int:pk>/", past_views.group, name="group"),
    path("groups/<int:pk>/facts", views.facts, name="group facts"),
    path("groups/<int:pk>/lag", views.lag, name="group lag"),
    path("groups/<int:pk>/owners", views.owners, name="group owners"),
    path("groups/<int:pk>/queue", views.queue, name="queue"),
    path("groups/<int:pk>/orders", order_views.group_orders, name="group orders"),
    path("groups/<int:pk>/order", order_views.order_of_group, name="order of group"),
    path("groups/<int:pk>/receipts/", receipt_views.receipt_list, name="receipts"),
    path("groups/<int:pk>/receipts/<int:number>/", receipt_views.receipt_page, name="receipt"),
    path("groups/<int:pk>/rounds/", views.round_list, name="rounds"),
    path("groups/<int:pk>/rounds/<int:number>/", views.round_page, name="round"),
    path("demo/<int:pk>/", order_views.demo, name="demo"),
    path("demo/<int:pk>/order", order_views.order_of_demo, name="order of demo"),
]
