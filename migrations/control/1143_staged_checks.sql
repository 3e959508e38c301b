-- Which revoked sessions were looked at for files that they left in storage, and how many were found
-- (docs/reference/credentials.md 7). A row is written once, when the last credential of the session has expired.

create table svc.staged_check (
  tenant_id uuid not null references svc.tenant,
  session_id uuid not null,
  files bigint not null,
  bytes bigint not null,
  -- Whether all of its tables were listed to the end.
  complete boolean not null,
  checked_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, session_id)
);
alter table svc.staged_check enable row level security, force row level security;
create policy own_tenant on svc.staged_check using (tenant_id = svc.current_tenant());
grant select, insert on svc.staged_check to svc_tenant;
