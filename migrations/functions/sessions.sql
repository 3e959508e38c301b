-- Look-ups of service sessions. They precede the tenant, so svc_admin owns them and they run with its
-- rights. It may create in the schema for the length of this file only.

grant create on schema svc to svc_admin;
set local role svc_admin;

-- The service session with a secret (its SHA-256) or an id, if it is valid now, with the tenant's catalog credential
-- of a {prefix}. The fingerprint stays the same as long as neither session nor credential changes. It runs before the
-- tenant is known, so as svc_admin. The caller needs the secret, or an access token for the id.
create or replace function svc.find_service_session(digest bytea, id uuid, prefix text)
returns table (session_id uuid, tenant_id uuid, organization_id text, principal_sub text, principal_email text,
  principal_roles jsonb, scopes jsonb, expires_at timestamptz, credential_id uuid, version bigint, catalog_kind text,
  nickname text, endpoint text, config jsonb, sealed bytea, fingerprint text, issuers_version bigint)
language sql stable security definer set search_path = svc, pg_catalog as $$
  select s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email, s.principal_roles, s.scopes,
    s.expires_at, c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config, c.sealed,
    encode(sha256(convert_to(row(s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email,
      s.principal_roles, s.scopes, c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config,
      c.sealed, t.issuers_version)::text, 'UTF8')), 'hex'), t.issuers_version
  from svc.service_session s join svc.tenant t using (tenant_id)
    left join svc.catalog_credential c on c.tenant_id = s.tenant_id and c.nickname = prefix
  where (s.secret_sha256 = digest or s.session_id = id) and s.revoked_at is null and t.state = 'active'
    and (s.expires_at is null or s.expires_at > clock_timestamp())
$$;

-- The tenant of the session, if the fingerprint of svc.find_service_session is still this one; else null. A function
-- of its own, because only PL/pgSQL keeps its plans for the next call. Two queries, because a look-up by one key
-- needs one index only.
create or replace function svc.confirm_service_session(digest bytea, id uuid, prefix text, fingerprint text) returns uuid
language plpgsql stable security definer set search_path = svc, pg_catalog as $$
declare
  tenant uuid;
  found text;
begin
  if id is null then
    select s.tenant_id,
      encode(sha256(convert_to(row(s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email,
        s.principal_roles, s.scopes, c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config,
        c.sealed, t.issuers_version)::text, 'UTF8')), 'hex') into tenant, found
    from svc.service_session s join svc.tenant t using (tenant_id)
      left join svc.catalog_credential c on c.tenant_id = s.tenant_id and c.nickname = prefix
    where s.secret_sha256 = digest and s.revoked_at is null and t.state = 'active'
      and (s.expires_at is null or s.expires_at > clock_timestamp());
  else
    select s.tenant_id,
      encode(sha256(convert_to(row(s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email,
        s.principal_roles, s.scopes, c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config,
        c.sealed, t.issuers_version)::text, 'UTF8')), 'hex') into tenant, found
    from svc.service_session s join svc.tenant t using (tenant_id)
      left join svc.catalog_credential c on c.tenant_id = s.tenant_id and c.nickname = prefix
    where s.session_id = id and s.revoked_at is null and t.state = 'active'
      and (s.expires_at is null or s.expires_at > clock_timestamp());
  end if;
  return case when found = fingerprint then tenant end;
end $$;

revoke all on function svc.find_service_session, svc.confirm_service_session from public;
grant execute on function svc.find_service_session, svc.confirm_service_session to svc_tenant;

set local role svc_owner;
revoke create on schema svc from svc_admin;
