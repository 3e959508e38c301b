-- Indexes for what lists are asked by, found by reading 100,000 rows of each table.
create index check_run_contract on svc.check_run (tenant_id, contract_id, run_seq desc);
create index check_run_kind on svc.check_run (tenant_id, kind, run_seq desc);
create index snapshot_quarantine_open on svc.snapshot_quarantine (tenant_id) where released_at is null;
create index tag_change_column on svc.tag_change (tenant_id, md5(column_name), tag_seq desc) where column_name is not null;
create index administration_log_action on svc.administration_log (tenant_id, action, administration_seq desc);
create index transform_subject_key_shredded on svc.transform_subject_key (tenant_id, kind, ref)
  where shredded_at is not null;
create index read_lineage_principal on svc.read_lineage (tenant_id, md5(principal_sub), lineage_seq desc);
create index vended_credential_table on svc.vended_credential (tenant_id, table_id, vended_id);
create index service_session_revoked on svc.service_session (tenant_id, revoked_at) where revoked_at is not null;
create index browser_session_revoked on svc.browser_session (tenant_id, revoked_at) where revoked_at is not null;
-- Of a tenant, because each is pruned by itself.
create index webhook_delivery_over on svc.webhook_delivery (tenant_id, ended_at) where state <> 'waiting';
-- A list by policy goes from the sets of policies to the decisions under each. Older rows hold their policies themselves.
create index audit_log_policy_set on svc.audit_log (tenant_id, policy_set, audit_seq) where policy_set is not null;
create index audit_log_own_policies on svc.audit_log (tenant_id, audit_seq) where policies <> '[]';

-- The status of a finding follows from the last decision about its column and class. It is kept with the finding, because
-- a list by status would read every finding.
alter table svc.detection_finding add column status text not null default 'open'
  check (status in ('open', 'confirmed', 'rejected', 'exempt'));
alter table svc.detection_finding no force row level security;
alter table svc.detection_decision no force row level security;
update svc.detection_finding f set status = svc.status_of_decision(d.decision)
  from (select distinct on (tenant_id, classification_id) tenant_id, classification_id, decision
    from svc.detection_decision order by tenant_id, classification_id, decision_seq desc) d
  where d.tenant_id = f.tenant_id and d.classification_id = f.classification_id;
alter table svc.detection_finding force row level security;
alter table svc.detection_decision force row level security;
create index detection_finding_status on svc.detection_finding (tenant_id, status, found_at desc, finding_id desc);
create index detection_finding_confidence on svc.detection_finding
  (tenant_id, confidence, found_at desc, finding_id desc);
grant update (status) on svc.detection_finding to svc_tenant;
create trigger decided_before before insert on svc.detection_finding
  for each row execute function svc.set_status_of_finding();
create trigger decides_findings after insert on svc.detection_decision
  for each row execute function svc.set_status_of_findings();
