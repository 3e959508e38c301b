-- What a refused commit is found by: the request id in the audit log, and a record of each change without a verdict.

alter table svc.audit_log add column request_id text;
create index audit_log_refused on svc.audit_log (tenant_id, created_at desc, commit_id desc)
  where decision = 'REJECTED';
create index audit_log_refused_request on svc.audit_log (tenant_id, request_id)
  where decision = 'REJECTED' and request_id is not null;

-- A change without a verdict writes no audit row. The newest rows of each tenant are kept (svc.record_unjudged).
create table svc.unjudged_change (
  tenant_id uuid not null references svc.tenant,
  place bigint not null,
  commit_id uuid not null,
  request_id text,
  created_at timestamptz not null default clock_timestamp(),
  action text not null,
  table_id text not null,
  namespace jsonb not null,
  table_name text not null,
  principal text not null check (principal <> ''),
  principal_source text not null check (principal_source in ('mtls_san', 'auth_header', 'session')),
  policy_id text,
  policy_name text,
  error text not null,
  -- For stewards: it may hold values of the table.
  explanation text,
  primary key (tenant_id, place)
);
create index unjudged_change_request on svc.unjudged_change (tenant_id, request_id) where request_id is not null;
alter table svc.unjudged_change enable row level security, force row level security;
create policy own_tenant on svc.unjudged_change using (tenant_id = svc.current_tenant());
grant select, insert, delete on svc.unjudged_change to svc_tenant;
