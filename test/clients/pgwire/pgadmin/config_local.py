# Read by pgAdmin from beside its own configuration. Its data lie in a folder of the test.
import os

DATA_DIR = os.environ["PGADMIN_FOLDER"]
LOG_FILE = os.path.join(DATA_DIR, "log")
SQLITE_PATH = os.path.join(DATA_DIR, "db")
SESSION_DB_PATH = os.path.join(DATA_DIR, "sessions")
STORAGE_DIR = os.path.join(DATA_DIR, "storage")
AZURE_CREDENTIAL_CACHE_DIR = os.path.join(DATA_DIR, "azure")
KERBEROS_CCACHE_DIR = os.path.join(DATA_DIR, "kerberos")
DEFAULT_SERVER = "127.0.0.1"
DEFAULT_SERVER_PORT = int(os.environ["PGADMIN_PORT"])
SERVER_MODE = True
MASTER_PASSWORD_REQUIRED = False
UPGRADE_CHECK_ENABLED = False
