-- Replays of a draft policy against the stored commits of a tenant (docs/replay.md): what each is about, how far it has
-- come, and the commits that the draft decides otherwise, gives no verdict on, or that could not be replayed.

create table svc.policy_replay (
  tenant_id uuid not null references svc.tenant,
  replay_id uuid not null,
  replay_seq bigint generated always as identity,
  -- The draft with its scope, and which commits: see store/commit/replays.ts.
  request jsonb not null,
  started_by jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  state text not null default 'running' check (state in ('running', 'done', 'cancelled', 'failed')),
  finished_at timestamptz,
  -- Commits at or below this sequence, until the floor, are not yet looked at. They go from new to old.
  next_seq bigint not null,
  floor_seq bigint not null,
  -- When it was last advanced, so that several take turns.
  advanced_at timestamptz not null default clock_timestamp(),
  -- Commits to look at, and how many there were of each outcome.
  total bigint not null,
  counts jsonb not null default '{}',
  problem text,
  primary key (tenant_id, replay_id)
);
create unique index policy_replay_seq on svc.policy_replay (tenant_id, replay_seq desc);
create index policy_replay_running on svc.policy_replay (advanced_at) where state = 'running';
alter table svc.policy_replay enable row level security, force row level security;
create policy own_tenant on svc.policy_replay using (tenant_id = svc.current_tenant());
-- One query finds what runs of all tenants.
create policy administration on svc.policy_replay for select to svc_admin using (true);
grant select, insert, delete, update (state, finished_at, next_seq, advanced_at, counts, problem)
  on svc.policy_replay to svc_tenant;
grant select on svc.policy_replay to svc_admin;

create table svc.policy_replay_finding (
  tenant_id uuid not null,
  replay_id uuid not null,
  audit_seq bigint not null,
  commit_id uuid not null,
  action text not null,
  namespace jsonb not null,
  table_name text not null,
  committer text not null,
  decision text not null,
  created_at timestamptz not null,
  outcome text not null check (outcome in (
    'newly_denied', 'still_denied', 'newly_allowed', 'no_verdict', 'differs', 'unavailable')),
  -- What the writer would be told, the error of a missing verdict, or why the commit could not be replayed.
  reason text not null check (octet_length(reason) <= 4096),
  explanation text check (octet_length(explanation) <= 8192),
  primary key (tenant_id, replay_id, audit_seq),
  foreign key (tenant_id, replay_id) references svc.policy_replay on delete cascade
);
alter table svc.policy_replay_finding enable row level security, force row level security;
create policy own_tenant on svc.policy_replay_finding using (tenant_id = svc.current_tenant());
grant select, insert, delete on svc.policy_replay_finding to svc_tenant;
