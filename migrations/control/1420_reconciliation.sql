-- How far the comparison of audit log and graph has come, by what it goes through. Numbers are those of the audit log,
-- or of a label's sequence (the lower part of a graphid); a round over a label counts blocks of its table.
create table svc.reconciliation (
  tenant_id uuid not null references svc.tenant,
  walk text not null check (walk in ('audit', 'INTENDED_WRITE', 'ACTUAL_WRITE', 'Snapshot')),
  -- Up to here every number was compared after the transaction that drew it had ended.
  settled bigint not null,
  -- `settled` once this run has come to its end.
  settles bigint not null,
  -- The newest number when `newest_xid` was drawn.
  newest bigint not null,
  newest_xid xid8 not null,
  -- What is new: how far this run has come, and where it ends.
  compared bigint not null,
  compare_to bigint not null,
  -- The round over the whole history: how far it has come, how far this run takes it, and where it ends.
  round_at bigint not null,
  round_to bigint not null,
  round_end bigint not null,
  round_began timestamptz not null,
  -- When the round before it began.
  round_before timestamptz,
  primary key (tenant_id, walk)
) with (fillfactor = 50);
alter table svc.reconciliation enable row level security, force row level security;
create policy own_tenant on svc.reconciliation using (tenant_id = svc.current_tenant());
grant select, insert, update on svc.reconciliation to svc_tenant;

-- They compared everything in each run.
drop function if exists svc.drift_of_audit(int, bigint);
drop function if exists svc.drift_of_graph(text, int, bigint);
drop function if exists svc.record_drift(jsonb);
