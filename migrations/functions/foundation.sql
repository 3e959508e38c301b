-- What the tables are built on: row-level policies and triggers call these functions. This file is applied before the
-- tables, so no declaration here names a table. A trigger's function belongs here; the trigger itself belongs to the
-- file of its table in control/ or tenant/.

-- The tenant of this transaction, or null. A LOCAL setting reads '' after its transaction, not NULL.
create or replace function svc.current_tenant() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('app.tenant_id', true), '')::uuid;

-- Enters a tenant's context until the transaction ends. What follows looks rows up by a key. Only plans by index are
-- admitted, because a plan is kept: one made while a label was empty would read the whole label on each call. For the
-- same reason none is made anew for its parameters: planning cost a commit more than its statements did. It returns a
-- value, so that it can be called in an expression, which costs less than a query.
create or replace function svc.enter(tenant uuid) returns boolean
language plpgsql as $$
declare
  name text := replace(tenant::text, '-', '_');
  was text;
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  was := set_config('app.tenant_id', tenant::text, true);
  was := set_config('enable_seqscan', 'off', true);
  was := set_config('enable_bitmapscan', 'off', true);
  was := set_config('enable_hashjoin', 'off', true);
  was := set_config('enable_mergejoin', 'off', true);
  was := set_config('plan_cache_mode', 'force_generic_plan', true);
  -- Last: what follows in this function would be planned anew at each change of tenant.
  was := set_config('search_path', 't_' || name || ', g_' || name || ', svc, ag_catalog, pg_catalog', true);
  return true;
end $$;

-- Whether the tenant of this transaction is being removed: two people said so, and its time has come. For a day after it
-- has gone, too, as late rows are looked for that long.
create or replace function svc.removes_tenant() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from svc.tenant_removal r
    where r.tenant_id = svc.current_tenant() and r.started_at is not null
      and (r.removed_at is null or r.removed_at > clock_timestamp() - interval '1 day'));
end $$;

-- Whether a tenant is being removed now. Its rows go then, so that a month which has some is not detached.
create or replace function svc.is_tenant_going(tenant uuid) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from svc.tenant_removal r
    where r.tenant_id = tenant and r.started_at is not null and r.removed_at is null);
end $$;

-- The trigger of the record of removals: no row of it goes.
create or replace function svc.refuse_record_change() returns trigger language plpgsql as $$
begin
  raise exception 'svc.% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end $$;

-- The trigger of append-only tables and labels. Rows go with their tenant, by the owner alone, to whom row-level security
-- leaves those of no other.
create or replace function svc.refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_user = 'svc_owner' then
    if svc.removes_tenant() then return old; end if;
  end if;
  raise exception 'svc.% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end $$;

-- The trigger of rows of which the body may be removed, and nothing else changed.
create or replace function svc.refuse_all_but_removal_of_body() returns trigger language plpgsql as $$
begin
  old.body := '';
  if new is distinct from old then
    raise exception 'svc.% is append-only', tg_table_name using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

-- Raises the governance version of a tenant: the row's, or the trigger's one argument. Triggers call it deferred. So the
-- row is locked last and takes part in no deadlock, and the number rises with the transaction that made the change.
create or replace function svc.raise_governance_version() returns trigger language plpgsql as $$
declare
  tenant uuid;
  raised bigint;
begin
  -- A tenant that is being removed is governed no more, and its row may be gone.
  if tg_op = 'DELETE' and current_user = 'svc_owner' then
    if svc.removes_tenant() then return null; end if;
  end if;
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

-- The trigger of a new tenant: none of its tables exists yet, so nothing can break where its territory is enforced.
create or replace function svc.start_territory() returns trigger language plpgsql as $$
begin
  insert into svc.territory_state (tenant_id, mode) values (new.tenant_id, 'enforce');
  return null;
end $$;

-- The trigger of the history of tags: appends an event for each change.
create or replace function svc.tell_tag_change() returns trigger language plpgsql as $$
begin
  insert into svc.event (tenant_id, type, subject, data)
    values (new.tenant_id, 'tag.' || new.action, new.table_id, jsonb_strip_nulls(jsonb_build_object('tag', new.tag,
      'namespace', new.namespace, 'table', new.table_name, 'column', new.column_name, 'source', new.source,
      'by', new.actor_sub, 'finding', new.evidence ->> 'finding')));
  return null;
end $$;

-- What a decision about a finding makes of its status.
create or replace function svc.status_of_decision(decision text) returns text language sql immutable parallel safe
  return case decision when 'confirm' then 'confirmed' when 'reject' then 'rejected' when 'exempt' then 'exempt' else 'open' end;

-- The triggers that keep the status of findings. A decision waits for the findings of its tenant that are being written,
-- and they for it, so that none misses the other. One lock for a tenant, because a wide table has thousands of findings in
-- one transaction, and a lock for each would fill the server's table of locks.
create or replace function svc.set_status_of_finding() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('findings ' || new.tenant_id, 0));
  select svc.status_of_decision(d.decision) into new.status from svc.detection_decision d
    where d.tenant_id = new.tenant_id and d.classification_id = new.classification_id
    order by d.decision_seq desc limit 1;
  new.status := coalesce(new.status, 'open');
  return new;
end $$;
create or replace function svc.set_status_of_findings() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('findings ' || new.tenant_id, 0));
  update svc.detection_finding f set status = svc.status_of_decision(new.decision)
    where f.tenant_id = new.tenant_id and f.classification_id = new.classification_id
      and f.status <> svc.status_of_decision(new.decision);
  return null;
end $$;

-- The trigger of the territory index: raises the tenant's territory version once in each transaction.
create or replace function svc.raise_territory_version() returns trigger language plpgsql as $$
begin
  update svc.territory_state s set version = s.version + 1, raised_in = pg_catalog.pg_current_xact_id()
    where s.tenant_id = coalesce(new.tenant_id, old.tenant_id) and s.raised_in <> pg_catalog.pg_current_xact_id();
  return null;
end $$;

-- The trigger of the end of a grant of access: numbers it, for the audit's tree.
create or replace function svc.number_grant_end() returns trigger language plpgsql as $$
begin
  new.end_seq := nextval('svc.access_grant_end');
  return new;
end $$;

revoke all on function svc.current_tenant, svc.enter, svc.removes_tenant, svc.is_tenant_going, svc.refuse_record_change, svc.refuse_change,
  svc.refuse_all_but_removal_of_body, svc.raise_governance_version, svc.start_territory, svc.raise_territory_version,
  svc.tell_tag_change, svc.status_of_decision, svc.set_status_of_finding, svc.set_status_of_findings, svc.number_grant_end
  from public;
grant execute on function svc.current_tenant to svc_tenant, svc_admin;
grant execute on function svc.enter, svc.removes_tenant, svc.status_of_decision to svc_tenant;
