"""Runs inside Label Studio's own environment: accounts, then the server, on 127.0.0.1 alone.

What it is to do comes as a line of JSON on standard input, so that no password or token stands in the list of
processes or in a variable that it shows. `label-studio start` would take both from there, listen on every
address, and send statistics and errors to its makers.
"""

import json
import os
import sys
import threading
from typing import Any

SETTINGS = {
    "DJANGO_DB": "sqlite",
    "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
    "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
    "LABEL_STUDIO_SENTRY_DSN": "",
    "LABEL_STUDIO_FRONTEND_SENTRY_DSN": "",
    "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
    "LABEL_STUDIO_ALLOWED_HOSTS": "127.0.0.1,localhost",
    "LABEL_STUDIO_CORS_ALLOW_ALL_ORIGINS": "false",
    "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "false",
    "LABEL_STUDIO_ENABLE_LOCAL_FILES_STORAGE": "false",
}


def main() -> None:
    """Prepare database and accounts, and serve until killed."""
    spec: dict[str, Any] = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.umask(0o077)
    os.environ.update(SETTINGS)
    os.environ["LABEL_STUDIO_BASE_DATA_DIR"] = spec["folder"]
    os.environ["LABEL_STUDIO_DATABASE_NAME"] = os.path.join(spec["folder"], "label_studio.sqlite3")
    from label_studio import server

    server._setup_env()
    server._apply_database_migrations()
    _accounts(spec)
    from django.conf import settings

    settings.INTERNAL_PORT = str(spec["port"])
    server._app_run("127.0.0.1", spec["port"])


def _end_with_parent() -> None:
    """Whoever started the server holds its standard input open; when that closes, nobody needs it."""
    sys.stdin.read()
    os._exit(0)


def _accounts(spec: dict[str, Any]) -> None:
    """The owner's account, with the token, and those of the reviewers; passwords of old ones stay."""
    from django.db import transaction
    from organizations.models import Organization
    from rest_framework.authtoken.models import Token
    from users.models import User

    with transaction.atomic():
        organization: Any = None  # the owner's account stands first
        for account in spec["accounts"]:
            email, owner = account["email"], account["role"] == "owner"
            user = User.objects.filter(email=email).first()
            if user is None:
                user = User.objects.create_user(email=email, password=account["password"])
                user.username, user.first_name = account["name"], account["name"]
                user.is_staff = user.is_superuser = owner
            if owner:
                organization = Organization.objects.first() or Organization.create_organization(
                    created_by=user, title="Review", legacy_api_tokens_enabled=True
                )
                Token.objects.filter(user=user).delete()
                Token.objects.create(user=user, key=spec["token"])
            if not organization.has_user(user):
                organization.add_user(user)
            user.active_organization = organization
            user.save()


if __name__ == "__main__":
    main()
