-- Why an attestation ended: a steward ended it, its time was over, or another version took the place of the one that it
-- was bound to. Each end is told as an event, so each is a row.
alter table svc.metric_attestation_end
  add column cause text not null default 'ended' check (cause in ('ended', 'expired', 'replaced'));
-- What is over and has no end yet is looked for every minute.
create index metric_attestation_until on svc.metric_attestation (tenant_id, valid_until);
