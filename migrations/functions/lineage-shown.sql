-- What walks and lists say of lineage beside the graph itself: the last run of edges and jobs. With the caller's rights
-- and search_path.

-- The state of the run of a job that was received last, or null: the event that ended it, else its latest.
create or replace function svc.job_state(namespace text, name text) returns text
language plpgsql stable set enable_seqscan = off as $$
begin
  return (
    select e.event_type from (
      select i.producer, i.run_id from lineage_inbox i
      where md5(i.job_name) = md5(job_state.name) and md5(i.job_namespace) = md5(job_state.namespace)
      order by i.event_seq desc limit 1) run,
      lateral (
        select i.event_type, i.event_time, i.event_seq from lineage_inbox i
          where i.producer = run.producer and i.run_id = run.run_id
        union all
        select l.event_type, l.event_time, l.event_seq from lineage_event l
          where l.producer = run.producer and l.run_id = run.run_id and l.kind = 'run') e
    order by e.event_type in ('COMPLETE', 'ABORT', 'FAIL') desc, e.event_time desc, e.event_seq desc limit 1);
end $$;

-- Who said an edge last: `job_id`, `state`, `producer` and `run_id` of that run, `said_at`, and `stale` where it was
-- longer ago than is set for the job. `edge` are its properties, `source` and `target` those of its ends. Of an edge with
-- very many jobs, a hundred are looked at. Null for an edge of which no claim is kept.
create or replace function svc.edge_evidence(label text, edge jsonb, source jsonb, target jsonb) returns jsonb
language plpgsql stable set enable_seqscan = off as $$
begin
  return (
    select jsonb_build_object('job_id', c.job_id, 'state', c.state, 'producer', c.producer, 'run_id', c.run_id,
        'said_at_ms', c.said, 'stale', bool_and(c.is_stale) over ())
    from (
      select edge ->> 'job_id' as job_id where label = 'LINEAGE_OF' and edge ? 'job_id'
      union
      (select s.job_id from lineage_support s where label = 'LINEAGE_OF' and s.pair = edge ->> 'id' limit 100)
      union
      select target ->> 'id' where label in ('PRODUCED_BY', 'CONSUMED_BY')) j,
      lateral (
        select c.*, coalesce(svc.said_time(c.said) < now() - make_interval(days => (
            select s.days from lineage_staleness s where s.job_id in (c.job_id, '') order by s.job_id desc limit 1)), false) as is_stale
        from lineage_claim c
        where c.job_id = j.job_id
          and (label = 'PRODUCED_BY' or c.inputs @> array[source ->> 'id'])
          and (label = 'CONSUMED_BY' or c.outputs @> array[case when label = 'PRODUCED_BY' then source else target end ->> 'id'])
        order by c.said desc limit 1) c
    order by c.said desc, c.job_id limit 1);
end $$;

revoke all on function svc.job_state, svc.edge_evidence from public;
grant execute on function svc.job_state, svc.edge_evidence to svc_tenant;
