-- What a query asks of the store: what governs its tables, and the record of its usage. Each is one call that is a
-- transaction of its own. The governance is one value, compared as a whole with the one before.

-- The tables whose territory the given ones share, directly or through others: {table, source}. Runs in the tenant's
-- context.
create or replace function svc.sources(ids text[]) returns jsonb
language plpgsql stable as $$
begin
  return coalesce((
    with recursive shared (table_id, source_id) as (
      select r.table_id, r.source ->> 'table_id' from svc.territory r
        where r.tenant_id = svc.current_tenant() and r.table_id = any(ids) and r.kind = 'derived'
          and coalesce(r.released_at, 'infinity') > clock_timestamp()
      union
      select r.table_id, r.source ->> 'table_id' from shared s join svc.territory r
        on r.tenant_id = svc.current_tenant() and r.table_id = s.source_id and r.kind = 'derived'
          and coalesce(r.released_at, 'infinity') > clock_timestamp())
    select jsonb_agg(jsonb_build_object('table', table_id, 'source', source_id)) from shared), '[]');
end $$;

-- What governs reading tables: [kind, subject, id, properties], joined by commas, without the brackets around the
-- list. `id` is that of a table, column or tag in the graph; `subject` is the id of what a row is about. Runs in the
-- tenant's context, whose search_path names the label tables. Only plans by index are admitted, as in svc.enter; a
-- list of ids is one scan of an index. A clone brings the tables whose territory it shares, each named by a row of the
-- kind `source`. In a tenant with a catalog that folds names a table brings its other spellings, each named by a row of
-- the kind `spelling`.
create or replace function svc.governance(ids text) returns text
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set enable_bitmapscan = off as $$
declare
  shared jsonb := svc.sources(array(select jsonb_array_elements_text(ids::jsonb)));
  spelled jsonb := svc.spellings(array(select jsonb_array_elements_text(ids::jsonb)
    union select s ->> 'source' from jsonb_array_elements(shared) s));
  wanted ag_catalog.agtype[] := array(
    select to_jsonb(x)::text::ag_catalog.agtype from jsonb_array_elements_text(ids::jsonb) x
    union select (s -> 'source')::text::ag_catalog.agtype from jsonb_array_elements(shared) s
    union select (s -> 'spelling')::text::ag_catalog.agtype from jsonb_array_elements(spelled) s);
begin
  return (
    with t as materialized (
      select t.id, t.properties from "Table" t
        where agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) = any(wanted)),
    c as materialized (
      select h.start_id, c.id, c.properties from "HAS_COLUMN" h join "Column" c on c.id = h.end_id
        where h.start_id = any(array(select id from t))),
    -- A dropped column names its table itself.
    d as materialized (
      select c.id, c.properties from "Column" c
        where agtype_access_operator(variadic array[c.properties, '"table_id"'::agtype]) = any(wanted)
          and c.id <> all(array(select id from c))
          and not exists (select from "HAS_COLUMN" h where h.end_id = c.id)),
    g as materialized (
      select e.start_id, g.id, g.properties from "TAGGED" e join "Tag" g on g.id = e.end_id
        where e.start_id = any(array(select id from t union all select id from c union all select id from d))),
    found (kind, subject, id, properties) as (
      select 'table', null::graphid, id, properties from t
      union all select 'contract', e.end_id, null, k.properties
        from "GOVERNS" e join "Contract" k on k.id = e.start_id where e.end_id = any(array(select id from t))
      -- The pin is its newest event.
      union all select 'pin', t.id, null, p.properties
        from t cross join lateral (
          select p.properties from "PINS" e join "PinEvent" p on p.id = e.start_id where e.end_id = t.id
          order by agtype_access_operator(variadic array[p.properties, '"seq"'::agtype]) desc limit 1) p
      union all select 'column', start_id, id, properties from c
      union all select 'dropped-column', null, id, properties from d
      union all select 'tag', start_id, id, properties from g
      union all select 'filter', e.end_id, null, f.properties
        from "FILTERS" e join "RowFilter" f on f.id = e.start_id
        where e.end_id = any(array(select id from t union all select id from c union all select id from d))
      union all select 'mask', e.end_id, null, m.properties
        from "MASKS" e join "ColumnMask" m on m.id = e.start_id
        where e.end_id = any(array(select id from c union all select id from d))
      union all select case when m.id is null then 'tag-filter' else 'tag-mask' end, e.end_id, null,
          coalesce(m.properties, f.properties)
        from "APPLIES_TO" e left join "ColumnMask" m on m.id = e.start_id left join "RowFilter" f on f.id = e.start_id
        where e.end_id = any(array(select id from g)) and (m.id is not null or f.id is not null)
      union all select 'source', null, null, s::text::agtype from jsonb_array_elements(shared) s
      union all select 'spelling', null, null, s::text::agtype from jsonb_array_elements(spelled) s
      union all select 'setting', null, null,
          jsonb_build_object('uncontracted', s.uncontracted)::text::agtype
        from svc.read_setting s
      -- Who reads the values of a protected column, with the version that its scope has now.
      union all select 'reveal', null, null,
          (r.definition || jsonb_build_object('table', r.table_id, 'field_id', r.field_id, 'version', coalesce((
            select max(v.version) from svc.transform_scope_version v
            where v.tenant_id = r.tenant_id and v.scope = r.definition ->> 'scope'), 1)))::text::agtype
        from svc.transform_reveal r
        where r.tenant_id = svc.current_tenant() and r.table_id = any(array(select jsonb_array_elements_text(ids::jsonb)))
      -- Grants that nobody ended; the caller's clock decides which of them hold now. A clone has none of its sources'.
      -- What a grant gives for commits alone is svc.write_governance's.
      union all select 'grant', null, null, jsonb_build_object('table', a.table_id, 'id', a.grant_id,
          'table_uuid', a.table_uuid,
          'grantee', a.grantee, 'lifts', a.lifts - 'policies', 'purpose', a.purpose,
          'from_ms', floor(extract(epoch from a.from_at) * 1000)::bigint,
          'until_ms', floor(extract(epoch from a.until_at) * 1000)::bigint)::text::agtype
        from svc.access_grant a
        where a.tenant_id = svc.current_tenant() and a.ended_at is null
          and a.table_id = any(array(select jsonb_array_elements_text(ids::jsonb)))
          and (a.lifts -> 'columns' <> '[]' or a.lifts -> 'filters' <> '[]'))
    select string_agg(concat('["', kind, '","', subject, '","', id, '",', properties, ']'), ',') from found);
end $$;

-- Gives the open grants of access to a renamed table to its new name {table_id, namespace, name}. With several catalogs
-- another table may have either name, so they end. Requests that wait were about the old name. Requests come first: who
-- decides about one holds its row until the grant is there.
create or replace function svc.carry_access(old_id text, new_name jsonb) returns void
language plpgsql as $$
begin
  perform svc.end_access(old_id, 'the table was renamed', false);
  if (select count(*) > 1 from svc.catalog_credential c where c.tenant_id = svc.current_tenant()) then
    perform svc.end_access(old_id, 'the table was renamed, and the tenant has several catalogs', true);
    return;
  end if;
  -- What nobody ended under the new name was about a table that is gone.
  perform svc.end_access(new_name ->> 'table_id', 'another table has the name', true);
  update svc.access_grant g
    set table_id = new_name ->> 'table_id', table_ref = new_name - 'table_id'
    where g.tenant_id = svc.current_tenant() and g.table_id = old_id and g.ended_at is null;
end $$;

-- Ends the requests about a table that wait, and its open grants where `grants` is true.
create or replace function svc.end_access(old_id text, reason text, grants boolean) returns void
language plpgsql as $$
begin
  perform svc.expire_requests(array(select q.request_id from svc.access_request q
    where q.tenant_id = svc.current_tenant() and q.table_id = old_id and q.state = 'waiting'), reason);
  if grants then
    perform svc.end_grants(array(select g.grant_id from svc.access_grant g
      where g.tenant_id = svc.current_tenant() and g.table_id = old_id and g.ended_at is null), reason);
  end if;
end $$;

-- Ends what was asked for and granted of a table under this name with another uuid.
create or replace function svc.end_access_of_others(this_id text, uuid text) returns void
language plpgsql as $$
declare
  reason text := 'another table has the name';
begin
  perform svc.expire_requests(array(select q.request_id from svc.access_request q
    where q.tenant_id = svc.current_tenant() and q.table_id = this_id and q.state = 'waiting'
      and q.table_uuid <> uuid), reason);
  perform svc.end_grants(array(select g.grant_id from svc.access_grant g
    where g.tenant_id = svc.current_tenant() and g.table_id = this_id and g.ended_at is null
      and g.table_uuid <> uuid), reason);
end $$;

-- Expires requests that wait, and tells so.
create or replace function svc.expire_requests(ids uuid[], reason text) returns void
language plpgsql as $$
begin
  if ids = '{}' then return; end if;
  with expired as (
    update svc.access_request q set state = 'expired', ended_at = clock_timestamp()
      where q.tenant_id = svc.current_tenant() and q.request_id = any(ids) and q.state = 'waiting'
      returning q.request_id, q.table_id, q.grantee)
  insert into svc.event (tenant_id, type, subject, data)
    select svc.current_tenant(), 'access.expired', e.table_id,
      jsonb_build_object('request', e.request_id, 'grantee', e.grantee, 'reason', expire_requests.reason)
    from expired e;
end $$;

-- Ends open grants, and tells so.
create or replace function svc.end_grants(ids uuid[], reason text) returns void
language plpgsql as $$
begin
  if ids = '{}' then return; end if;
  with ended as (
    update svc.access_grant g set ended_at = clock_timestamp(), end_reason = end_grants.reason
      where g.tenant_id = svc.current_tenant() and g.grant_id = any(ids) and g.ended_at is null
      returning g.grant_id, g.request_id, g.table_id, g.grantee)
  insert into svc.event (tenant_id, type, subject, data)
    select svc.current_tenant(), 'access.ended', e.table_id, jsonb_build_object('grant', e.grant_id, 'request', e.request_id,
      'grantee', e.grantee, 'reason', end_grants.reason)
    from ended e;
end $$;

-- The governance and the territory of tables with its version, of one snapshot of the database, and the tenant's
-- catalog credential of a nickname; always one row. Where a session is given, also whether it is one of the tenant's, is valid now and may
-- read, by the rules of svc.find_service_session.
create or replace function svc.load_read(tenant uuid, prefix text, ids text, session uuid)
returns table (credential_id uuid, version bigint, catalog_kind text, nickname text, endpoint text, config jsonb,
  sealed bytea, governance text, session_counts boolean, governance_version bigint, territory text)
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
      coalesce((select v.version from svc.governance_version v where v.tenant_id = $1), 0),
      svc.territories($3)
    from (select) one left join svc.catalog_credential c on c.tenant_id = $1 and c.nickname = $2;
end $$;

-- Writes a query's usage record, and ends its row in svc.query_under_way where `was_opened`.
create or replace function svc.record_usage(tenant uuid, query_id uuid, started_ms float8, principal_sub text,
  principal_source text, surface text, catalog text, engine text, contracts text, reads text, policies text,
  rows_out bigint, bytes_out bigint, bytes_scanned bigint, queue_ms float8, plan_ms float8, run_ms float8,
  outcome text, sqlstate text, fingerprint text, tool text, client text, purpose text, was_opened boolean) returns void
language plpgsql as $$
#variable_conflict use_column
begin
  perform svc.enter($1);
  -- Before the number of the record, on which svc.roll_usage relies.
  perform pg_current_xact_id();
  if $24 then delete from svc.query_under_way where tenant_id = $1 and query_id = $2; end if;
  insert into svc.query_usage (tenant_id, query_id, started_at, principal_sub, principal_source, surface, catalog,
      engine, contracts, reads, policies, rows_out, bytes_out, bytes_scanned, queue_ms, plan_ms, run_ms, outcome,
      sqlstate, fingerprint, tool, client, purpose)
    values ($1, $2, to_timestamp($3 / 1000), $4, $5, $6, $7, $8, $9::jsonb, $10::jsonb, $11::jsonb, $12, $13, $14,
      $15, $16, $17, $18, $19, $20, $21, $22, $23);
end $$;

revoke all on function svc.sources, svc.governance, svc.carry_access, svc.end_access, svc.end_access_of_others,
  svc.expire_requests, svc.end_grants, svc.load_read, svc.record_usage from public;
grant execute on function svc.sources, svc.governance, svc.carry_access, svc.end_access, svc.end_access_of_others,
  svc.expire_requests, svc.end_grants, svc.load_read, svc.record_usage to svc_tenant;
