-- One sequence numbers the rows of all labels, in place of one for each: a graphid is the label's number above a number
-- that is unique within the label. Labels whose rows are walked number by number keep their own, because a walk would
-- look at the numbers of all others: svc.compare_page and svc.enqueue_snapshots.
--
-- `only`, because a default that is set on the labels' parent would be set on each label as well.
create sequence {{graph}}.label_number maxvalue 281474976710655;

do $$
declare
  walked constant text[] := array['INTENDED_WRITE', 'ACTUAL_WRITE', 'Snapshot'];
  label record;
  newest bigint;
begin
  select max(pg_sequence_last_value(format('{{graph}}.%I', l.seq_name)::regclass)) into newest
    from ag_catalog.ag_label l join ag_catalog.ag_graph g on g.graphid = l.graph
    where g.name = '{{graph}}' and l.name <> all (walked);
  if newest is not null then perform setval('{{graph}}.label_number', newest); end if;
  for label in
    select l.name, l.seq_name from ag_catalog.ag_label l join ag_catalog.ag_graph g on g.graphid = l.graph
      where g.name = '{{graph}}' and l.name <> all (walked)
  loop
    execute format('alter table only {{graph}}.%I alter column id set default ag_catalog._graphid(
      ag_catalog._label_id(''{{graph}}'', %L), nextval(''{{graph}}.label_number''))', label.name, label.name);
    execute format('drop sequence {{graph}}.%I', label.seq_name);
  end loop;
end $$;
grant usage on sequence {{graph}}.label_number to svc_tenant;

-- No row has one of the parents as its own label, so no statement finds anything by these.
drop index {{graph}}."_ag_label_vertex_key", {{graph}}."_ag_label_edge_key";
