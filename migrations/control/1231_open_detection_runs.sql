-- How many detection runs wait and run is asked every few seconds over all tenants. The indexes of due and of leased runs
-- begin with the tenant, so that question read every run that ever was.
create index detection_run_open on svc.detection_run (state, due_at) where state in ('queued', 'running');
