-- The numbering of events, by who reads them. Numbers are given under one lock to what has been committed. So a reader
-- that has seen a number will never see a lower one appear, whatever transactions end when.

-- Numbers what is committed and has no number: at most `most` events and `most` decisions. Returns the last number, and
-- whether all is numbered.
--
-- Decisions are found in the audit log beyond `decided`. A number of the audit log may be drawn long before its row is
-- committed. `decided` passes a row only when no transaction is open that may have drawn a lower number: record_verdict
-- has its transaction's id before it draws one, and `newest_xid` is drawn after the row `newest` was seen.
create or replace function svc.number_events(tenant uuid, most int, out last bigint, out is_complete boolean)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
  head svc.event_head;
  -- Before this transaction draws an id.
  seen bigint := coalesce((select a.audit_seq from svc.audit_log a
    where a.tenant_id = tenant order by a.audit_seq desc limit 1), 0);
  is_passed boolean;
  numbered bigint;
  decisions bigint;
begin
  select * into head from svc.event_head h where h.tenant_id = tenant;
  if not found then
    -- A transaction lasts seconds, so a decision that is committed after this reading is not left out.
    insert into svc.event_head (tenant_id, sequence, decided, newest, newest_xid)
      values (tenant, 0, coalesce((select a.audit_seq from svc.audit_log a
          where a.tenant_id = number_events.tenant and a.created_at < clock_timestamp() - interval '10 minutes'
          order by a.created_at desc limit 1), 0), seen, pg_current_xact_id())
      on conflict on constraint event_head_pkey do nothing;
  elsif head.decided >= seen
      and not exists (select from svc.event e where e.tenant_id = tenant and e.sequence is null) then
    last := head.sequence;
    is_complete := true;
    return;
  end if;
  select * into strict head from svc.event_head h where h.tenant_id = tenant for update;
  last := head.sequence;
  is_passed := pg_snapshot_xmin(pg_current_snapshot()) >= head.newest_xid;

  with due as (
    select e.event_id, row_number() over (order by e.event_id) as place
    from (select e.event_id from svc.event e where e.tenant_id = number_events.tenant and e.sequence is null
      order by e.event_id limit most) e)
  update svc.event e set sequence = head.sequence + due.place
    from due where e.tenant_id = number_events.tenant and e.event_id = due.event_id;
  get diagnostics numbered = row_count;
  last := last + numbered;

  insert into svc.event (tenant_id, sequence, type, subject, audit_seq, occurred_at)
    select number_events.tenant, last + row_number() over (order by a.audit_seq), 'commit.decided', a.table_id, a.audit_seq,
      a.created_at
    from (select a.audit_seq, a.table_id, a.created_at from svc.audit_log a
      where a.tenant_id = number_events.tenant and a.audit_seq > head.decided
        and not exists (select from svc.event e where e.tenant_id = number_events.tenant and e.audit_seq = a.audit_seq)
      order by a.audit_seq limit most) a;
  get diagnostics decisions = row_count;
  last := last + decisions;
  is_complete := numbered < most and decisions < most;

  update svc.event_head h set sequence = last,
      decided = case when is_passed and decisions < most then h.newest else h.decided end,
      newest = case when is_passed or h.newest_xid > pg_current_xact_id() then seen else h.newest end,
      -- A number beyond this one is of another server, from which the rows were copied.
      newest_xid = case when is_passed or h.newest_xid > pg_current_xact_id() then pg_current_xact_id()
        else h.newest_xid end
    where h.tenant_id = number_events.tenant;
end $$;

-- The events after a number, in order. `data` of a decision is made from its row of the audit log.
create or replace function svc.read_events(tenant uuid, after bigint, most int)
  returns table (sequence bigint, type text, subject text, data jsonb, occurred_at timestamptz)
language plpgsql as $$
declare
  entered boolean := svc.enter(tenant);
begin
  return query
    select e.sequence, e.type, e.subject,
      case when e.audit_seq is null then e.data
        -- Its month may be detached.
        else coalesce((select jsonb_build_object('commit_id', a.commit_id, 'decision', a.decision, 'reason', a.reason,
            'action', a.action, 'committer', a.committer, 'namespace', a.namespace, 'table', a.table_name)
            || jsonb_strip_nulls(jsonb_build_object('session_id', a.session_id, 'session_name', a.session_name,
              'client', a.client, 'application_id', a.application_id, 'branch', a.branch))
          from svc.audit_log a where a.tenant_id = read_events.tenant and a.audit_seq = e.audit_seq), '{}') end,
      e.occurred_at
    from svc.event e
    where e.tenant_id = read_events.tenant and e.sequence > after
    order by e.sequence limit most;
end $$;

revoke all on function svc.number_events, svc.read_events from public;
grant execute on function svc.number_events, svc.read_events to svc_tenant;
