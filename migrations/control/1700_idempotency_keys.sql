-- Requests to the client surface by their Idempotency-Key (docs/reference/gateway.md 8.4). What became of one stands in
-- its intents and in the audit log; a refusal that neither of them has is kept here. No answer is: it would hold what its
-- reader may no longer see.
create table svc.idempotency_key (
  tenant_id uuid not null references svc.tenant,
  key uuid not null,
  -- Of method, path, principal and body.
  request_sha256 text not null,
  -- One for each table of a transaction.
  commit_ids uuid[] not null,
  refusal jsonb,
  claimed_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, key)
);
create index idempotency_key_age on svc.idempotency_key (tenant_id, claimed_at);
alter table svc.idempotency_key enable row level security, force row level security;
create policy own_tenant on svc.idempotency_key using (tenant_id = svc.current_tenant());
grant select, insert, update, delete on svc.idempotency_key to svc_tenant;
