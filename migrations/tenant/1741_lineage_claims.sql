-- What jobs say that they read and write, so that it can be taken back: docs/adr/0033.

-- A job that reads a dataset is its consumer, whether it writes anything or not.
select ag_catalog.create_elabel('{{graph}}', 'CONSUMED_BY'::cstring);

do $$
declare
  cache name;
  own text;
begin
  create index if not exists "CONSUMED_BY_start_id_idx" on {{graph}}."CONSUMED_BY" (start_id);
  create index if not exists "CONSUMED_BY_end_id_idx" on {{graph}}."CONSUMED_BY" (end_id);
  create unique index "CONSUMED_BY_key" on {{graph}}."CONSUMED_BY"
    (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype]));
  alter table {{graph}}."CONSUMED_BY" enable row level security, force row level security;
  create policy own_tenant on {{graph}}."CONSUMED_BY"
    using ('{{tenant}}' = nullif(current_setting('app.tenant_id', true), ''))
    with check ('{{tenant}}' = nullif(current_setting('app.tenant_id', true), '')
      and ag_catalog.agtype_access_operator(variadic array[properties, '"tenant_id"'::ag_catalog.agtype]) = '"{{tenant}}"'::ag_catalog.agtype
      and ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype]) is not null);
  grant select, insert, update, delete on {{graph}}."CONSUMED_BY" to svc_tenant;
  -- As the other labels: 1000_graph.sql and 1580_label_numbers.sql.
  select t.tgname into cache from pg_trigger t
    where t.tgrelid = '{{graph}}."CONSUMED_BY"'::regclass and t.tgname = '_age_cache_invalidate';
  if cache is not null then alter table {{graph}}."CONSUMED_BY" disable trigger _age_cache_invalidate; end if;
  alter table only {{graph}}."CONSUMED_BY" alter column id set default ag_catalog._graphid(
    ag_catalog._label_id('{{graph}}', 'CONSUMED_BY'), nextval('{{graph}}.label_number'));
  select l.seq_name into own from ag_catalog.ag_label l join ag_catalog.ag_graph g on g.graphid = l.graph
    where g.name = '{{graph}}' and l.name = 'CONSUMED_BY';
  execute format('drop sequence {{graph}}.%I', own);
end $$;

-- Of each job, the sets of datasets that its runs read and wrote, with the latest run of each. A set that says nothing
-- any more, because later runs said otherwise, has no row.
create table {{schema}}.lineage_claim (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  job_id text not null,
  -- Of the ids of inputs and outputs.
  shape text not null,
  inputs text[] not null,
  outputs text[] not null,
  -- Times in ms: of the latest run that said so, and of the latest of them that completed, or job event.
  said numeric not null,
  complete numeric,
  producer text not null,
  run_id uuid not null,
  state text,
  primary key (job_id, shape)
) with (fillfactor = 80);

-- Which other jobs than the one that an edge names draw it; the empty job for runs without one.
create table {{schema}}.lineage_support (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  pair text not null,
  job_id text not null,
  primary key (pair, job_id)
);

-- What a job said of the columns of an edge that it draws no longer. They stand again once it does.
create table {{schema}}.lineage_shelf (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  pair text not null,
  job_id text not null,
  said jsonb not null,
  primary key (pair, job_id)
);

-- Edges that are no more, with their times.
create table {{schema}}.lineage_past (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  past_id uuid primary key default gen_random_uuid(),
  label text not null check (label in ('LINEAGE_OF', 'PRODUCED_BY', 'CONSUMED_BY')),
  id ag_catalog.graphid not null,
  start_id ag_catalog.graphid not null,
  end_id ag_catalog.graphid not null,
  properties ag_catalog.agtype not null,
  -- Null for an edge of an earlier version.
  since timestamptz,
  until timestamptz not null,
  -- Of the steward who took it back; null where its job said so.
  retirement_id uuid
);
create index lineage_past_start on {{schema}}.lineage_past (start_id, label);
create index lineage_past_end on {{schema}}.lineage_past (end_id, label);
create index lineage_past_id on {{schema}}.lineage_past (id);
create index lineage_past_retirement on {{schema}}.lineage_past (retirement_id) where retirement_id is not null;

do $$
declare
  t text;
begin
  foreach t in array array['lineage_claim', 'lineage_support', 'lineage_shelf', 'lineage_past'] loop
    execute format('alter table {{schema}}.%I enable row level security, force row level security', t);
    execute format('create policy own_tenant on {{schema}}.%I
      using (''{{tenant}}'' = nullif(current_setting(''app.tenant_id'', true), ''''))', t);
    execute format('grant select, insert, update, delete on {{schema}}.%I to svc_tenant', t);
  end loop;
  foreach t in array array['lineage_inbox', 'lineage_event'] loop
    -- Other names of the datasets that an event reads, by which another event of its run may mean them.
    execute format('alter table {{schema}}.%I add column aliases jsonb', t);
    -- The run at the top, where a parent's event names it: of a task of a DAG, that of the DAG.
    execute format('alter table {{schema}}.%I
      add column root_run_id uuid, add column root_namespace text, add column root_name text', t);
  end loop;
end $$;
create index lineage_inbox_root on {{schema}}.lineage_inbox (root_run_id, event_seq desc) where root_run_id is not null;
