-- Tenants take turns in check runs: who waits, and whose last run began longest ago.
create index check_run_waiting on svc.check_run (tenant_id, due_at, run_seq) where state in ('queued', 'running');
create index check_run_began on svc.check_run (tenant_id, started_at desc) where started_at is not null;
