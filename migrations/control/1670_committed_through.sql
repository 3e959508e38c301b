-- Through what a change came, beside its principal: the session, and what the client says of itself. Rows of older
-- versions have none. Most commits move the branch main, which a list finds among its newest rows.
alter table svc.audit_log add column session_id uuid, add column session_name text, add column client text,
  add column application_id text, add column branch text;
create index audit_log_session on svc.audit_log (tenant_id, session_id, audit_seq) where session_id is not null;
create index audit_log_client on svc.audit_log (tenant_id, md5(client), audit_seq) where client is not null;
create index audit_log_application on svc.audit_log (tenant_id, md5(application_id), audit_seq)
  where application_id is not null;
create index audit_log_branch on svc.audit_log (tenant_id, md5(branch), audit_seq) where branch <> 'main';
