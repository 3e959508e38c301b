-- The semantic layer: what tables can be grouped by, metrics, glossary terms, and what stewards attested of metrics.
-- Every change adds a version; the definition of a version never changes. What governs reading is among it, so a change
-- raises the tenant's governance version.

create table svc.table_model (
  tenant_id uuid not null references svc.tenant,
  table_id text not null,
  -- Rises by one with each change; the newest is in force.
  number int not null check (number > 0),
  definition jsonb not null,
  at timestamptz not null default clock_timestamp(),
  -- The Actor.
  actor jsonb not null,
  primary key (tenant_id, table_id, number)
);

create table svc.metric_version (
  tenant_id uuid not null references svc.tenant,
  metric text not null check (metric <> ''),
  number int not null check (number > 0),
  state text not null check (state in ('draft', 'active', 'deprecated', 'retired')),
  definition jsonb not null,
  -- Of what is computed; attestations are bound to it.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  at timestamptz not null default clock_timestamp(),
  actor jsonb not null,
  actor_sub text not null check (actor_sub <> ''),
  primary key (tenant_id, metric, number)
);
create unique index metric_version_in_force on svc.metric_version (tenant_id, metric)
  where state in ('active', 'deprecated');

create table svc.glossary_term (
  tenant_id uuid not null references svc.tenant,
  term text not null check (term <> ''),
  number int not null check (number > 0),
  definition jsonb not null,
  at timestamptz not null default clock_timestamp(),
  actor jsonb not null,
  primary key (tenant_id, term, number)
);

create table svc.metric_attestation (
  tenant_id uuid not null references svc.tenant,
  attestation_id uuid not null,
  metric text not null,
  number int not null,
  sha256 text not null,
  -- Tags, masks and conditions.
  definition jsonb not null,
  reason text not null check (reason <> ''),
  evidence text not null check (evidence <> ''),
  valid_until timestamptz not null,
  at timestamptz not null default clock_timestamp(),
  actor jsonb not null,
  actor_sub text not null check (actor_sub <> ''),
  primary key (tenant_id, attestation_id),
  foreign key (tenant_id, metric, number) references svc.metric_version
);
create index metric_attestation_metric on svc.metric_attestation (tenant_id, metric, at desc);

create table svc.metric_attestation_end (
  tenant_id uuid not null references svc.tenant,
  attestation_id uuid not null,
  reason text not null,
  at timestamptz not null default clock_timestamp(),
  actor jsonb not null,
  actor_sub text not null check (actor_sub <> ''),
  primary key (tenant_id, attestation_id),
  foreign key (tenant_id, attestation_id) references svc.metric_attestation
);

do $$
declare
  name text;
begin
  foreach name in array array['table_model', 'metric_version', 'glossary_term', 'metric_attestation',
    'metric_attestation_end'] loop
    execute format('alter table svc.%I enable row level security, force row level security', name);
    execute format('create policy own_tenant on svc.%I using (tenant_id = svc.current_tenant())', name);
    execute format('grant select, insert on svc.%I to svc_tenant', name);
    execute format('create constraint trigger governance_version after insert or update or delete on svc.%I
      deferrable initially deferred for each row execute function svc.raise_governance_version()', name);
    if name <> 'metric_version' then
      execute format('create trigger append_only before update or delete or truncate on svc.%I
        for each statement execute function svc.refuse_change()', name);
    end if;
  end loop;
end $$;
grant update (state) on svc.metric_version to svc_tenant;
