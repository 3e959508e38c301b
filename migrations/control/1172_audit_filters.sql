-- Decisions are looked for by time and by request, whatever was decided. Each index takes the place of one that held
-- a part of the rows.
drop index svc.audit_log_created;
create index audit_log_time on svc.audit_log (tenant_id, created_at);
drop index svc.audit_log_refused_request;
create index audit_log_request on svc.audit_log (tenant_id, request_id) where request_id is not null;
