"""Makes a bucket, a role over it and a user that may assume the role, then has moto enforce. Prints the user's keys."""

import json
import sys
import urllib.request

import boto3

endpoint, bucket, role = sys.argv[1:]
made = {"endpoint_url": endpoint, "region_name": "us-east-1"}
made |= {"aws_access_key_id": "setup", "aws_secret_access_key": "setup"}
iam = boto3.client("iam", **made)
boto3.client("s3", **made).create_bucket(Bucket=bucket)


def policy(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


iam.create_user(UserName="service")
whole = {"Effect": "Allow", "Action": ["s3:*", "sts:*", "iam:*"], "Resource": "*"}
iam.put_user_policy(UserName="service", PolicyName="all", PolicyDocument=policy(whole))
user = iam.get_user(UserName="service")["User"]["Arn"]
trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": user}}
arn = iam.create_role(RoleName=role, AssumeRolePolicyDocument=policy(trust))["Role"]["Arn"]
lake = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
iam.put_role_policy(RoleName=role, PolicyName="lake", PolicyDocument=policy(lake))
key = iam.create_access_key(UserName="service")["AccessKey"]
# As text: a form's body would be empty there.
text = {"content-type": "text/plain"}
urllib.request.urlopen(urllib.request.Request(f"{endpoint}/moto-api/reset-auth", b"0", text)).read()
print(json.dumps({"id": key["AccessKeyId"], "secret": key["SecretAccessKey"], "role": arn}))
