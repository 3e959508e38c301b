-- A dropped table's territory stays until an administrator releases it or hands it over, so the index knows that it is gone.

-- Set while the table is known to be gone from its catalog.
alter table svc.territory add column dropped_at timestamptz;
create index territory_catalog on svc.territory (tenant_id, md5(catalog)) where released_at is null;

-- When a sweep, or a claim, last saw the table. What a later sweep does not see is dropped.
alter table svc.territory add column seen_at timestamptz not null default clock_timestamp();
