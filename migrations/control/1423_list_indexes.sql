-- Lists by what is rare: without these they pass over everything that is newer. A subject may be longer than an index
-- entry.
create index audit_log_committer on svc.audit_log (tenant_id, md5(committer), audit_seq desc);
create index audit_log_denied on svc.audit_log (tenant_id, audit_seq desc) where decision = 'REJECTED';
create index audit_log_refused_table on svc.audit_log (tenant_id, table_id, created_at desc, commit_id desc)
  where decision = 'REJECTED';
create index detection_run_unfinished on svc.detection_run (tenant_id, state, created_at desc, run_id desc)
  where state <> 'done';
create index detection_finding_class on svc.detection_finding (tenant_id, class, found_at desc, finding_id desc);
create index query_usage_unfinished on svc.query_usage (tenant_id, outcome, usage_seq desc) where outcome <> 'completed';
