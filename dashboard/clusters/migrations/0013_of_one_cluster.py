"""A topic and a queue stay where they are: whoever names one would be of two clusters otherwise."""

from django.db import migrations

from dashboard.common.triggers import always_the_same


class Migration(migrations.Migration):
    """The triggers of this room."""

    dependencies = [("clusters", "0012_orders_in_order")]
    operations = [
        always_the_same("clusters_topic", "cluster_id"),
        always_the_same("clusters_queue", "topic_id"),
    ]
