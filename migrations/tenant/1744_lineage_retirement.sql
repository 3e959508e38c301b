-- What stewards took back, until they restore it: an edge between two datasets, a dataset with all of its edges, or a run.
create table {{schema}}.lineage_retirement (
  tenant_id uuid not null default '{{tenant}}' check (tenant_id = '{{tenant}}'),
  retirement_id uuid primary key default gen_random_uuid(),
  subject jsonb not null,
  -- Ids: of the edge, of the dataset.
  pair text,
  dataset_id text,
  producer text,
  run_id uuid,
  reason text not null,
  retired_by text not null,
  retired_at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(pair, dataset_id, run_id) = 1 and (run_id is null) = (producer is null)),
  unique (pair),
  unique (dataset_id),
  unique (producer, run_id)
);
alter table {{schema}}.lineage_retirement enable row level security, force row level security;
create policy own_tenant on {{schema}}.lineage_retirement
  using ('{{tenant}}' = nullif(current_setting('app.tenant_id', true), ''));
grant select, insert, update, delete on {{schema}}.lineage_retirement to svc_tenant;
