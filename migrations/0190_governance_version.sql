-- A number for each tenant that rises with every change of what a read rests on: whoever reads for longer than one
-- answer takes compares it and loads the rest only where it has risen. Triggers raise it, so no writer can forget to.

create table svc.governance_version (
  tenant_id uuid primary key references svc.tenant,
  version bigint not null,
  -- The transaction that raised it last: each raises it once.
  raised_in xid8 not null
);
alter table svc.governance_version enable row level security;
alter table svc.governance_version force row level security;
create policy own_tenant on svc.governance_version using (tenant_id = svc.current_tenant());
create policy administration on svc.governance_version to svc_admin using (true);
grant select, insert, update on svc.governance_version to svc_tenant, svc_admin;

-- The tenant is the row's, or the trigger's one argument. Triggers call it deferred: the row is locked last of all,
-- so it takes part in no deadlock, and the number rises with the transaction that made the change.
create function svc.raise_governance_version() returns trigger language plpgsql as $$
declare
  tenant uuid;
  raised bigint;
begin
  if tg_nargs = 1 then tenant := tg_argv[0];
  elsif tg_op = 'DELETE' then tenant := old.tenant_id;
  else tenant := new.tenant_id;
  end if;
  insert into svc.governance_version as v (tenant_id, version, raised_in)
    values (tenant, 1, pg_catalog.pg_current_xact_id())
    on conflict (tenant_id) do update set version = v.version + 1, raised_in = excluded.raised_in
      where v.raised_in <> excluded.raised_in
    returning v.version into raised;
  if raised is not null then perform pg_catalog.pg_notify('svc_governance', format('%s %s', tenant, raised)); end if;
  return null;
end $$;
revoke all on function svc.raise_governance_version from public;

create constraint trigger governance_version after insert or update or delete on svc.catalog_credential
  deferrable initially deferred for each row execute function svc.raise_governance_version();
create constraint trigger governance_version after insert or update or delete on svc.read_setting
  deferrable initially deferred for each row execute function svc.raise_governance_version();
-- Nothing rests on a session or tenant before it is there.
create constraint trigger governance_version after update of state on svc.tenant
  deferrable initially deferred for each row execute function svc.raise_governance_version();
create constraint trigger governance_version
  after update of revoked_at, expires_at, scopes, principal_roles or delete on svc.service_session
  deferrable initially deferred for each row execute function svc.raise_governance_version();
create constraint trigger governance_version
  after update of revoked_at, expires_at, scopes, principal_roles on svc.browser_session
  deferrable initially deferred for each row execute function svc.raise_governance_version();

-- As in 0140, with the version of the same snapshot.
drop function svc.load_read(uuid, text, text, uuid);
create function svc.load_read(tenant uuid, prefix text, ids text, session uuid)
returns table (credential_id uuid, version bigint, catalog_kind text, nickname text, endpoint text, config jsonb,
  sealed bytea, governance text, session_counts boolean, governance_version bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  perform svc.enter(tenant);
  return query
    select c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config, c.sealed, svc.governance($3),
      case when $4 is not null then exists (
        select from svc.service_session s join svc.tenant t on t.tenant_id = s.tenant_id
        where s.tenant_id = $1 and s.session_id = $4 and s.revoked_at is null and t.state = 'active'
          and (s.expires_at is null or s.expires_at > clock_timestamp()) and s.scopes ? 'read') end,
      coalesce((select v.version from svc.governance_version v where v.tenant_id = $1), 0)
    from (select) one left join svc.catalog_credential c on c.tenant_id = $1 and c.nickname = $2;
end $$;
revoke all on function svc.load_read from public;
grant execute on function svc.load_read to svc_tenant;

-- As in 0110, with the end of the session: a read that is under way then ends.
drop function svc.find_service_session(bytea, uuid, text);
grant create on schema svc to svc_admin;
set local role svc_admin;
create function svc.find_service_session(digest bytea, id uuid, prefix text)
returns table (session_id uuid, tenant_id uuid, organization_id text, principal_sub text, principal_email text,
  principal_roles jsonb, scopes jsonb, expires_at timestamptz, credential_id uuid, version bigint, catalog_kind text,
  nickname text, endpoint text, config jsonb, sealed bytea, fingerprint text)
language sql stable security definer set search_path = svc, pg_catalog as $$
  select s.session_id, s.tenant_id, t.organization_id, s.principal_sub, s.principal_email, s.principal_roles, s.scopes,
    s.expires_at, c.credential_id, c.version, c.catalog_kind, c.nickname, c.endpoint, c.config, c.sealed,
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
