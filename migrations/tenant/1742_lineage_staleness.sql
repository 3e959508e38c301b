-- After how many days an edge that no run confirms is stale: of a job, or of all jobs (the empty id).
create table {{schema}}.lineage_staleness (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  job_id text primary key,
  namespace text,
  name text,
  days int not null check (days between 1 and 36500)
);
alter table {{schema}}.lineage_staleness enable row level security, force row level security;
create policy own_tenant on {{schema}}.lineage_staleness
  using ('{{tenant}}' = nullif(current_setting('app.tenant_id', true), ''));
grant select, insert, update, delete on {{schema}}.lineage_staleness to svc_tenant;
