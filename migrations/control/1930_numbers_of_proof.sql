-- Numbers by which the audit's tree finds what is new among attestations and grants of access, whose ids have no order.
-- Each is drawn with its row.

alter table svc.metric_attestation add column attestation_seq bigint generated always as identity;
create unique index metric_attestation_seq on svc.metric_attestation (tenant_id, attestation_seq);
alter table svc.metric_attestation_end add column end_seq bigint generated always as identity;
create unique index metric_attestation_end_seq on svc.metric_attestation_end (tenant_id, end_seq);
alter table svc.access_grant add column grant_seq bigint generated always as identity;
create unique index access_grant_seq on svc.access_grant (tenant_id, grant_seq);

-- The end of a grant is its own leaf.
create sequence svc.access_grant_end;
grant usage on sequence svc.access_grant_end to svc_tenant;
alter table svc.access_grant add column end_seq bigint;
alter table svc.access_grant no force row level security;
update svc.access_grant set end_seq = nextval('svc.access_grant_end') where ended_at is not null;
alter table svc.access_grant force row level security;
create unique index access_grant_end_seq on svc.access_grant (tenant_id, end_seq) where end_seq is not null;

create trigger number_end before update of ended_at on svc.access_grant
  for each row when (old.ended_at is null and new.ended_at is not null) execute function svc.number_grant_end();
