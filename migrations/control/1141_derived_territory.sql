-- Derived grants for shallow clones (docs/reference/territory.md 4): a clone may name files in its source's territory,
-- and inherits every row filter and column mask of the source.

-- Of a derived row the table whose territory it shares: `catalog`, `table_id`, `namespace`, `name`.
alter table svc.territory add column source jsonb;
alter table svc.territory add constraint territory_source check ((kind = 'derived') = (source is not null));
create index territory_source on svc.territory (tenant_id, (source ->> 'table_id')) where source is not null;
grant update (source) on svc.territory to svc_tenant;
-- A clone is governed as soon as it is granted.
create constraint trigger governance_version_derived after insert on svc.territory
  deferrable initially deferred for each row when (new.kind = 'derived')
  execute function svc.raise_governance_version();
