"""Log in, log out, change the password."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.urls import reverse_lazy
from django.views.decorators.debug import sensitive_post_parameters

from dashboard.people.forms import LogInForm
from dashboard.people.gate import needs, open_to_all
from dashboard.people.roles import Role

log_in = open_to_all(
    sensitive_post_parameters("password")(
        LoginView.as_view(
            template_name="people/log_in.html", authentication_form=LogInForm, redirect_authenticated_user=True
        )
    )
)
log_out = open_to_all(LogoutView.as_view(next_page=reverse_lazy("log in")))
change_password = needs(Role.VIEWER)(
    PasswordChangeView.as_view(template_name="people/change_password.html", success_url=reverse_lazy("overview"))
)
