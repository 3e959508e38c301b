-- A claim takes the oldest runs of each tenant that has some, so it looks them up tenant by tenant.
drop index svc.detection_run_due;
create index detection_run_due on svc.detection_run (tenant_id, due_at) where state = 'queued';
