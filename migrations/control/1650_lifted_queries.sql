-- How many queries a principal has run by an attestation on a day, where the attestation bounds them. Rows of days
-- before are removed by the next query of the same principal.
create table svc.lifted_queries (
  tenant_id uuid not null references svc.tenant,
  attestation_id uuid not null,
  principal text not null check (principal <> ''),
  day date not null,
  queries int not null check (queries > 0),
  primary key (tenant_id, attestation_id, principal, day),
  foreign key (tenant_id, attestation_id) references svc.metric_attestation
);
alter table svc.lifted_queries enable row level security, force row level security;
create policy own_tenant on svc.lifted_queries using (tenant_id = svc.current_tenant());
grant select, insert, delete, update (queries) on svc.lifted_queries to svc_tenant;
