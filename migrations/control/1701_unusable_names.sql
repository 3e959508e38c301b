-- Names of a catalog that the service cannot address, as its last sweep has listed them: {count, names}, the first of them.
alter table svc.territory_sweep add column unusable jsonb;
grant select (unusable) on svc.territory_sweep to svc_admin;
