-- The record of storage credentials that the service issues (docs/reference/credentials.md 3). It is made in two steps:
-- durably while the cloud is asked, without the public part of the key, and completed before the credential leaves.

-- Whether a session may still be issued something. With its row locked, a revocation that runs at the same time waits.
create or replace function svc.may_hold(tenant uuid, kind text, id uuid) returns boolean
language plpgsql as $$
begin
  if kind = 'service' then
    perform from svc.service_session s where s.tenant_id = tenant and s.session_id = id
      and s.revoked_at is null and coalesce(s.expires_at, 'infinity') > clock_timestamp() for share;
  else
    perform from svc.browser_session s where s.tenant_id = tenant and s.session_id = id
      and s.revoked_at is null and coalesce(s.expires_at, 'infinity') > clock_timestamp() for share;
  end if;
  return found;
end $$;

-- Records a credential that is about to be issued, unless its session has ended, and says whether it was recorded. A
-- revocation that runs at the same time finds the record. Its key is empty until it is known. Where the prefixes come
-- from a version of the tenant's territory that is not the present one, nothing is recorded, and the answer is null.
create or replace function svc.reserve_vended(tenant uuid, vended text) returns table (recorded boolean)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
  v jsonb := vended::jsonb;
begin
  if v ? 'territory_version' then
    perform from svc.territory_state s where s.tenant_id = tenant and s.version = (v ->> 'territory_version')::bigint;
    if not found then return next; return; end if;
  end if;
  recorded := svc.may_hold(tenant, v ->> 'session_kind', (v ->> 'session_id')::uuid);
  if recorded then
    insert into svc.vended_credential (tenant_id, vended_id, session_id, session_kind, principal, credential_id, table_id,
        namespace, table_name, access, prefixes, key_id, issued_for, session_name, expires_at)
      values (tenant, (v ->> 'id')::uuid, (v ->> 'session_id')::uuid, v ->> 'session_kind', v ->> 'principal',
        (v ->> 'credential_id')::uuid, v ->> 'table_id', v -> 'namespace', v ->> 'table_name', v ->> 'access',
        v -> 'prefixes', '', v ->> 'issued_for', v ->> 'session_name', to_timestamp((v ->> 'expires_ms')::float8 / 1000));
  end if;
  return next;
end $$;

-- Completes the record with the key and the expiry that the cloud said, unless the session has ended meanwhile: then the
-- credential must not leave, and the record goes. The commit does not wait for its flush. Where the database crashes at
-- once, the record is there without its key.
create or replace function svc.complete_vended(tenant uuid, id uuid, key text, expires_ms float8)
returns table (recorded boolean)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
  was text := set_config('synchronous_commit', 'off', true);
  v svc.vended_credential;
begin
  delete from svc.vended_credential d where d.tenant_id = tenant and d.vended_id = id returning * into v;
  recorded := found and svc.may_hold(tenant, v.session_kind, v.session_id);
  if recorded then
    v.key_id := key;
    v.expires_at := to_timestamp(expires_ms / 1000);
    insert into svc.vended_credential values (v.*);
  end if;
  return next;
end $$;

revoke all on function svc.may_hold, svc.reserve_vended, svc.complete_vended from public;
grant execute on function svc.may_hold, svc.reserve_vended, svc.complete_vended to svc_tenant;
