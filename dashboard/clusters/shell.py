"""What every page's frame needs: who is here, which clusters there are for them, and whether one is the demo."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from dashboard.clusters.models import Cluster
from dashboard.people.roles import Access


def shell(request: HttpRequest) -> dict[str, object]:
    """Give a template's ``clusters`` (those that this person may see) and ``demo`` (names of embedded ones)."""
    access = getattr(request, "access", None)
    if not isinstance(access, Access):
        return {"access": None, "clusters": [], "demo": []}
    clusters = visible_clusters(access=access)
    return {"access": access, "clusters": clusters, "demo": [each.name for each in clusters if each.is_demo]}


def visible_clusters(*, access: Access, also: str = "") -> list[Cluster]:
    """Give the clusters of which this person may see anything, with what their watchers said last.

    Those that were put aside are not among them, but for the one named by ``also``.
    """
    return [each for each in all_clusters(access=access) if not each.is_aside or each.name == also]


def visible_cluster(*, pk: int, access: Access) -> Cluster:
    """Give one of those clusters.

    Raises:
        Http404: there is no such cluster, or not for this person; which of the two is not told.
    """
    for cluster in visible_clusters(access=access):
        if cluster.pk == pk:
            return cluster
    raise Http404(_("There is no such cluster, or you may not see it."))


def chosen_of(clusters: list[Cluster], chosen: str) -> list[Cluster]:
    """Give the one that is asked for by its name; without a name, those that were not put aside.

    Raises:
        Http404: there is no such cluster, or not for this person; which of the two is not told.
    """
    if not chosen:
        return [each for each in clusters if not each.is_aside]
    found = [each for each in clusters if each.name == chosen]
    if not found:
        raise Http404(_("There is no cluster %(name)s (any more), or you may not see it.") % {"name": chosen})
    return found


def aside_of(clusters: list[Cluster], chosen: str) -> list[Cluster]:
    """Give those that were put aside: of all that are there, or the one that is asked for by its name."""
    return [each for each in clusters if each.is_aside and chosen in {"", each.name}]


def all_clusters(*, access: Access) -> list[Cluster]:
    """Give them with those that were put aside."""
    every = Cluster.objects.select_related("watch").order_by("name")
    return [each for each in every if access.may_see_cluster(each.name)]
