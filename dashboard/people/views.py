"""Log in, log out, change the password."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse_lazy
from django.views.decorators.debug import sensitive_post_parameters

from dashboard.audit.operations import append
from dashboard.common.clock import now_ms
from dashboard.people.forms import TOO_OFTEN, WITHIN_MS, LogInForm
from dashboard.people.gate import needs, open_to_all
from dashboard.people.operations import CHANGE_KEY
from dashboard.people.roles import Role


class LogIn(LoginView):
    """Django's view; who tries too often is told so in numbers too."""

    template_name = "people/log_in.html"
    authentication_form = LogInForm
    redirect_authenticated_user = True

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show the form again, with what is wrong: 429, and when to come again, where that is too many attempts."""
        answer = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, TOO_OFTEN):
            answer.status_code = HTTPStatus.TOO_MANY_REQUESTS
            answer["Retry-After"] = str(WITHIN_MS // 1000)
        return answer


class ChangePassword(PasswordChangeView):
    """Django's view; that somebody changed the own password stands in the audit log."""

    template_name = "people/change_password.html"
    success_url = reverse_lazy("overview")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Store it, and say so, in one transaction."""
        name = self.request.user.get_username()
        with transaction.atomic():
            append(at=now_ms(), author=name, verb=CHANGE_KEY, subject=name)
            return super().form_valid(form)


log_in = open_to_all(sensitive_post_parameters("password")(LogIn.as_view()))
log_out = open_to_all(LogoutView.as_view(next_page=reverse_lazy("log in")))
change_password = needs(Role.VIEWER)(ChangePassword.as_view())
