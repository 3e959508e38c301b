-- The record of storage credentials that the service issues (docs/reference/credentials.md 3).

-- Records a credential unless its session has ended, and says whether it was recorded. The row of the session is locked,
-- so a revocation that runs at the same time waits, and then finds the record.
create or replace function svc.record_vended(tenant uuid, vended text) returns table (recorded boolean)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
  v jsonb := vended::jsonb;
  held_by uuid := (v ->> 'session_id')::uuid;
begin
  if v ->> 'session_kind' = 'service' then
    perform from svc.service_session s where s.tenant_id = tenant and s.session_id = held_by
      and s.revoked_at is null and coalesce(s.expires_at, 'infinity') > clock_timestamp() for share;
  else
    perform from svc.browser_session s where s.tenant_id = tenant and s.session_id = held_by
      and s.revoked_at is null and coalesce(s.expires_at, 'infinity') > clock_timestamp() for share;
  end if;
  recorded := found;
  if recorded then
    insert into svc.vended_credential (tenant_id, session_id, session_kind, principal, credential_id, table_id, namespace,
        table_name, access, prefixes, key_id, issued_for, session_name, expires_at)
      values (tenant, held_by, v ->> 'session_kind', v ->> 'principal', (v ->> 'credential_id')::uuid, v ->> 'table_id',
        v -> 'namespace', v ->> 'table_name', v ->> 'access', v -> 'prefixes', v ->> 'key_id', v ->> 'issued_for',
        v ->> 'session_name', to_timestamp((v ->> 'expires_ms')::float8 / 1000));
  end if;
  return next;
end $$;

revoke all on function svc.record_vended from public;
grant execute on function svc.record_vended to svc_tenant;
