-- Totals of usage records by the hour and the day in which a query started (UTC). They are added up from new records, so
-- a record that comes late is added to its own hour.
create table svc.usage_total (
  tenant_id uuid not null references svc.tenant,
  grain text not null check (grain in ('hour', 'day')),
  -- `query` counts each query once; the others count it for each key that it has.
  facet text not null check (facet in ('query', 'principal', 'table', 'contract')),
  -- Of whose queries: svc.usage_digest of the principal's subject, or of '' for all.
  scope uuid not null,
  starts_at timestamptz not null,
  outcome text not null,
  key_digest uuid not null,
  key text not null,
  queries bigint not null,
  rows_out bigint not null,
  bytes_out bigint not null,
  bytes_scanned bigint not null,
  run_ms double precision not null,
  primary key (tenant_id, grain, facet, scope, starts_at, outcome, key_digest)
) with (fillfactor = 70);
alter table svc.usage_total enable row level security, force row level security;
create policy own_tenant on svc.usage_total using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.usage_total to svc_tenant;

-- Up to which number usage records are in the totals. A record's number may be drawn before that of one that is seen
-- earlier, so `newest` is added up when every transaction has ended that was open when `newest_xid` was drawn.
create table svc.usage_rolled (
  tenant_id uuid primary key references svc.tenant,
  rolled bigint not null,
  newest bigint not null,
  newest_xid xid8 not null
);
alter table svc.usage_rolled enable row level security, force row level security;
create policy own_tenant on svc.usage_rolled using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.usage_rolled to svc_tenant;
