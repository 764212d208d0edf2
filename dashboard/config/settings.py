"""Django's settings. Everything that differs between two installations comes from the environment.

``EVENKEEL_HOME`` (all data), ``DATABASE_URL``, ``REDIS_URL``, ``EVENKEEL_HOSTS`` (names under which browsers reach
it), ``EVENKEEL_HTTPS`` (whether they come by HTTPS), ``EVENKEEL_DEBUG``, ``EVENKEEL_RETENTION_DAYS``,
``EVENKEEL_HISTORY_DAYS``, ``EVENKEEL_METRICS_TOKEN`` (what ``/metrics`` asks for, besides a log-in).
"""

import os

import django_stubs_ext
from celery.schedules import crontab

from dashboard.config.given import all_given
from dashboard.config.home import ROOT, keep_secret, name_of
from dashboard.config.logs import logging_of

django_stubs_ext.monkeypatch()

given = all_given(os.environ)
HOME = given.home
DEBUG = given.is_debug
SECRET_KEY = given.secret_key or keep_secret(HOME, "django")
REDIS_URL = given.redis_url
INSTALLATION = name_of(SECRET_KEY, str(given.database["NAME"]))  # several may share a Redis, and a host's cookies
REDIS_PREFIX = f"evenkeel:{INSTALLATION}:"

# ---- who may come, and how ----

HOSTS = given.hosts
HTTPS = given.is_https
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *HOSTS]
CSRF_TRUSTED_ORIGINS = [f"{'https' if HTTPS else 'http'}://{host}" for host in HOSTS]
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME = f"evenkeel-{INSTALLATION}"  # cookies know no ports: another one logs nobody out
CSRF_COOKIE_NAME = f"{SESSION_COOKIE_NAME}-csrf"  # and refuses no form that is open here
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 60 * 60
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
LOGIN_URL = "log in"
LOGIN_REDIRECT_URL = "/"
CSRF_FAILURE_VIEW = "dashboard.api.errors.csrf_failed"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

# ---- what it is made of ----

INSTALLED_APPS = [
    "dashboard.common",  # before the admin, which makes forms: it names what they ask for
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_celery_beat",
    "dashboard.audit",
    "dashboard.people",
    "dashboard.push",
    "dashboard.clusters",
    "dashboard.groups",
    "dashboard.plans",
    "dashboard.reports",
    "dashboard.api",
    "dashboard.history",
    "dashboard.config",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "dashboard.common.policy.PolicyMiddleware",
    "dashboard.common.readable.ReadableMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "dashboard.api.door.ApiMiddleware",  # before the next: who comes with a token needs no other one
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.people.gate.OneDoorMiddleware",
    "dashboard.people.gate.RoleMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "dashboard.config.urls"
ASGI_APPLICATION = "dashboard.config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.clusters.shell.shell",
            ],
        },
    },
]

# ---- where it keeps things ----

DATABASES = {"default": given.database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        # redis-py 8 has other defaults for the first two, under which idle sockets die after 5 s. Redis before 7.2
        # refuses what it tells of itself, and a receiver takes that for an answer now and then.
        "CONFIG": {
            "hosts": [
                {"address": REDIS_URL, "max_connections": 10_000, "socket_timeout": None, "driver_info": None},
            ],
            "prefix": f"{REDIS_PREFIX}asgi",  # what is published is heard in all databases of a Redis
        },
    },
}
# History lines are written here, one folder a day.
HISTORY = HOME / "history"
REPORTS = HOME / "reports"  # of jobs over the history
JOBS_MEMORY_MB = given.jobs_memory_mb
LOGS = given.logs  # RocketMQ's own, read by the same jobs
LOGS_ZONES = given.logs_zones
AUDIT_ANCHOR = HOME / "audit" / "anchor"  # which entries of the audit log were there, outside of the database
# Without it, callers on this machine read /metrics; with it, whoever sends it as a bearer token.
METRICS_TOKEN = given.metrics_token
RETENTION_DAYS = given.retention_days
HISTORY_DAYS = given.history_days  # 0 keeps all of them

# ---- Celery ----

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True  # a task of a worker that died is done again: every task is idempotent
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = 300
CELERY_TASK_SOFT_TIME_LIMIT = 240
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True  # Redis gives them to somebody again
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "socket_timeout": 10,
    "socket_connect_timeout": 5,
    "global_keyprefix": REDIS_PREFIX,
}
CELERY_TASK_PUBLISH_RETRY = False  # without Redis nobody waits: beat finds what was not started
CELERY_BEAT_SCHEDULER = "dashboard.config.beat:Scheduler"  # the one of django_celery_beat, which ends at once
CELERY_BEAT_SCHEDULE = {
    "rebalance due groups": {"task": "groups.rebalance_due_groups", "schedule": 20.0, "options": {"expires": 20}},
    "export history": {"task": "clusters.export_history", "schedule": 5.0, "options": {"expires": 5}},
    "forget old rows": {"task": "groups.forget_old_rows", "schedule": 3600.0, "options": {"expires": 3600}},
    "forget old days": {"task": "clusters.forget_old_days", "schedule": 3600.0, "options": {"expires": 3600}},
    "run jobs over history": {
        "task": "history.run_jobs",
        "schedule": crontab(hour=2, minute=30),
        "options": {"expires": 7 * 3600},  # one that was ordered before it may be at work for six
    },
}
CELERY_TASK_ROUTES = {"history.*": {"queue": "jobs"}}  # long ones; the worker of this queue runs only where Java is

# ---- language, time, files, logs ----

TIME_ZONE = "UTC"
USE_TZ = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [ROOT / "dashboard" / "locale"]
LANGUAGE_COOKIE_NAME = "evenkeel-language"  # what somebody chose; without it the browser's languages decide
LANGUAGE_COOKIE_AGE = 365 * 24 * 60 * 60
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = HTTPS
STATIC_URL = "static/"
STATIC_ROOT = HOME / "static"
STATICFILES_DIRS = [path for path in [ROOT / "static"] if path.is_dir()]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "dashboard.common.storage.ModuleStorage"
    },
}
LOGGING = logging_of(HOME, is_debug=DEBUG)
