-- Sign-offs of contract versions in the graph. Runs with the caller's rights and search_path, so in the caller's own graph.

-- Draws a sign-off: an Attestation that attests the version of the contract. Where it is drawn already, nothing happens.
create or replace function svc.project_sign_off(sign_off bigint) returns void
language plpgsql as $$
declare
  made record;
  version_id text;
  edge_id text := 'sign-off ' || sign_off;
begin
  select s.contract_id, s.number, encode(s.sha256, 'hex') as sha256, s.level, s.comment, s.actor_sub, s.actor, s.at
    into strict made
    from svc.contract_sign_off s where s.tenant_id = svc.current_tenant() and s.sign_off_seq = sign_off;
  version_id := made.contract_id || chr(31) || made.number;
  if octet_length(version_id) > 1024 then
    version_id := 'sha256:' || encode(sha256(convert_to(version_id, 'UTF8')), 'hex');
  end if;
  perform svc.ensure_edge('ATTESTS', edge_id,
    svc.ensure_node('Attestation', edge_id, jsonb_strip_nulls(jsonb_build_object(
      'decision', 'sign_off', 'level', made.level, 'reason', made.comment, 'attested_by', made.actor_sub,
      'principal_source', made.actor ->> 'source', 'session_kind', made.actor #>> '{session,kind}',
      'session_created_by', made.actor #>> '{session,createdBy}', 'attested_at', made.at))),
    svc.ensure_node('ContractVersion', version_id, jsonb_build_object(
      'contract', made.contract_id, 'number', made.number, 'sha256', made.sha256)),
    jsonb_build_object('sha256', made.sha256));
end $$;

revoke all on function svc.project_sign_off from public;
grant execute on function svc.project_sign_off to svc_tenant;
