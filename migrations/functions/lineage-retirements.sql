-- What stewards take back and restore (docs/reference/lineage.md 4.8). Works with the caller's rights and search_path.

-- Takes an edge from all jobs that say it, into the past of this retirement.
create or replace function svc.retire_edge(pair text, retirement uuid) returns void
language plpgsql set enable_seqscan = off as $$
declare
  held jsonb := (select l.properties::text::jsonb from "LINEAGE_OF" l
    where ag_catalog.agtype_access_operator(variadic array[l.properties, '"id"'::ag_catalog.agtype])
      = to_jsonb(retire_edge.pair)::text::ag_catalog.agtype);
begin
  if held is null then return; end if;
  insert into lineage_shelf as s (pair, job_id, said)
    select retire_edge.pair, j.job_id, svc.columns_of_job(held, j.job_id)
    from (select coalesce(held ->> 'job_id', '') as job_id
      union select l.job_id from lineage_support l where l.pair = retire_edge.pair) j
    where svc.columns_of_job(held, j.job_id) is not null
    on conflict on constraint lineage_shelf_pkey do update set said = excluded.said;
  delete from lineage_support l where l.pair = retire_edge.pair;
  perform svc.end_edge('LINEAGE_OF', retire_edge.pair, clock_timestamp(), retirement);
end $$;

-- Draws again what the claims of a job say, as far as nobody took it back and no cycle closes; and ends what they do not.
create or replace function svc.redraw_job(job text) returns void
language plpgsql set enable_seqscan = off as $$
declare
  claims jsonb := (
    select coalesce(jsonb_agg(jsonb_build_object('job', c.job_id, 'inputs', to_jsonb(c.inputs), 'outputs', to_jsonb(c.outputs),
        'said', c.said, 'completes', false, 'producer', c.producer, 'run_id', c.run_id, 'state', c.state) order by c.said), '[]')
    from lineage_claim c where c.job_id = redraw_job.job);
  claim jsonb;
  e jsonb;
begin
  for claim in select item from jsonb_array_elements(claims) item loop
    e := claim || jsonb_build_object('job', jsonb_build_object('id', job), 'at_ms', claim -> 'said', 'columns', '[]'::jsonb,
      'run', (claim ->> 'run_id') || ' ' || (claim ->> 'producer'),
      'inputs', (select coalesce(jsonb_agg(jsonb_build_object('id', i)), '[]') from jsonb_array_elements(claim -> 'inputs') i),
      'outputs', (select coalesce(jsonb_agg(jsonb_build_object('id', o)), '[]') from jsonb_array_elements(claim -> 'outputs') o));
    perform svc.merge_lineage(e, jsonb_array_length(e -> 'inputs'), jsonb_array_length(e -> 'outputs'), 9007199254740991);
    perform svc.link_jobs(jsonb_build_array(e));
  end loop;
  perform svc.claim_lineage(claims);
end $$;

-- What the events of a job's runs say of columns, as far as nobody took the run back: by pair, of the latest run.
create or replace function svc.said_columns(name text, namespace text) returns table (pair text, said jsonb)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
begin
  return query with runs as materialized (
    select i.producer, i.run_id from lineage_inbox i
    where md5(i.job_name) = md5(said_columns.name) and md5(i.job_namespace) = md5(said_columns.namespace)),
  events as (
    select i.producer, i.run_id, null::bigint as job_seq, i.inputs, i.outputs, i.columns, i.aliases, least(i.event_time, i.received_at) as at
      from runs r join lineage_inbox i using (producer, run_id) where i.state <> 'pending'
    union all
    select l.producer, l.run_id, null, l.inputs, l.outputs, l.columns, l.aliases, least(l.event_time, l.received_at)
      from runs r join lineage_event l using (producer, run_id) where l.kind = 'run' and l.state <> 'pending'
    union all
    select l.producer, l.run_id, l.event_seq, l.inputs, l.outputs, l.columns, l.aliases, least(l.event_time, l.received_at)
      from lineage_event l where l.kind = 'job' and l.job_name = said_columns.name and l.job_namespace = said_columns.namespace and l.state <> 'pending'),
  kept as materialized (
    select e.* from events e
    where not exists (select from lineage_retirement t where t.producer = e.producer and t.run_id = e.run_id)),
  sums as (
    select k.producer, k.run_id, jsonb_agg(distinct i) filter (where i is not null) as inputs, array_agg(distinct o) as outputs, k.job_seq
    from kept k left join lateral unnest(k.inputs) i on true left join lateral unnest(k.outputs) o on true
    group by k.producer, k.run_id, k.job_seq),
  whole as (
    select s.*, svc.with_inputs(jsonb_build_object(
      'inputs', (select coalesce(jsonb_agg(jsonb_build_object('id', i)), '[]') from jsonb_array_elements(s.inputs) i),
      'aliases', (select coalesce(jsonb_object_agg(one.key, one.value order by one.value::text desc), '{}')
        from kept k, jsonb_each(k.aliases) one
        where k.producer = s.producer and k.run_id = s.run_id and k.job_seq is not distinct from s.job_seq),
      'columns', (select coalesce(jsonb_agg(item || jsonb_build_object('as_of_ms', round(extract(epoch from one.at) * 1000))), '[]')
        from (select k.columns, max(k.at) as at from kept k
            where k.producer = s.producer and k.run_id = s.run_id and k.job_seq is not distinct from s.job_seq and k.columns is not null
            group by k.columns) one,
          jsonb_array_elements(one.columns) item))) as columns
    from sums s)
  select distinct on (one.key) one.key, one.value || jsonb_build_object('run', w.run_id || ' ' || w.producer)
  from whole w, jsonb_each(svc.columns_by_pair((select coalesce(jsonb_agg(c), '[]') from jsonb_array_elements(w.columns) c
    where w.inputs ? (c ->> 'input') and c ->> 'output' = any (w.outputs)))) one
  order by one.key, (one.value ->> 'as_of_ms')::numeric desc, w.run_id || ' ' || w.producer desc;
end $$;

-- Finds again what the runs of a job say of columns, so that a run that was taken back says nothing of them. What is
-- known of runs without events stays.
create or replace function svc.reclaim_columns(job text, name text, namespace text, pairs text[]) returns void
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_variable
declare
  one record;
begin
  delete from lineage_shelf s using lineage_inbox i
    where s.job_id = job and s.said ->> 'run' = i.run_id || ' ' || i.producer
      and md5(i.job_name) = md5(name) and md5(i.job_namespace) = md5(namespace);
  update "LINEAGE_OF" l
    set properties = svc.without_columns(l.properties::text::jsonb, job)::text::ag_catalog.agtype
    from unnest(pairs) given (pair)
    where ag_catalog.agtype_access_operator(variadic array[l.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(given.pair)::text::ag_catalog.agtype
      and exists (select from lineage_inbox i
        where md5(i.job_name) = md5(name) and md5(i.job_namespace) = md5(namespace)
          and svc.columns_of_job(l.properties::text::jsonb, job) ->> 'run' = i.run_id || ' ' || i.producer);
  for one in
    select c.pair, c.said, l.id as edge from svc.said_columns(name, namespace) c
      left join lateral (select l.id from "LINEAGE_OF" l
        where ag_catalog.agtype_access_operator(variadic array[l.properties, '"id"'::ag_catalog.agtype])
            = to_jsonb(c.pair)::text::ag_catalog.agtype
          and (l.properties::text::jsonb ->> 'job_id' = job
            or exists (select from lineage_support s where s.pair = c.pair and s.job_id = job)) offset 0) l on true
  loop
    if one.edge is null then
      perform svc.shelve_columns(one.pair, job, one.said);
    else
      update "LINEAGE_OF" l
        set properties = svc.with_said(l.properties::text::jsonb, job, one.said)::text::ag_catalog.agtype where l.id = one.edge;
    end if;
  end loop;
end $$;

-- Finds again what a job says, from the events of its runs that nobody took back, and draws it. `of_runs` are pairs of
-- producer and run id, of which the claims may come.
create or replace function svc.reclaim_job(job text, name text, namespace text) returns void
language plpgsql set enable_seqscan = off as $$
declare
  before_pairs jsonb := (
    select coalesce(jsonb_agg(distinct jsonb_build_array(i, o)), '[]')
    from lineage_claim c, unnest(c.inputs) i, unnest(c.outputs) o where c.job_id = reclaim_job.job);
  before_reads text[] := array(select distinct i from lineage_claim c, unnest(c.inputs) i where c.job_id = reclaim_job.job);
  before_writes text[] := array(select distinct o from lineage_claim c, unnest(c.outputs) o where c.job_id = reclaim_job.job);
  claims jsonb;
begin
  with runs as materialized (
    select i.producer, i.run_id from lineage_inbox i
    where md5(i.job_name) = md5(reclaim_job.name) and md5(i.job_namespace) = md5(reclaim_job.namespace)),
  events as (
    select i.producer, i.run_id, 'run' as kind, i.event_seq, i.inputs, i.outputs, least(i.event_time, i.received_at) as at, i.received_at, i.event_type
      from runs r join lineage_inbox i using (producer, run_id) where i.state <> 'pending'
    union all
    select l.producer, l.run_id, 'run', l.event_seq, l.inputs, l.outputs, least(l.event_time, l.received_at), l.received_at, l.event_type
      from runs r join lineage_event l using (producer, run_id) where l.kind = 'run' and l.state <> 'pending'
    union all
    select l.producer, l.run_id, 'job', l.event_seq, l.inputs, l.outputs, least(l.event_time, l.received_at), l.received_at, l.event_type
      from lineage_event l where l.kind = 'job' and l.job_name = reclaim_job.name and l.job_namespace = reclaim_job.namespace and l.state <> 'pending'),
  gone as (
    delete from lineage_claim c where c.job_id = reclaim_job.job
      and exists (select from events e where e.producer = c.producer and e.run_id = c.run_id)),
  sums as (
    select e.producer, e.run_id,
      array(select distinct i from events o, unnest(o.inputs) i where o.producer = e.producer and o.run_id = e.run_id
        and (e.kind = 'run' or o.event_seq = min(e.event_seq))) as inputs,
      array(select distinct i from events o, unnest(o.outputs) i where o.producer = e.producer and o.run_id = e.run_id
        and (e.kind = 'run' or o.event_seq = min(e.event_seq))) as outputs,
      round(extract(epoch from max(e.at)) * 1000) as said,
      bool_or(e.kind = 'job' or e.event_type = 'COMPLETE') as completes,
      (array_agg(e.event_type order by e.event_type in ('COMPLETE', 'ABORT', 'FAIL') desc, e.at desc, e.received_at desc))[1] as state
    from events e
    where not exists (select from lineage_retirement t where t.producer = e.producer and t.run_id = e.run_id)
    group by e.producer, e.run_id, e.kind, case when e.kind = 'job' then e.event_seq end)
  select coalesce(jsonb_agg(jsonb_build_object('job', reclaim_job.job, 'inputs', to_jsonb(s.inputs), 'outputs', to_jsonb(s.outputs),
      'said', s.said, 'completes', s.completes, 'producer', s.producer, 'run_id', s.run_id, 'state', s.state) order by s.said), '[]')
    into claims from sums s where s.inputs <> '{}' or s.outputs <> '{}';
  perform svc.claim_lineage(claims);
  -- Those that the retired run said, and no other.
  perform svc.end_support(svc.pair_id(p ->> 0, p ->> 1), reclaim_job.job, clock_timestamp())
    from jsonb_array_elements(before_pairs) p
    where not exists (select from lineage_claim c
      where c.job_id = reclaim_job.job and c.inputs @> array[p ->> 0] and c.outputs @> array[p ->> 1]);
  perform svc.end_edge('CONSUMED_BY', svc.pair_id(i, reclaim_job.job), clock_timestamp(), null) from unnest(before_reads) i
    where not exists (select from lineage_claim c where c.job_id = reclaim_job.job and c.inputs @> array[i]);
  perform svc.end_edge('PRODUCED_BY', svc.pair_id(o, reclaim_job.job), clock_timestamp(), null) from unnest(before_writes) o
    where not exists (select from lineage_claim c where c.job_id = reclaim_job.job and c.outputs @> array[o]);
  perform svc.redraw_job(reclaim_job.job);
  perform svc.reclaim_columns(reclaim_job.job, reclaim_job.name, reclaim_job.namespace, array(
    select svc.pair_id(p ->> 0, p ->> 1) from jsonb_array_elements(before_pairs) p
    union
    select svc.pair_id(i, o) from lineage_claim c, unnest(c.inputs) i, unnest(c.outputs) o where c.job_id = reclaim_job.job));
end $$;

-- The job of a run has its claims found again.
create or replace function svc.reclaim_run(of_producer text, of_run uuid) returns void
language plpgsql set enable_seqscan = off as $$
begin
  perform svc.reclaim_job((j.properties::text::jsonb) ->> 'id', named.job_name, named.job_namespace)
    from (
      select i.job_name, i.job_namespace from lineage_inbox i
        where i.producer = of_producer and i.run_id = of_run and i.job_name is not null) named,
    lateral (select j.properties from "Job" j
      where ag_catalog.agtype_access_operator(variadic array[j.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(case when octet_length(named.job_namespace || chr(31) || named.job_name) <= 1024
          then named.job_namespace || chr(31) || named.job_name
          else 'sha256:' || encode(sha256(convert_to(named.job_namespace || chr(31) || named.job_name, 'UTF8')), 'hex') end)::text::ag_catalog.agtype) j;
end $$;

-- Takes back what `r` names: `source` and `target` (ids of datasets), or `dataset`, or `producer` and `run_id`; with
-- `subject`, `reason` and `by`. Returns null where lineage has no such thing, or it was taken back before.
create or replace function svc.retire_lineage(r jsonb) returns uuid
language plpgsql set enable_seqscan = off as $$
declare
  id uuid;
  dataset ag_catalog.graphid;
  key text := svc.pair_id(r ->> 'source', r ->> 'target');
begin
  if r ? 'dataset' then
    dataset := (svc.dataset_nodes(jsonb_build_array(jsonb_build_object('id', r -> 'dataset'))))[1];
    if dataset is null then return null; end if;
  elsif r ? 'run_id' then
    if not exists (select from lineage_inbox i where i.producer = r ->> 'producer' and i.run_id = (r ->> 'run_id')::uuid) then
      return null;
    end if;
  elsif not exists (select from "LINEAGE_OF" l
      where ag_catalog.agtype_access_operator(variadic array[l.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(key)::text::ag_catalog.agtype) then
    return null;
  end if;
  insert into lineage_retirement (subject, pair, dataset_id, producer, run_id, reason, retired_by)
    values (r -> 'subject', key, r ->> 'dataset', r ->> 'producer', (r ->> 'run_id')::uuid, r ->> 'reason', r ->> 'by')
    on conflict do nothing returning retirement_id into id;
  if id is null then return null; end if;
  if key is not null then perform svc.retire_edge(key, id); end if;
  if r ? 'run_id' then perform svc.reclaim_run(r ->> 'producer', (r ->> 'run_id')::uuid); end if;
  if dataset is not null then
    perform svc.retire_edge(l.properties::text::jsonb ->> 'id', id)
      from (select l.properties from "LINEAGE_OF" l where l.start_id = dataset
        union all select l.properties from "LINEAGE_OF" l where l.end_id = dataset) l;
    perform svc.end_edge('PRODUCED_BY', p.properties::text::jsonb ->> 'id', clock_timestamp(), id)
      from (select p.properties from "PRODUCED_BY" p where p.start_id = dataset) p;
    perform svc.end_edge('CONSUMED_BY', c.properties::text::jsonb ->> 'id', clock_timestamp(), id)
      from (select c.properties from "CONSUMED_BY" c where c.start_id = dataset) c;
  end if;
  return id;
end $$;

-- Ends a retirement: what runs still say is drawn again, as far as it closes no cycle. Returns what it was of, or null.
create or replace function svc.restore_lineage(id uuid) returns jsonb
language plpgsql set enable_seqscan = off as $$
declare
  was record;
  past record;
begin
  delete from lineage_retirement t where t.retirement_id = restore_lineage.id returning t.* into was;
  if was.retirement_id is null then return null; end if;
  if was.run_id is not null then
    perform svc.reclaim_run(was.producer, was.run_id);
    return was.subject;
  end if;
  -- Edges of runs without a job, of which no claim is kept.
  for past in select * from lineage_past p where p.retirement_id = restore_lineage.id and p.label = 'LINEAGE_OF'
      and p.properties::text::jsonb ->> 'job_id' is null loop
    continue when (select s.path from svc.find_lineage_path(array[past.end_id], array[past.start_id], 5, 9007199254740991) s) is not null;
    insert into "LINEAGE_OF" (start_id, end_id, properties) values (past.start_id, past.end_id, past.properties)
      on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
  end loop;
  perform svc.redraw_job(j.job_id) from (
    select distinct c.job_id from lineage_claim c
    where was.dataset_id = any (c.inputs || c.outputs)
      or was.pair is not null and exists (select from unnest(c.inputs) i, unnest(c.outputs) o where svc.pair_id(i, o) = was.pair)) j;
  return was.subject;
end $$;

-- Places of pairs that somebody took back, each (input i, output o) at (i - 1) * width + o.
create or replace function svc.retired_places(places int[], pairs text[], e jsonb, width int) returns int[]
language plpgsql set enable_seqscan = off as $$
begin
  return array(select place from unnest(places) place where exists (select from lineage_retirement t
    where t.pair = pairs[place] or t.dataset_id in (e -> 'inputs' -> ((place - 1) / width) ->> 'id',
      e -> 'outputs' -> ((place - 1) % width) ->> 'id')));
end $$;

revoke all on function svc.retire_edge, svc.redraw_job, svc.said_columns, svc.reclaim_columns, svc.reclaim_job, svc.reclaim_run, svc.retire_lineage, svc.restore_lineage,
  svc.retired_places from public;
grant execute on function svc.retire_edge, svc.redraw_job, svc.said_columns, svc.reclaim_columns, svc.reclaim_job, svc.reclaim_run, svc.retire_lineage,
  svc.restore_lineage, svc.retired_places to svc_tenant;
