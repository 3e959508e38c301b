-- Webhooks to receivers of a tenant's choice (docs/webhooks.md): who wants which events, what is to be sent to whom, and
-- how each attempt ended.

create table svc.webhook_subscription (
  tenant_id uuid not null references svc.tenant,
  subscription_id uuid not null default gen_random_uuid(),
  name text not null check (name <> ''),
  -- The receiver's address without its query, which may hold a secret.
  address text not null,
  -- Types of events, or `*`.
  types jsonb not null,
  -- The whole address, and the secrets that sign: { url, secret, previous? }.
  sealed bytea not null,
  -- Until when the previous secret signs too.
  previous_until timestamptz,
  state text not null default 'enabled' check (state in ('enabled', 'disabled', 'gone', 'failing')),
  -- The number of the last event that was taken from the tenant's sequence.
  position bigint not null check (position >= 0),
  -- Failed attempts since the last success, when they began, and until when nothing more is tried.
  failures int not null default 0,
  failing_since timestamptz,
  rest_until timestamptz not null default '-infinity',
  -- When it is next looked at for new events, if nothing is due before.
  look_at timestamptz not null default clock_timestamp(),
  -- The replica that sends; one at a time.
  lease_id uuid,
  leased_until timestamptz not null default '-infinity',
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, subscription_id)
);
create index webhook_subscription_look on svc.webhook_subscription (look_at) where state = 'enabled';
create index webhook_subscription_leased on svc.webhook_subscription (leased_until) where lease_id is not null;
alter table svc.webhook_subscription enable row level security, force row level security;
create policy own_tenant on svc.webhook_subscription using (tenant_id = svc.current_tenant());
-- A claim takes subscriptions of all tenants.
create policy administration on svc.webhook_subscription to svc_admin using (true);
grant select, insert, update, delete on svc.webhook_subscription to svc_tenant;
-- Not what is sealed.
grant select (tenant_id, subscription_id, state, rest_until, look_at, lease_id, leased_until) on svc.webhook_subscription
  to svc_admin;
grant update (lease_id, leased_until) on svc.webhook_subscription to svc_admin;

-- One event for one subscription. The body is kept, so that every attempt sends the same bytes.
create table svc.webhook_delivery (
  tenant_id uuid not null,
  subscription_id uuid not null,
  -- The number of the event.
  sequence bigint not null check (sequence > 0),
  type text not null,
  body text not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'dead')),
  -- Since it was queued or replayed.
  tries int not null default 0,
  -- Of all time.
  attempts int not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (tenant_id, subscription_id, sequence),
  foreign key (tenant_id, subscription_id) references svc.webhook_subscription on delete cascade
);
create index webhook_delivery_due on svc.webhook_delivery (tenant_id, subscription_id, due_at) where state = 'waiting';
create index webhook_delivery_ended on svc.webhook_delivery (ended_at) where state <> 'waiting';
alter table svc.webhook_delivery enable row level security, force row level security;
create policy own_tenant on svc.webhook_delivery using (tenant_id = svc.current_tenant());
create policy administration on svc.webhook_delivery for select to svc_admin using (true);
grant select, insert, update, delete on svc.webhook_delivery to svc_tenant;
grant select (tenant_id, subscription_id, state, due_at) on svc.webhook_delivery to svc_admin;

create table svc.webhook_attempt (
  tenant_id uuid not null,
  subscription_id uuid not null,
  sequence bigint not null,
  attempt int not null check (attempt > 0),
  at timestamptz not null,
  duration_ms int not null,
  outcome text not null check (outcome in ('delivered', 'refused', 'timed_out', 'unreachable', 'address_refused')),
  -- Null where there was no answer.
  status int,
  primary key (tenant_id, subscription_id, sequence, attempt),
  foreign key (tenant_id, subscription_id, sequence) references svc.webhook_delivery on delete cascade
);
alter table svc.webhook_attempt enable row level security, force row level security;
create policy own_tenant on svc.webhook_attempt using (tenant_id = svc.current_tenant());
grant select, insert, delete on svc.webhook_attempt to svc_tenant;
