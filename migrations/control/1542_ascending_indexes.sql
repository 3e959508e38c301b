-- Rows are added at the ends of these indexes. A descending index is split in halves there, of which the older one stays
-- half empty; an ascending one is filled. Lists that go from the newest on read it backwards.
drop index svc.query_usage_seq, svc.query_usage_principal, svc.query_usage_unfinished;
create index query_usage_seq on svc.query_usage (tenant_id, usage_seq);
create index query_usage_principal on svc.query_usage (tenant_id, md5(principal_sub), usage_seq);
create index query_usage_unfinished on svc.query_usage (tenant_id, outcome, usage_seq) where outcome <> 'completed';
drop index svc.detection_run_listed, svc.detection_run_table, svc.detection_run_unfinished;
create index detection_run_listed on svc.detection_run (tenant_id, created_at, run_id);
create index detection_run_table on svc.detection_run (tenant_id, table_id, created_at);
create index detection_run_unfinished on svc.detection_run (tenant_id, state, created_at, run_id) where state <> 'done';
