-- The first three questions of a commit (whose session, which policies, is the intent durable) as one call, for a
-- caller that has been here before: its session, its catalog credential and the table's metadata are kept in
-- memory, and this call says whether the first two still hold. Where they do not, it does nothing.

-- The row that it gave, as a fingerprint: equal as long as neither session nor credential has changed.
drop function svc.find_service_session(bytea, uuid, text);
grant create on schema svc to svc_admin;
set local role svc_admin;
create function svc.find_service_session(digest bytea, id uuid, prefix text)
returns table (session_id uuid, tenant_id uuid, organization_id text, principal_sub text, principal_email text,
  principal_roles jsonb, scopes jsonb, credential_id uuid, version bigint, catalog_kind text, nickname text,
  endpoint text, config jsonb, sealed bytea, fingerprint text)
language sql stable security definer set search_path = svc, pg_catalog as $$
  select s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email, s.principal_roles, s.scopes,
    c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config, c.sealed,
    encode(sha256(convert_to(row(s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email,
      s.principal_roles, s.scopes, c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config,
      c.sealed)::text, 'UTF8')), 'hex')
  from svc.service_session s join svc.tenant t using (tenant_id)
    left join svc.catalog_credential c on c.tenant_id = s.tenant_id and c.nickname = prefix
  where (s.secret_sha256 = digest or s.session_id = id) and s.revoked_at is null and t.state = 'active'
    and (s.expires_at is null or s.expires_at > clock_timestamp())
$$;
revoke all on function svc.find_service_session from public;
grant execute on function svc.find_service_session to svc_tenant;
set local role svc_owner;
revoke create on schema svc from svc_admin;

-- What governs a table when it is written, as a JSON array of [edge, properties]; in the tenant's context.
create function svc.write_governance(table_id text) returns text
language plpgsql as $$
declare
  wanted ag_catalog.agtype := to_jsonb(table_id)::text::ag_catalog.agtype;
begin
  -- The sentinel is on the table of the empty name, and comes by the same path.
  return (select '[' || string_agg('["' || edge || '",' || properties || ']', ',') || ']' from (
    select 'SCHEMA_GOVERNS' as edge, p.properties::text as properties
      from "Table" t join "SCHEMA_GOVERNS" e on e.end_id = t.id join "Policy" p on p.id = e.start_id
      where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype)
    union all
    select 'WRITE_GOVERNS', p.properties::text
      from "Table" t join "WRITE_GOVERNS" e on e.end_id = t.id join "Policy" p on p.id = e.start_id
      where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype)
    union all
    select 'RETAINS', p.properties::text
      from "Table" t join "RETAINS" e on e.end_id = t.id join "RetentionPolicy" p on p.id = e.start_id
      where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype)
    union all
    -- The pin is the newest of its events.
    select 'PINS', newest.properties::text
      from "Table" t cross join lateral (
        select p.properties from "PINS" e join "PinEvent" p on p.id = e.start_id where e.end_id = t.id
        order by agtype_access_operator(variadic array[p.properties, '"seq"'::agtype]) desc limit 1) newest
      where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) in (wanted, '""'::agtype)) found);
end $$;

drop function svc.load_policies(uuid, text);
create function svc.load_policies(tenant uuid, table_id text) returns table (governance text)
language plpgsql as $$
begin
  perform svc.enter(tenant);
  governance := svc.write_governance(table_id);
  return next;
end $$;

-- The tenant is the session's own, whoever calls. Gives nothing, and writes nothing, where the session does not
-- hold any more or the fingerprint is another.
create function svc.begin_commit(digest bytea, session_id uuid, prefix text, fingerprint text, table_id text,
  commit_id uuid, intent text, body bytea, lease_ms float8, upstream_ms float8) returns table (governance text)
language plpgsql as $$
#variable_conflict use_column
declare
  tenant uuid;
begin
  select s.tenant_id into tenant from svc.find_service_session($1, $2, $3) s where s.fingerprint = $4;
  if tenant is null then return; end if;
  perform svc.open_intent(tenant, $6, $5, $7, $8, $9, $10);
  governance := svc.write_governance($5);
  return next;
end $$;

revoke all on function svc.write_governance, svc.load_policies, svc.begin_commit from public;
grant execute on function svc.write_governance, svc.load_policies, svc.begin_commit to svc_tenant;
