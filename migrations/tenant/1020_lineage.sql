-- A tenant's lineage inbox, the cycles that the sweep finds, and how far the sweep went.

create sequence {{schema}}.lineage_seq;

-- The first event of each run.
create table {{schema}}.lineage_inbox (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  event_seq bigint primary key default nextval('{{schema}}.lineage_seq'),
  kind text not null check (kind in ('run', 'job', 'dataset')),
  producer text not null check (producer <> ''),
  run_id uuid not null,
  event_type text check ((kind = 'run') = (event_type is not null)
    and event_type in ('START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL')),
  event_time timestamptz not null,
  received_at timestamptz not null,
  job_namespace text,
  job_name text,
  principal text not null,
  principal_source text not null check (principal_source in ('mtls_san', 'auth_header', 'session')),
  body_sha256 bytea not null check (octet_length(body_sha256) = 32),
  -- As received, byte for byte.
  body bytea not null,
  -- pending: stored, its edges not merged yet; refused: they would close a cycle, or cannot be read.
  state text not null check (state in ('pending', 'merged', 'refused')),
  refusal jsonb check ((state = 'refused') = (refusal is not null)),
  attempts int not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  unique (producer, run_id),
  constraint first_of_its_run check (kind = 'run')
);

-- Further events of a run that differ from its first, and events that belong to no run.
create table {{schema}}.lineage_event (
  like {{schema}}.lineage_inbox including defaults including constraints,
  primary key (event_seq),
  unique (producer, run_id, kind, body_sha256)
);
alter table {{schema}}.lineage_event drop constraint first_of_its_run;

create table {{schema}}.lineage_cycle (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  cycle_id uuid primary key default gen_random_uuid(),
  -- Made of the cycle's datasets in a fixed order, so that one cycle has one key wherever the sweep entered it.
  cycle_key text not null,
  datasets jsonb not null,
  detected_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  resolved_at timestamptz
);
create unique index lineage_cycle_open on {{schema}}.lineage_cycle (cycle_key) where resolved_at is null;

-- The newest edge that the last sweep saw. Without a newer one there is no new cycle.
create table {{schema}}.lineage_sweep (
  tenant_id uuid primary key default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  last_edge text not null,
  swept_at timestamptz not null default now()
);

do $$
declare
  t text;
begin
  foreach t in array array['lineage_inbox', 'lineage_event', 'lineage_cycle', 'lineage_sweep'] loop
    execute format('alter table {{schema}}.%I enable row level security, force row level security', t);
    execute format('create policy own_tenant on {{schema}}.%I
      using (''{{tenant}}'' = nullif(current_setting(''app.tenant_id'', true), ''''))', t);
  end loop;
  foreach t in array array['lineage_inbox', 'lineage_event'] loop
    execute format('create index %I on {{schema}}.%I (next_attempt_at) where state = ''pending''', t || '_pending', t);
    -- What was received never changes.
    execute format('grant select, insert, update (state, refusal, attempts, next_attempt_at, last_error)
      on {{schema}}.%I to svc_tenant', t);
  end loop;
end $$;
grant usage on sequence {{schema}}.lineage_seq to svc_tenant;
grant select, insert, update (last_seen_at, resolved_at) on {{schema}}.lineage_cycle to svc_tenant;
grant select, insert, update on {{schema}}.lineage_sweep to svc_tenant;
