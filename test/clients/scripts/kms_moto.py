"""
Prepares moto's KMS and has moto enforce IAM, or grants and denies the key to the service afterwards.

    kms_moto.py URL setup              prints the key, and the keys of the users `service` and `operator`
    kms_moto.py URL grant | deny | rotate   by the operator, whose keys and the key are in the environment
"""

import json
import os
import sys
import urllib.request

import boto3

endpoint, command = sys.argv[1:]


def client(name, **keys):
    keys = keys or {
        "aws_access_key_id": os.environ.get("OPERATOR_ID", "setup"),
        "aws_secret_access_key": os.environ.get("OPERATOR_SECRET", "setup"),
    }
    return boto3.client(name, endpoint_url=endpoint, region_name="us-east-1", **keys)


iam, kms = client("iam"), client("kms")


def allow(user, *actions):
    statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy(UserName=user, PolicyName="all", PolicyDocument=document)


def setup():
    made = {"arn": kms.create_key()["KeyMetadata"]["Arn"]}
    for user, actions in (("service", ["kms:Encrypt", "kms:Decrypt"]), ("operator", ["kms:*", "iam:*"])):
        iam.create_user(UserName=user)
        allow(user, *actions)
        key = iam.create_access_key(UserName=user)["AccessKey"]
        made[user] = {"id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}
    # As text: a form's body would be empty there.
    text = {"content-type": "text/plain"}
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/moto-api/reset-auth", b"0", text)).read()
    print(json.dumps(made))


if command == "setup":
    setup()
elif command == "grant":
    allow("service", "kms:Encrypt", "kms:Decrypt")
elif command == "deny":
    allow("service", "kms:DescribeKey")
elif command == "rotate":
    kms.rotate_key_on_demand(KeyId=os.environ["KEY"])
