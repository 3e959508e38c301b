-- A database without statistics, as an embedded one is, takes `is null` for so rare that one column of an index seems
-- as good as two. So the look-ups of a commit use indexes of all rows, and skip the released ones by comparing times.
drop index svc.territory_catalog;
drop index svc.territory_prefix;
create index territory_prefix on svc.territory (tenant_id, prefix);
create index territory_of_table on svc.territory (tenant_id, table_id);
