"""moto's server with IAM enforced, session policies and conditions included.

moto checks keys and signatures by itself. It ignores the inline policy of an assumed role, the conditions of policies
and the end of credentials, so what a role's session may do is decided here: allowed by the role and by the session's
policy, denied by none, until it ends. ROLE_SECONDS says when that is, whatever was asked for.
"""

import json
import os
import re
import sys
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

from moto.core.utils import utcnow
from moto.iam.access_control import AssumedRoleAccessKey, IAMRequestBase
from moto.server import main
from moto.sts.models import AssumedRole, sts_backends

checked = IAMRequestBase.check_action_permitted


def listed(value):
    return value if isinstance(value, list) else [value]


def matches(pattern, text):
    parts = [".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern]
    return re.fullmatch("".join(parts), text, re.S) is not None


def applies(statement, action, resource, context):
    if not any(matches(one, action) for one in listed(statement["Action"])):
        return False
    if not any(matches(one, resource) for one in listed(statement["Resource"])):
        return False
    for operator, keys in statement.get("Condition", {}).items():
        if operator != "StringLike":
            raise ValueError(f"the condition {operator} is not known here")
        for key, patterns in keys.items():
            if not any(matches(one, context.get(key, "")) for one in listed(patterns)):
                return False
    return True


def effect(documents, action, resource, context):
    found = [
        statement["Effect"]
        for document in documents
        for statement in listed(document["Statement"])
        if applies(statement, action, resource, context)
    ]
    return "Deny" if "Deny" in found else "Allow" if "Allow" in found else None


def check_action_permitted(self, resource):
    key = self._access_key
    if not isinstance(key, AssumedRoleAccessKey):
        return checked(self, resource)
    roles = sts_backends[self.account_id]["aws"].assumed_roles
    role = next(one for one in roles if one.access_key_id == key._access_key_id)
    if utcnow() > role.expiration:
        print("ENDED", self._action, resource, flush=True)
        self._raise_access_denied()
    query = parse_qs(urlsplit(self._path).query)
    context = {
        "s3:prefix": query.get("prefix", [""])[0],
        "aws:userid": f"AROA:{key._session_name}",
    }
    of_role = [json.loads(one) if isinstance(one, str) else one for one in key.collect_policies()]
    of_session = [json.loads(role.policy)]
    if [effect(one, self._action, resource, context) for one in (of_role, of_session)] != ["Allow", "Allow"]:
        print("REFUSED", self._action, resource, context, flush=True)
        self._raise_access_denied()


made = AssumedRole.__init__


def shortened(self, *given, **named):
    made(self, *given, **named)
    self.expiration = utcnow() + timedelta(seconds=int(os.environ["ROLE_SECONDS"]))


if "ROLE_SECONDS" in os.environ:
    AssumedRole.__init__ = shortened
IAMRequestBase.check_action_permitted = check_action_permitted
main(sys.argv[1:])
