-- Policies are bound to tables, namespaces and tags; their history says who changed what.

-- What the policy was bound to by this row. All three ids are null where the policy was removed.
alter table svc.policy_history add column namespace_id text;
alter table svc.policy_history add column tag_id text;
-- The same by name; null in older rows, whose table_id says it.
alter table svc.policy_history add column scope jsonb;
-- The Actor; null before this column.
alter table svc.policy_history add column actor jsonb;

-- They take other parameters now.
drop function if exists svc.put_policy(text, text, jsonb, text, jsonb);
drop function if exists svc.delete_policy(text);
drop function if exists svc.write_governance(text);
drop function if exists svc.load_policies(uuid, text, text);
drop function if exists svc.begin_commit(bytea, uuid, text, text, text, uuid, text, bytea, float8, float8, text);
