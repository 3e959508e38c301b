-- What a replica asks the database about itself.

grant create on schema svc to svc_admin;
set local role svc_admin;

-- Fails where the database refuses writes: a standby, or a disk without space. The update is a commit like any other.
-- One row is written in place, though, while a table would have to grow. So 256 KiB that exceed work_mem go through a
-- temporary file, which is gone with the statement.
create or replace function svc.probe_write() returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp set work_mem = '64kB' as $$
declare
  written bigint;
begin
  update svc.write_probe set written_at = clock_timestamp();
  with pages as materialized (select repeat('x', 8000) as page from generate_series(1, 32))
  select sum(length(page)) into written from pages;
  return written;
end $$;
revoke all on function svc.probe_write from public;
grant execute on function svc.probe_write to svc_tenant;

set local role svc_owner;
revoke create on schema svc from svc_admin;
