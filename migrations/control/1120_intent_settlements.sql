-- Decisions of persons about intents that recovery could not decide. Append-only: it keeps what the intent held.
create table svc.intent_settlement (
  tenant_id uuid not null references svc.tenant,
  commit_id uuid not null,
  outcome text not null check (outcome in ('made', 'not-made')),
  reason text not null check (reason <> ''),
  metadata_location text,
  -- The CommitIntent, and its body.
  intent jsonb not null,
  body bytea not null,
  opened_at timestamptz not null,
  settled_at timestamptz not null default clock_timestamp(),
  -- The Actor who decided.
  actor jsonb not null,
  primary key (tenant_id, commit_id)
);
alter table svc.intent_settlement alter column body set storage external;
create trigger append_only before update or delete or truncate on svc.intent_settlement
  for each statement execute function svc.refuse_change();
alter table svc.intent_settlement enable row level security, force row level security;
create policy own_tenant on svc.intent_settlement using (tenant_id = svc.current_tenant());
grant select, insert on svc.intent_settlement to svc_tenant;
