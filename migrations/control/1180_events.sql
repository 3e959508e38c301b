-- The events of each tenant in one sequence, for readers that resume from a number. A writer inserts an event without a
-- number, so that it waits for nobody. svc.number_events numbers what has been committed. Decisions on commits come from
-- the audit log: a commit writes nothing here.

create table svc.event (
  tenant_id uuid not null references svc.tenant,
  event_id bigint generated always as identity,
  -- Rises by one with each event of the tenant. Null until the event is numbered.
  sequence bigint check (sequence > 0),
  type text not null check (type ~ '^[a-z_]+\.[a-z_]+$'),
  -- What it is about: a table's key, a contract, a run.
  subject text not null,
  -- Null for a decision, whose data is its row of the audit log.
  data jsonb,
  audit_seq bigint,
  occurred_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, event_id),
  check ((data is null) = (audit_seq is not null))
);
create unique index event_sequence on svc.event (tenant_id, sequence) where sequence is not null;
create index event_unnumbered on svc.event (tenant_id, event_id) where sequence is null;
create unique index event_decision on svc.event (tenant_id, audit_seq) where audit_seq is not null;
alter table svc.event enable row level security, force row level security;
create policy own_tenant on svc.event using (tenant_id = svc.current_tenant());
-- An event never changes, but for its number.
grant select, insert, update (sequence) on svc.event to svc_tenant;

-- Of tenants whose events have been read. Decisions made before the first reading are in the audit log only.
create table svc.event_head (
  tenant_id uuid primary key references svc.tenant,
  -- The last number that was given.
  sequence bigint not null,
  -- Every decision of the audit log up to here is numbered; none will be added.
  decided bigint not null,
  -- That becomes true of this decision once no transaction before `newest_xid` is open any more.
  newest bigint not null,
  newest_xid xid8 not null
);
alter table svc.event_head enable row level security, force row level security;
create policy own_tenant on svc.event_head using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.event_head to svc_tenant;
