-- The run that started a run, as its event says (OpenLineage's ParentRunFacet), and what the lists of runs are read by.
do $$
declare
  t text;
begin
  foreach t in array array['lineage_inbox', 'lineage_event'] loop
    execute format('alter table {{schema}}.%I
      add column parent_run_id uuid, add column parent_namespace text, add column parent_name text', t);
  end loop;
end $$;
-- Long names of jobs do not fit into an index entry.
create index lineage_inbox_job on {{schema}}.lineage_inbox
  (md5(job_namespace || chr(31) || job_name), event_seq desc);
create index lineage_inbox_parent on {{schema}}.lineage_inbox (parent_run_id, event_seq desc) where parent_run_id is not null;
