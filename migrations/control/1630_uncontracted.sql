-- One setting for tables without an active contract, on the Iceberg surface and by SQL. Tenants that had opted in go on
-- reading them; of others, sessions that may commit go on loading them. No rows are updated, because a pending trigger
-- would keep the table from being altered.
alter table svc.read_setting rename column readable_without_contract to uncontracted;
alter table svc.read_setting alter column uncontracted type text
  using case when uncontracted then 'readable' else 'to_writers' end;
alter table svc.read_setting add constraint uncontracted_mode
  check (uncontracted in ('denied', 'to_writers', 'readable'));
