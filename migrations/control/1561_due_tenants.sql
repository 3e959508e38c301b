-- One statement over all tenants says for which of them a job has something to do, so that a round costs what has changed
-- and not what exists. It sees which tenant has something, and until when or how far; no content.
create policy administration on svc.query_usage for select to svc_admin using (true);
grant select (tenant_id, usage_seq) on svc.query_usage to svc_admin;
create policy administration on svc.usage_rolled for select to svc_admin using (true);
grant select (tenant_id, rolled) on svc.usage_rolled to svc_admin;
create policy administration on svc.metric_attestation for select to svc_admin using (true);
grant select (tenant_id, attestation_id, valid_until) on svc.metric_attestation to svc_admin;
create policy administration on svc.metric_attestation_end for select to svc_admin using (true);
grant select (tenant_id, attestation_id) on svc.metric_attestation_end to svc_admin;
create policy administration on svc.territory_sweep for select to svc_admin using (true);
grant select (tenant_id, credential_id, started_at, finished_at) on svc.territory_sweep to svc_admin;
create policy administration on svc.contract_version for select to svc_admin using (true);
grant select (tenant_id, contract_id, number, state) on svc.contract_version to svc_admin;
create index metric_attestation_over on svc.metric_attestation (valid_until);
