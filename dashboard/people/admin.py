"""People, what groups of them may do here, and roles in Django's admin: each change of them is audited."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from dashboard.audit.audited import Audited, Reasoned, Verbs
from dashboard.common.admin import Lately, Observed
from dashboard.people.models import Attempt, Grant
from dashboard.people.operations import CHANGE_KEY

RIGHTS = ("is_active", "is_staff", "is_superuser")


class GrantForm(Reasoned, forms.ModelForm[Grant]):
    """A role for somebody, and why."""

    class Meta:
        """All of it."""

        model = Grant
        fields = ["user", "role", "clusters", "groups"]


@admin.register(Grant)
class GrantAdmin(Audited[Grant]):
    """Who may do what, and where."""

    form = GrantForm
    verbs = Verbs("grant a role", "change a role", "take back a role")
    told = ("role", "clusters", "groups")
    list_display = ("user", "role", "clusters", "groups")
    list_filter = ("role",)
    search_fields = ("user__username", "clusters", "groups")
    autocomplete_fields = ("user",)

    def subject_of(self, row: Grant) -> str:
        """Name whose it is."""
        return row.user.get_username()


def permitted(permission: Permission) -> str:
    """Say what one of Django's permissions is for; of itself it has a name that is stored in English."""
    table = permission.content_type.model_class()
    words = {
        "add": _("Can add %(table)s"),
        "change": _("Can change %(table)s"),
        "delete": _("Can delete %(table)s"),
        "view": _("Can view %(table)s"),
    }
    action, _between, named = permission.codename.partition("_")
    if table is None or named != table._meta.model_name or action not in words:
        return str(permission)
    return f"{permission.content_type} | {words[action] % {'table': table._meta.verbose_name}}"


def _said_in(form: forms.BaseForm, name: str) -> None:
    asked = form.fields.get(name)  # there is none for whoever may only read
    if isinstance(asked, forms.ModelMultipleChoiceField):
        asked.label_from_instance = permitted  # type: ignore[assignment] # of this form alone


class AddPersonForm(Reasoned, AdminUserCreationForm):  # type: ignore[type-arg] # takes none when it runs
    """Django's form, and why."""


class ChangePersonForm(Reasoned, UserChangeForm):  # type: ignore[type-arg] # likewise
    """Likewise."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _said_in(self, "user_permissions")


class ChangePasswordForm(Reasoned, AdminPasswordChangeForm):  # type: ignore[type-arg] # likewise
    """Likewise; of another one's password."""


admin.site.unregister([User, Group])  # Django's own write nothing into the log


@admin.register(User)
class PersonAdmin(Audited[User], UserAdmin):  # type: ignore[type-arg] # likewise
    """Who may come in. Names and addresses of people are not written into a log that nobody can change."""

    form = ChangePersonForm
    add_form = AddPersonForm
    change_password_form = ChangePasswordForm
    verbs = Verbs("add a person", "change a person", "delete a person")
    told = RIGHTS
    personal = frozenset({"password", "first_name", "last_name", "email"})
    fieldsets = (*(UserAdmin.fieldsets or ()), (None, {"fields": ("reason",)}))
    add_fieldsets = (*UserAdmin.add_fieldsets, (None, {"fields": ("reason",)}))

    def note_end(self, request: HttpRequest, row: User, reason: str) -> None:
        """Say of each role that it falls with its person."""
        grants = GrantAdmin(Grant, self.admin_site)
        for each in Grant.objects.filter(user=row).order_by("pk"):
            grants.note_end(request, each, reason)
        super().note_end(request, row, reason)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002 - Django's name
        """Give somebody another password, or none; the log has that, and not the password."""
        person = self.get_object(request, id)
        with transaction.atomic():
            answer = super().user_change_password(request, id, form_url)
            now = None if person is None else User.objects.get(pk=person.pk)
            if now is not None and person is not None and now.password != person.password:
                detail = {"has a password": now.has_usable_password()}
                self.note(request, CHANGE_KEY, now, request.POST.get("reason", ""), detail)
        return answer


class PeopleForm(Reasoned, forms.ModelForm[Group]):
    """What a group of people may do in the Django admin, and why."""

    class Meta:
        """All of it."""

        model = Group
        fields = ["name", "permissions"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _said_in(self, "permissions")


@admin.register(Group)
class PeopleAdmin(Audited[Group], GroupAdmin):
    """Permissions of the Django admin for several people; roles of the control room are grants."""

    form = PeopleForm
    verbs = Verbs("add a group of people", "change a group of people", "delete a group of people")


@admin.register(Attempt)
class AttemptAdmin(Observed[Attempt]):
    """What counts against the limits, by digest: whose it was cannot be read from it."""

    list_display = ("key", "when")
    search_fields = ("key",)
    list_filter = (Lately,)
