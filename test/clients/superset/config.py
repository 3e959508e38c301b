"""Apache Superset as the test runs it: its own database is SQLite in a folder of the test's."""

import os

SECRET_KEY = "of one test run; it protects nothing"
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['SUPERSET_FOLDER']}/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
PREVENT_UNSAFE_DB_CONNECTIONS = False
