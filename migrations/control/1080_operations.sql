-- What a replica asks the database about itself: whether it takes writes, and under which secrets key it was filled.

-- One row, written by svc.probe_write() for readiness. Nothing reads it.
create table svc.write_probe (
  only_row boolean primary key default true check (only_row),
  written_at timestamptz not null default clock_timestamp()
);
insert into svc.write_probe default values;
alter table svc.write_probe enable row level security, force row level security;
create policy write_probe_admin on svc.write_probe to svc_admin using (true) with check (true);
grant select, update on svc.write_probe to svc_admin;

-- One row: a text that is sealed by the secrets key. A replica with another key does not start. Null: the next key
-- that starts is the new one.
create table svc.secrets_key_check (
  only_row boolean primary key default true check (only_row),
  sealed bytea
);
alter table svc.secrets_key_check enable row level security, force row level security;
create policy secrets_key_check_admin on svc.secrets_key_check to svc_admin using (true) with check (true);
grant select, insert, update on svc.secrets_key_check to svc_admin;
