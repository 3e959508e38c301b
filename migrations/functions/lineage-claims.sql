-- What jobs say that they read and write, and the edges that end because they say otherwise (docs/adr/0033). All of it
-- follows from the times of runs, not from the order in which their events come. Works with the caller's rights and
-- search_path, inside of svc.receive_lineage.

-- The time of a claim.
create or replace function svc.said_time(said numeric) returns timestamptz
language sql immutable parallel safe
return to_timestamp((said / 1000)::float8);

-- What jobs say, after what they said before. Of each claim: `job` (an id), `inputs` and `outputs` (ids), `said`,
-- `completes`, `producer`, `run_id`, `state`. Draws CONSUMED_BY, and ends the edges that no job says any more.
create or replace function svc.claim_lineage(claims jsonb) returns void
language plpgsql set enable_seqscan = off as $$
declare
  ending text[];
  ended record;
  gone jsonb;
begin
  if claims = '[]' then return; end if;
  with given as (
    select item ->> 'job' as job_id, own.inputs, own.outputs,
      md5(array_to_string(own.inputs, chr(30)) || chr(29) || array_to_string(own.outputs, chr(30))) as shape,
      (item ->> 'said')::numeric as said, (item ->> 'completes')::boolean as completes,
      item ->> 'producer' as producer, (item ->> 'run_id')::uuid as run_id, item ->> 'state' as state, place
    from jsonb_array_elements(claims) with ordinality list (item, place), lateral (
      select array(select i from jsonb_array_elements_text(item -> 'inputs') i order by i collate "C") as inputs,
        array(select o from jsonb_array_elements_text(item -> 'outputs') o order by o collate "C") as outputs) own)
  insert into lineage_claim as c (job_id, shape, inputs, outputs, said, complete, producer, run_id, state)
    select distinct on (job_id, shape) job_id, shape, inputs, outputs, said,
      max(said) filter (where completes) over (partition by job_id, shape), producer, run_id, state
    from given order by job_id, shape, said desc, place desc
    on conflict (job_id, shape) do update set
      said = greatest(c.said, excluded.said), complete = greatest(c.complete, excluded.complete),
      (producer, run_id, state) = (
        select n.producer, n.run_id, n.state
        from (values (excluded.producer, excluded.run_id, excluded.state), (c.producer, c.run_id, c.state)) n (producer, run_id, state)
        where (n.producer, n.run_id) = case
          when (excluded.said, excluded.producer, excluded.run_id) >= (c.said, c.producer, c.run_id)
            then (excluded.producer, excluded.run_id) else (c.producer, c.run_id) end
        limit 1);
  insert into "CONSUMED_BY" (start_id, end_id, properties)
    select (select d.id from "Dataset" d
        where ag_catalog.agtype_access_operator(variadic array[d.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(dataset)::text::ag_catalog.agtype),
      (select j.id from "Job" j
        where ag_catalog.agtype_access_operator(variadic array[j.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(job)::text::ag_catalog.agtype),
      jsonb_build_object('id', key, 'tenant_id', svc.current_tenant(), 'since_ms', since_ms)::text::ag_catalog.agtype
    from (
      select dataset, job, key, since_ms, (select p.id from "CONSUMED_BY" p
        where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(key)::text::ag_catalog.agtype) as edge
      from (
        select distinct on (key) dataset, item ->> 'job' as job, key, (item ->> 'said')::numeric as since_ms
        from jsonb_array_elements(claims) item, jsonb_array_elements_text(item -> 'inputs') dataset,
          svc.pair_id(dataset, item ->> 'job') key) wanted) list
    where edge is null and not exists (select from lineage_retirement t where t.dataset_id = dataset)
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;

  -- Whatever ends was said before a run of the job completed. Of most jobs, nothing was: they say one thing only.
  ending := array(
    select j.job_id from (select distinct item ->> 'job' as job_id from jsonb_array_elements(claims) item) j
    where (select min(c.said) < max(c.complete) from lineage_claim c where c.job_id = j.job_id));
  if ending = '{}' then return; end if;
  for ended in
    with touched as materialized (
      select distinct item ->> 'job' as job_id, o as output
      from jsonb_array_elements(claims) item, jsonb_array_elements_text(item -> 'outputs') o),
    held as materialized (
      select c.* from unnest(ending) j (job_id), lateral (select * from lineage_claim c where c.job_id = j.job_id offset 0) c),
    bounds as (
      select job_id, o as output, max(complete) as complete from held, unnest(outputs) o group by job_id, o),
    said as (
      select h.job_id, i as input, o as output, max(h.said) as said
      from held h, unnest(h.outputs) o join touched t on t.output = o, unnest(h.inputs) i
      where t.job_id = h.job_id group by h.job_id, i, o)
    select s.job_id, s.input, s.output, b.complete from said s join bounds b using (job_id, output)
      where s.said < b.complete
  loop
    perform svc.end_support(svc.pair_id(ended.input, ended.output), ended.job_id, svc.said_time(ended.complete));
  end loop;

  with held as materialized (
    select c.* from unnest(ending) j (job_id), lateral (select * from lineage_claim c where c.job_id = j.job_id offset 0) c),
  bounds as materialized (
    select job_id, o as output, max(complete) as complete from held, unnest(outputs) o group by job_id, o),
  reads as materialized (
    select job_id, max(complete) as complete from held where inputs <> '{}' group by job_id),
  removed as (
    delete from lineage_claim c using held h
      where c.job_id = h.job_id and c.shape = h.shape
        and (h.inputs = '{}' or h.said < (select r.complete from reads r where r.job_id = h.job_id))
        and not exists (select from unnest(h.outputs) o where not coalesce(h.said <
          (select b.complete from bounds b where b.job_id = h.job_id and b.output = o), false))
      returning c.job_id, c.shape, c.inputs)
  select jsonb_agg(jsonb_build_object('job', r.job_id, 'input', r.input,
      'until', svc.said_time((select complete from reads where reads.job_id = r.job_id)))) into gone
    from (select distinct removed.job_id, i as input from removed, unnest(inputs) i) r
    where not exists (select from held h
      where h.job_id = r.job_id and h.inputs @> array[r.input]
        and not exists (select from removed x where x.job_id = h.job_id and x.shape = h.shape));
  if gone is null then return; end if;
  perform svc.end_edge('CONSUMED_BY', svc.pair_id(item ->> 'input', item ->> 'job'), (item ->> 'until')::timestamptz, null)
    from jsonb_array_elements(gone) item;
end $$;

-- Moves an edge to the past. `label` is one of those that svc.lineage_past names.
create or replace function svc.end_edge(label text, key text, ends_at timestamptz, retirement uuid) returns void
language plpgsql set enable_seqscan = off as $$
begin
  execute format($edge$
    with ended as (
      delete from %1$I l
        where ag_catalog.agtype_access_operator(variadic array[l.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb($1)::text::ag_catalog.agtype
        returning l.id, l.start_id, l.end_id, l.properties)
    insert into lineage_past (label, id, start_id, end_id, properties, since, until, retirement_id)
      select %1$L, id, start_id, end_id, properties,
        to_timestamp((ag_catalog.agtype_access_operator(variadic array[properties, '"since_ms"'::ag_catalog.agtype])::text::numeric / 1000)::float8), $2, $3
      from ended$edge$, label) using key, ends_at, retirement;
end $$;

-- Keeps what a job said of the columns of an edge that it does not draw: of its runs, the latest counts.
create or replace function svc.shelve_columns(pair text, job text, said jsonb) returns void
language plpgsql as $$
begin
  insert into lineage_shelf as s (pair, job_id, said) values (shelve_columns.pair, shelve_columns.job, shelve_columns.said)
    on conflict on constraint lineage_shelf_pkey do update set said = excluded.said
    where ((excluded.said ->> 'as_of_ms')::numeric, excluded.said ->> 'run') >= ((s.said ->> 'as_of_ms')::numeric, s.said ->> 'run');
end $$;

-- A job draws an edge no longer. Without another one that does, the edge ends. What the job said of columns is kept apart.
create or replace function svc.end_support(pair text, job text, ends_at timestamptz) returns void
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_variable
declare
  edge ag_catalog.graphid;
  held jsonb;
  other text;
  said jsonb;
begin
  select l.id, l.properties::text::jsonb into edge, held from "LINEAGE_OF" l
    where ag_catalog.agtype_access_operator(variadic array[l.properties, '"id"'::ag_catalog.agtype])
      = to_jsonb(pair)::text::ag_catalog.agtype;
  if edge is null then return; end if;
  if held ->> 'job_id' = job then
    delete from lineage_support s where s.pair = pair and s.job_id = (
      select min(o.job_id) from lineage_support o where o.pair = pair) returning s.job_id into other;
  else
    delete from lineage_support s where s.pair = pair and s.job_id = job;
    if not found then return; end if;
    other := held ->> 'job_id';
  end if;
  said := svc.columns_of_job(held, job);
  if said is not null then
    perform svc.shelve_columns(pair, job, said);
    held := svc.without_columns(held, job);
  end if;
  update "LINEAGE_OF" l set properties = (case
      when other is null then held
      when other = '' then held - 'job_id'
      else held || jsonb_build_object('job_id', other) end)::text::ag_catalog.agtype
    where l.id = edge;
  if other is null then perform svc.end_edge('LINEAGE_OF', pair, ends_at, null); end if;
end $$;

-- What one job said of an edge's columns, or null.
create or replace function svc.columns_of_job(held jsonb, job text) returns jsonb
language sql immutable
return case
  when held ? 'columns_by_job' then held -> 'columns_by_job' -> job
  when held ->> 'columns_job_id' = job and held ? 'columns_run' then jsonb_build_object('columns', held -> 'columns',
    'run', held ->> 'columns_run', 'as_of_ms', held -> 'columns_as_of_ms') end;

-- An edge's properties without what one job said of columns.
create or replace function svc.without_columns(held jsonb, job text) returns jsonb
language plpgsql immutable as $$
declare
  left_over jsonb := (held -> 'columns_by_job') - job;
  rest jsonb := held - 'columns_by_job' - 'columns' - 'columns_as_of_ms' - 'columns_job_id' - 'columns_run';
begin
  if left_over is null or left_over = '{}' then return rest; end if;
  return rest || jsonb_build_object('columns_by_job', left_over, 'columns', svc.columns_of_jobs(left_over));
end $$;

revoke all on function svc.said_time, svc.claim_lineage, svc.end_edge, svc.shelve_columns, svc.end_support, svc.columns_of_job,
  svc.without_columns from public;
grant execute on function svc.said_time, svc.claim_lineage, svc.end_edge, svc.shelve_columns, svc.end_support, svc.columns_of_job,
  svc.without_columns to svc_tenant;
