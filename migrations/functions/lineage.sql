-- Receiving lineage events: inbox rows and edges of a batch of events in one call, which runs SERIALIZABLE. Works
-- with the caller's rights and search_path.
--
-- Look-ups are correlated subqueries, one index probe each, and sequential scans are off. The embedded database never
-- gathers statistics, and a plan made for an empty graph must not be kept for a large one.
-- Index probes need no plan of their own for each array of ids, and planning costs more than they do. Thus plans are
-- generic, except in searches, where how many edges may be read decides.

-- The nodes of these datasets, in their order; null where there is none.
create or replace function svc.dataset_nodes(datasets jsonb) returns ag_catalog.graphid[]
language plpgsql set enable_seqscan = off as $$
begin
  return array(
    select (select d.id from "Dataset" d
      where ag_catalog.agtype_access_operator(variadic array[d.properties, '"id"'::ag_catalog.agtype])
        = (item -> 'id')::text::ag_catalog.agtype)
    from jsonb_array_elements(datasets) with ordinality list (item, place) order by place);
end $$;

-- The id of an edge between two nodes whose ids may be long; null where one is. As `strict` or `immutable`, which
-- convert_to is not, it would be called rather than inlined.
create or replace function svc.pair_id(a text, b text) returns text
language sql stable
return encode(sha256(convert_to(a || chr(31) || b, 'UTF8')), 'hex');

-- Creates the nodes of datasets and jobs that do not exist yet.
create or replace function svc.ensure_lineage_nodes(datasets jsonb, jobs jsonb) returns void
language plpgsql set enable_seqscan = off as $$
begin
  insert into "Dataset" (properties)
    select (item - 'names' || jsonb_build_object('tenant_id', svc.current_tenant()))::text::ag_catalog.agtype
    from (
      select item, (select d.id from "Dataset" d
        where ag_catalog.agtype_access_operator(variadic array[d.properties, '"id"'::ag_catalog.agtype])
          = (item -> 'id')::text::ag_catalog.agtype) as node
      from jsonb_array_elements(datasets) item) list
    where node is null
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
  insert into "Job" (properties)
    select (item || jsonb_build_object('tenant_id', svc.current_tenant()))::text::ag_catalog.agtype
    from (
      select item, (select j.id from "Job" j
        where ag_catalog.agtype_access_operator(variadic array[j.properties, '"id"'::ag_catalog.agtype])
          = (item -> 'id')::text::ag_catalog.agtype) as node
      from jsonb_array_elements(jobs) item where item <> 'null') list
    where node is null
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
end $$;

-- The columns of which several jobs speak, each once.
create or replace function svc.columns_of_jobs(by_job jsonb) returns jsonb
language sql immutable
return (
  select coalesce(jsonb_agg(item order by said, place), '[]') from (
    select distinct on (item) item, said, place
    from jsonb_each(by_job) jobs (said, value), jsonb_array_elements(value -> 'columns') with ordinality c (item, place)
    order by item, said, place) one);

-- Adds what a run says of the columns of an edge to what other jobs said. Of one job the run counts whose event is the
-- latest; a time after its receipt counts as the receipt. `columns` of an edge holds what all jobs said, and where there
-- are several, `columns_by_job` what each said.
create or replace function svc.with_columns(held jsonb, job text, run text, given jsonb) returns jsonb
language plpgsql immutable as $$
declare
  by_job jsonb := held -> 'columns_by_job';
  -- An edge of an earlier version does not name the run, and its time may be that of a clock that is ahead.
  own jsonb := case
    when by_job is not null then by_job -> job
    when held ->> 'columns_job_id' = job then jsonb_build_object('columns', held -> 'columns',
      'run', coalesce(held ->> 'columns_run', ''), 'as_of_ms', case when held ? 'columns_run' then held -> 'columns_as_of_ms' else '0' end)
    end;
begin
  if own is not null and own ->> 'run' <> run
    and ((given ->> 'as_of_ms')::numeric, run) < ((own ->> 'as_of_ms')::numeric, own ->> 'run') then
    return held;
  end if;
  if by_job is null and (own is not null or not held ? 'columns') then
    return held || jsonb_build_object('columns', given -> 'columns', 'columns_as_of_ms', given -> 'as_of_ms',
      'columns_job_id', job, 'columns_run', run);
  end if;
  by_job := coalesce(by_job, jsonb_build_object(coalesce(held ->> 'columns_job_id', ''), jsonb_build_object(
      'columns', held -> 'columns', 'run', coalesce(held ->> 'columns_run', ''),
      'as_of_ms', case when held ? 'columns_run' then held -> 'columns_as_of_ms' else '0' end)))
    || jsonb_build_object(job, given || jsonb_build_object('run', run));
  return held - 'columns_as_of_ms' - 'columns_job_id' - 'columns_run'
    || jsonb_build_object('columns_by_job', by_job, 'columns', svc.columns_of_jobs(by_job));
end $$;

-- The column lineage that an event and the others of its run give, by pair: `columns`, each once, and `as_of_ms` of the
-- latest event.
create or replace function svc.columns_by_pair(columns jsonb) returns jsonb
language sql immutable
return (
  select coalesce(jsonb_object_agg(pair, jsonb_build_object('as_of_ms', as_of, 'columns', columns)), '{}') from (
    select pair, max(as_of) as as_of, jsonb_agg(item order by place) as columns from (
      select pair, item, max(as_of) as as_of, min(place) as place from (
        select svc.pair_id(one ->> 'input', one ->> 'output') as pair, (one ->> 'as_of_ms')::numeric as as_of, item, place
        from jsonb_array_elements(columns) one, jsonb_array_elements(one -> 'columns') with ordinality c (item, place)) said
      group by pair, item) distinct_items
    group by pair) pairs);

-- The columns of an event and the others of its run, of which each names an input of the run: by another of its names, too.
create or replace function svc.with_inputs(e jsonb) returns jsonb
language sql immutable
return case when coalesce(e -> 'aliases', '{}') = '{}' then e -> 'columns' else (
  select jsonb_agg(case
      when e -> 'inputs' @> jsonb_build_array(jsonb_build_object('id', one -> 'input')) or not e -> 'aliases' ? (one ->> 'input')
        then one
      else one || jsonb_build_object('input', e -> 'aliases' -> (one ->> 'input')) end order by place)
    from jsonb_array_elements(e -> 'columns') with ordinality list (one, place)) end;

-- The event with what the other events of its run said, as far as they were merged: their datasets after its own, when
-- the run last said something, whether it completed, and its state.
create or replace function svc.sum_of_run(e jsonb) returns jsonb
language plpgsql set enable_seqscan = off as $$
declare
  reads jsonb;
  writes jsonb;
  columns jsonb;
  aliases jsonb;
  last jsonb;
begin
  with run as (
    select i.inputs, i.outputs, i.columns, i.aliases, least(i.event_time, i.received_at) as at, i.received_at, i.event_type
      from lineage_inbox i
      where i.producer = e ->> 'producer' and i.run_id = (e ->> 'run_id')::uuid and i.state <> 'pending'
    union all
    select l.inputs, l.outputs, l.columns, l.aliases, least(l.event_time, l.received_at), l.received_at, l.event_type
      from lineage_event l
      where l.producer = e ->> 'producer' and l.run_id = (e ->> 'run_id')::uuid and l.kind = 'run' and l.state <> 'pending'),
  moments as (
    select event_type, round(extract(epoch from at) * 1000) as said, received_at from run
    union all select e ->> 'event_type', (e ->> 'at_ms')::numeric, to_timestamp((e ->> 'received_at_ms')::numeric / 1000))
  select
    (select jsonb_agg(jsonb_build_object('id', id)) from (select distinct unnest(inputs) as id from run) r
      where not e -> 'inputs' @> jsonb_build_array(jsonb_build_object('id', id))),
    (select jsonb_agg(jsonb_build_object('id', id)) from (select distinct unnest(outputs) as id from run) w
      where not e -> 'outputs' @> jsonb_build_array(jsonb_build_object('id', id))),
    -- A stream says the same again and again.
    (select jsonb_agg(item || jsonb_build_object('as_of_ms', round(extract(epoch from said.at) * 1000)))
      from (select r.columns, max(r.at) as at from run r where r.columns is not null group by r.columns) said,
        jsonb_array_elements(said.columns) item),
    (select jsonb_object_agg(one.key, one.value order by one.value::text desc) from run r, jsonb_each(r.aliases) one),
    (select jsonb_build_object('said_ms', max(m.said), 'completes', bool_or(m.event_type = 'COMPLETE'),
      'state', (array_agg(m.event_type order by m.event_type in ('COMPLETE', 'ABORT', 'FAIL') desc, m.said desc, m.received_at desc))[1])
      from moments m)
    into reads, writes, columns, aliases, last;
  -- The sources that only other events of the run name. Two transactions that wait for each other here try again.
  perform pg_advisory_xact_lock(hashtext('lineage ' || svc.current_tenant()), bucket)
    from (select distinct hashtext(r ->> 'id') & 1023 as bucket from jsonb_array_elements(reads) r order by 1) locks;
  return e || last || jsonb_build_object('inputs', (e -> 'inputs') || coalesce(reads, '[]'),
    'outputs', (e -> 'outputs') || coalesce(writes, '[]'), 'columns', (e -> 'columns') || coalesce(columns, '[]'),
    'aliases', coalesce(aliases, '{}') || coalesce(e -> 'aliases', '{}'));
end $$;

-- Draws these pairs as edges, each (input i, output o) at (i - 1) * width + o. `columns` are by pair.
create or replace function svc.draw_lineage(e jsonb, columns jsonb, places int[], pairs text[],
  sources ag_catalog.graphid[], targets ag_catalog.graphid[]) returns void
language plpgsql set enable_seqscan = off as $$
declare
  width int := cardinality(targets);
  own text := coalesce(e -> 'job' ->> 'id', '');
  -- What the job said before it drew an edge no longer.
  shelf jsonb := (select jsonb_object_agg(s.pair, s.said) from lineage_shelf s
    where s.pair = any (array(select pairs[place] from unnest(places) place)) and s.job_id = own);
begin
  insert into "LINEAGE_OF" (start_id, end_id, properties)
    select sources[(place - 1) / width + 1], targets[(place - 1) % width + 1],
      (jsonb_build_object('id', pairs[place], 'tenant_id', svc.current_tenant(), 'producer', e -> 'producer',
          'run_id', e -> 'run_id', 'job_id', e -> 'job' -> 'id', 'since_ms', e -> 'at_ms')
        || case when shelf ? pairs[place] then svc.with_said(given.held, own, shelf -> pairs[place]) else given.held end)::text::ag_catalog.agtype
    from unnest(places) place,
      lateral (select case when columns ? pairs[place] then svc.with_columns('{}', own, e ->> 'run', columns -> pairs[place])
        else '{}' end as held) given
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
end $$;

-- Columns of an edge with what a job said of them earlier; null for nothing.
create or replace function svc.with_said(held jsonb, job text, said jsonb) returns jsonb
language sql immutable
return case when said is null then held else svc.with_columns(held, job, said ->> 'run', said - 'run') end;

-- Notes that a job draws edges that another one drew first, with what it said of their columns before.
create or replace function svc.support_lineage(edges ag_catalog.graphid[], pairs text[], job text) returns void
language plpgsql set enable_seqscan = off as $$
declare
  taken record;
begin
  insert into lineage_support (pair, job_id) select unnest(pairs), job on conflict do nothing;
  for taken in
    select list.edge, s.said from unnest(edges, pairs) list (edge, pair),
      lateral (select s.said from lineage_shelf s where s.pair = list.pair and s.job_id = support_lineage.job offset 0) s
  loop
    update "LINEAGE_OF" l
      set properties = svc.with_said(l.properties::text::jsonb, job, taken.said)::text::ag_catalog.agtype where l.id = taken.edge;
  end loop;
  delete from lineage_shelf s using unnest(pairs) given (pair) where s.pair = given.pair and s.job_id = support_lineage.job;
end $$;

-- The names of these datasets, in their order.
create or replace function svc.dataset_names(nodes ag_catalog.graphid[]) returns jsonb
language plpgsql set enable_seqscan = off as $$
begin
  return (
    select jsonb_agg((
      select jsonb_build_object('namespace', p -> 'namespace', 'name', p -> 'name')
      from "Dataset" d, lateral (select d.properties::text::jsonb as p) parsed where d.id = node) order by place)
    from unnest(nodes) with ordinality list (node, place));
end $$;

-- Merges the edges of one event and its run between datasets, whose nodes exist and whose tables are known: the pairs
-- of which the event itself names a dataset. `own_inputs` and `own_outputs` say how many are its own. An edge that would close a
-- cycle is not drawn; the others are. A pair of names of one table was written in place, which is no edge. Returns
-- null, or some of: `refusal`, what was not drawn: the number of pairs, and the first 100 with the datasets of the
-- cycle, from the output to the input; `in_place`, the outputs that are also inputs; `heavy`, that the search read more
-- than `edges_left` edges and was given up, with edges still to draw.
create or replace function svc.merge_lineage(e jsonb, own_inputs int, own_outputs int, edges_left bigint) returns jsonb
language plpgsql set enable_seqscan = off as $$
declare
  inputs jsonb := e -> 'inputs';
  outputs jsonb := e -> 'outputs';
  columns jsonb := '{}';
  width int := jsonb_array_length(outputs);
  height int := jsonb_array_length(inputs);
  sources ag_catalog.graphid[];
  targets ag_catalog.graphid[];
  -- The tables of which sources and targets are names; null for a dataset with one name.
  source_keys text[];
  target_keys text[];
  -- The pair (input i, output o) is at (i - 1) * width + o; null for a pair of other events of the run.
  pairs text[];
  edges ag_catalog.graphid[];
  -- Places of edges that another job drew first.
  others int[];
  -- Places of the pairs to draw, all and to one output, and what of them closes a cycle.
  missing int[];
  retired int[];
  any_retired boolean;
  wanted int[];
  closing int[];
  path ag_catalog.graphid[];
  hit text;
  in_place jsonb;
  refused jsonb := '[]';
  refusals int := 0;
begin
  if width = 0 or height = 0 then return null; end if;
  if width * height > 10000 then
    return jsonb_build_object('refusal', jsonb_build_object('reason', format(
      'A run makes at most 10000 edges; this one has %s inputs and %s outputs.', height, width)));
  end if;
  if e -> 'columns' <> '[]' then columns := svc.columns_by_pair(svc.with_inputs(e)); end if;
  pairs := array(
    select case when m <= own_inputs or n <= own_outputs then svc.pair_id(i ->> 'id', o ->> 'id') end
    from jsonb_array_elements(inputs) with ordinality a (i, m), jsonb_array_elements(outputs) with ordinality b (o, n)
    order by m, n);
  select array_agg(l.id order by place), array_agg(place::int) filter (where l.is_other) into edges, others
    from unnest(pairs) with ordinality list (pair, place)
    left join lateral (
      select l.id, ag_catalog.agtype_access_operator(variadic array[l.properties, '"job_id"'::ag_catalog.agtype])
          <> to_jsonb(coalesce(e -> 'job' ->> 'id', ''))::text::ag_catalog.agtype as is_other
      from "LINEAGE_OF" l
      where ag_catalog.agtype_access_operator(variadic array[l.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(list.pair)::text::ag_catalog.agtype offset 0) l on true;
  if others is not null then
    perform svc.support_lineage(array(select edges[place] from unnest(others) place),
      array(select pairs[place] from unnest(others) place), coalesce(e -> 'job' ->> 'id', ''));
  end if;

  if array_position(edges, null) is not null and (array_position(pairs, null) is null
      or exists (select from unnest(edges, pairs) list (edge, pair) where edge is null and pair is not null)) then
    sources := svc.dataset_nodes(inputs);
    targets := svc.dataset_nodes(outputs);
    source_keys := array(select (select n.table_key from lineage_name n where n.node = list.node)
      from unnest(sources || targets) with ordinality list (node, place) order by place);
    target_keys := source_keys[height + 1 :];
    source_keys := source_keys[: height];
    if sources && targets or source_keys && target_keys then
      in_place := (
        select jsonb_agg(outputs -> (o - 1) -> 'id') from generate_series(1, width) o
        where targets[o] = any (sources) or target_keys[o] = any (source_keys));
    end if;
    select coalesce(array_agg(place), '{}'), exists (select from lineage_retirement) into missing, any_retired
      from generate_subscripts(pairs, 1) place,
        lateral (select (place - 1) / width + 1 as i, (place - 1) % width + 1 as o) pair
       where edges[place] is null and pairs[place] is not null and sources[i] <> targets[o] and (source_keys[i] = target_keys[o]) is not true;
    if cardinality(missing) > 0 and any_retired then
      retired := svc.retired_places(missing, pairs, e, width);
      missing := array(select unnest(missing) except select unnest(retired) order by 1);
      -- For when they are restored.
      perform svc.shelve_columns(pairs[place], coalesce(e -> 'job' ->> 'id', ''),
        columns -> pairs[place] || jsonb_build_object('run', e -> 'run')) from unnest(retired) place where columns ? pairs[place];
    end if;

    -- Every output becomes reachable from every input, so any path from an output to an input closes a cycle. The
    -- edges that exist already suffice to find one.
    if cardinality(missing) > 0 and in_place is null then
      select s.edges_left, s.path into edges_left, path from svc.find_lineage_path(targets, sources, 5, edges_left) s;
      if edges_left < 0 then return '{"heavy": true}'; end if;
      if path is null then
        perform svc.draw_lineage(e, columns, missing, pairs, sources, targets);
        missing := '{}';
      end if;
    end if;

    -- Output by output, so that an edge of this event counts for the next output.
    for o in 1 .. case when cardinality(missing) > 0 then width else 0 end loop
      wanted := array(select place from unnest(missing) place where (place - 1) % width + 1 = o);
      while cardinality(wanted) > 0 loop
        if refusals < 100 then
          select s.edges_left, s.path into edges_left, path from svc.find_lineage_path(array[targets[o]],
            array(select sources[(place - 1) / width + 1] from unnest(wanted) place), 5, edges_left) s;
          if edges_left < 0 then return '{"heavy": true}'; end if;
          exit when path is null;
          hit := (select n.table_key from lineage_name n where n.node = path[cardinality(path)]);
          closing := array(select place from unnest(wanted) place
            where sources[(place - 1) / width + 1] = path[cardinality(path)] or source_keys[(place - 1) / width + 1] = hit);
          path[1] := targets[o];
          path[cardinality(path)] := sources[(closing[1] - 1) / width + 1];
        else
          select s.edges_left, s.reached into edges_left, path from svc.lineage_reached(targets[o],
            array(select sources[(place - 1) / width + 1] from unnest(wanted) place), 5, edges_left) s;
          if edges_left < 0 then return '{"heavy": true}'; end if;
          closing := array(select place from unnest(wanted) place where sources[(place - 1) / width + 1] = any (path));
          exit when cardinality(closing) = 0;
        end if;
        if refusals < 100 then
          refused := refused || (
            select jsonb_agg(jsonb_build_object(
              'from', svc.dataset_names(array[sources[(place - 1) / width + 1]]) -> 0,
              'to', svc.dataset_names(array[targets[o]]) -> 0, 'cycle', svc.dataset_names(path)))
            from unnest(closing) place);
        end if;
        refusals := refusals + cardinality(closing);
        wanted := array(select unnest(wanted) except select unnest(closing));
      end loop;
      if cardinality(wanted) > 0 then
        perform svc.draw_lineage(e, columns, wanted, pairs, sources, targets);
      end if;
    end loop;
  end if;

  if columns <> '{}' then
    for place in 1 .. cardinality(pairs) loop
      continue when edges[place] is null or not columns ? pairs[place];
      update "LINEAGE_OF" l
        set properties = svc.with_columns(l.properties::text::jsonb, coalesce(e -> 'job' ->> 'id', ''), e ->> 'run',
          columns -> pairs[place])::text::ag_catalog.agtype
        where l.id = edges[place];
    end loop;
  end if;
  if refusals = 0 and in_place is null then return null; end if;
  return jsonb_strip_nulls(jsonb_build_object('in_place', in_place))
    || case when refusals = 0 then '{}' else jsonb_build_object('refusal', jsonb_build_object(
      'count', refusals, 'refused', refused, 'cycle', refused -> 0 -> 'cycle')) end;
end $$;

-- Draws PRODUCED_BY from every output of these events to its job, and PARENT_OF from the job of a parent run to the
-- event's; the nodes exist. The edge of an output that `in_place` names says that the job writes it in place.
create or replace function svc.link_jobs(events jsonb) returns void
language plpgsql set enable_seqscan = off as $$
begin
  insert into "PRODUCED_BY" (start_id, end_id, properties)
    select (select d.id from "Dataset" d
        where ag_catalog.agtype_access_operator(variadic array[d.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(dataset)::text::ag_catalog.agtype),
      (select j.id from "Job" j
        where ag_catalog.agtype_access_operator(variadic array[j.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(job)::text::ag_catalog.agtype),
      jsonb_build_object('id', key, 'tenant_id', svc.current_tenant())::text::ag_catalog.agtype
    from (
      select dataset, job, key, (select p.id from "PRODUCED_BY" p
        where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(key)::text::ag_catalog.agtype) as edge
      from (
        select distinct on (key) o ->> 'id' as dataset, e -> 'job' ->> 'id' as job, key
        from jsonb_array_elements(events) e, jsonb_array_elements(e -> 'outputs') o,
          svc.pair_id(o ->> 'id', e -> 'job' ->> 'id') key
        where key is not null) wanted) list
    where edge is null and not exists (select from lineage_retirement t where t.dataset_id = dataset)
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
  if jsonb_path_exists(events, '$[*].in_place') then
    update "PRODUCED_BY" p
      set properties = p.properties operator(ag_catalog.||) '{"in_place": true}'::ag_catalog.agtype
      from (
        select distinct svc.pair_id(output, e -> 'job' ->> 'id') as key
        from jsonb_array_elements(events) e, jsonb_array_elements_text(e -> 'in_place') output) own
      where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb(own.key)::text::ag_catalog.agtype
        and p.properties::text::jsonb ->> 'in_place' is null;
  end if;
  if jsonb_path_exists(events, '$[*].parent.**.job') then
    insert into "PARENT_OF" (start_id, end_id, properties)
      select (select j.id from "Job" j
          where ag_catalog.agtype_access_operator(variadic array[j.properties, '"id"'::ag_catalog.agtype])
            = to_jsonb(parent)::text::ag_catalog.agtype),
        (select j.id from "Job" j
          where ag_catalog.agtype_access_operator(variadic array[j.properties, '"id"'::ag_catalog.agtype])
            = to_jsonb(job)::text::ag_catalog.agtype),
        jsonb_build_object('id', 'job ' || key, 'tenant_id', svc.current_tenant())::text::ag_catalog.agtype
      from (
        select distinct on (key) above as parent, below as job, key
        from jsonb_array_elements(events) e,
          lateral (
            values (e -> 'parent' -> 'root' -> 'job' ->> 'id', e -> 'parent' -> 'job' ->> 'id'),
              (e -> 'parent' -> 'job' ->> 'id', e -> 'job' ->> 'id'),
              -- A root above a parent without a name.
              (case when not e -> 'parent' ? 'job' then e -> 'parent' -> 'root' -> 'job' ->> 'id' end, e -> 'job' ->> 'id')) pair (above, below),
          svc.pair_id(above, below) key
        where key is not null and above <> below) wanted
      where not exists (select from "PARENT_OF" p
        where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype])
          = to_jsonb('job ' || key)::text::ag_catalog.agtype)
      on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
  end if;
end $$;

-- Stores a batch of events and, where `merging`, merges their edges. A stored event that is merged already is
-- `repeated` and changes nothing; a stored event that is not merged yet is merged now. `bodies` holds the raw bodies
-- end to end; each event names its offset and length. After `batch_ms` no further event is begun: the rest is `later`,
-- and nothing of it is stored. An event whose cycle check reads more than `edges_max` edges is `heavy`: stored, and
-- to be merged in a batch of its own.
create or replace function svc.receive_lineage(events jsonb, bodies bytea, merging boolean, batch_ms float8,
  edges_max bigint)
returns table (place int, outcome text, refusal jsonb)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  tenant uuid := svc.current_tenant();
  e jsonb;
  sha bytea;
  run uuid;
  seq bigint;
  stored text;
  stored_sha bytea;
  beside boolean;
  why jsonb;
  made jsonb;
  result text;
  -- Arrays, because appending to a jsonb copies it.
  merged jsonb[] := '{}';
  -- The event with what the other events of its run said, and what the events say of their jobs.
  whole jsonb;
  claims jsonb[] := '{}';
  retired boolean;
  began timestamptz := clock_timestamp();
begin
  if tenant is null then raise exception 'no tenant' using errcode = 'insufficient_privilege'; end if;
  if merging then
    -- One lock per source dataset, taken in one order for the whole batch. Names share 1,024 locks, so that an event
    -- with very many inputs does not exhaust the server's lock table.
    perform pg_advisory_xact_lock(hashtext('lineage ' || tenant), bucket) from (
      select distinct hashtext(i ->> 'id') & 1023 as bucket
      from jsonb_array_elements(events) item, jsonb_array_elements(item -> 'inputs') i order by 1) locks;
    -- Once for the batch, because each statement that writes a label table has a cost of its own. The datasets of a
    -- refused event get their nodes too.
    perform svc.ensure_lineage_nodes(
      (select coalesce(jsonb_agg(item), '[]') from (
        select distinct on (item ->> 'id') item from jsonb_array_elements(events) event,
          jsonb_array_elements((event -> 'inputs') || (event -> 'outputs')) item order by item ->> 'id') datasets),
      (select coalesce(jsonb_agg(item), '[]') from (
        select distinct item from jsonb_array_elements(events) event,
          unnest(array[event -> 'job', event -> 'parent' -> 'job', event -> 'parent' -> 'root' -> 'job']) item where item is not null) jobs));
    -- Before the edges are checked, so that the names of one table are one node.
    if jsonb_path_exists(events, '$[*].*.names') then
      perform svc.claim_tables((select jsonb_agg(item) from jsonb_array_elements(events) event,
        jsonb_array_elements((event -> 'inputs') || (event -> 'outputs')) item));
    end if;
  end if;

  for index in 0 .. jsonb_array_length(events) - 1 loop
    if merging and index > 0 and clock_timestamp() - began >= batch_ms * interval '1 ms' then
      place := index;
      outcome := 'later';
      refusal := null;
      return next;
      continue;
    end if;
    e := events -> index;
    sha := decode(e ->> 'body_sha256', 'hex');
    run := (e ->> 'run_id')::uuid;
    stored := null;
    beside := e ->> 'kind' <> 'run';
    if not beside then
      select i.event_seq, i.state, i.body_sha256 into seq, stored, stored_sha
        from lineage_inbox i where i.producer = e ->> 'producer' and i.run_id = run;
      beside := stored is not null and stored_sha <> sha;
    end if;
    if beside then
      select l.event_seq, l.state into seq, stored from lineage_event l
        where l.producer = e ->> 'producer' and l.run_id = run and l.kind = e ->> 'kind' and l.body_sha256 = sha;
    end if;

    why := null;
    if stored = 'merged' then
      result := 'repeated';
    elsif merging then
      whole := case when e ->> 'kind' = 'run' and (beside or stored is not null) then svc.sum_of_run(e) else e end;
      -- An event of a run that a steward took back is kept, and is no evidence.
      retired := false;
      if e ->> 'kind' = 'run' and (beside or stored is not null) then
        retired := exists (select from lineage_retirement t where t.producer = e ->> 'producer' and t.run_id = run);
        if retired then whole := whole || '{"inputs": [], "outputs": []}'; end if;
      end if;
      made := svc.merge_lineage(whole, jsonb_array_length(e -> 'inputs'), jsonb_array_length(e -> 'outputs'), edges_max);
      if made ? 'refusal' and claims <> '{}' then
        -- An earlier event of the batch may end what is in the way.
        perform svc.claim_lineage(to_jsonb(claims));
        claims := '{}';
        made := svc.merge_lineage(whole, jsonb_array_length(e -> 'inputs'), jsonb_array_length(e -> 'outputs'), edges_max);
      end if;
      why := made -> 'refusal';
      if made ? 'heavy' then
        result := 'heavy';
      else
        result := case when why is null then 'merged' else 'refused' end;
        if e -> 'job' <> 'null' and not coalesce(why ? 'reason', false)
          and (whole -> 'inputs' <> '[]' or whole -> 'outputs' <> '[]') then
          claims := array_append(claims, jsonb_build_object('job', e -> 'job' -> 'id',
            'inputs', jsonb_path_query_array(whole, '$.inputs[*].id'), 'outputs', jsonb_path_query_array(whole, '$.outputs[*].id'),
            'said', coalesce(whole -> 'said_ms', e -> 'at_ms'), 'completes', whole -> 'completes', 'producer', e -> 'producer', 'run_id', e -> 'run_id',
            'state', whole -> 'state'));
        end if;
        if not retired then
          merged := array_append(merged, case when made ? 'in_place' then e || jsonb_build_object('in_place', made -> 'in_place') else e end);
        end if;
      end if;
    else
      result := 'pending';
    end if;

    if stored is null and beside then
      insert into lineage_event (kind, producer, run_id, event_type, event_time, received_at, job_namespace, job_name,
          principal, principal_source, origin, body_sha256, body, state, refusal, parent_run_id, parent_namespace, parent_name,
          root_run_id, root_namespace, root_name, inputs, outputs, columns, aliases)
        values (e ->> 'kind', e ->> 'producer', run, e ->> 'event_type', to_timestamp((e ->> 'event_time_ms')::numeric / 1000),
          to_timestamp((e ->> 'received_at_ms')::numeric / 1000), e -> 'job' ->> 'namespace', e -> 'job' ->> 'name',
          e ->> 'principal', e ->> 'principal_source', e -> 'origin', sha,
          substring(bodies from (e ->> 'offset')::int + 1 for (e ->> 'length')::int),
          case when result = 'heavy' then 'pending' else result end, why, (e -> 'parent' ->> 'run_id')::uuid,
          e -> 'parent' -> 'job' ->> 'namespace', e -> 'parent' -> 'job' ->> 'name', (e -> 'parent' -> 'root' ->> 'run_id')::uuid,
          e -> 'parent' -> 'root' -> 'job' ->> 'namespace', e -> 'parent' -> 'root' -> 'job' ->> 'name',
          array(select i ->> 'id' from jsonb_array_elements(e -> 'inputs') i),
          array(select o ->> 'id' from jsonb_array_elements(e -> 'outputs') o), (select jsonb_agg(c - 'as_of_ms') from jsonb_array_elements(e -> 'columns') c),
          e -> 'aliases');
    elsif stored is null then
      insert into lineage_inbox (kind, producer, run_id, event_type, event_time, received_at, job_namespace, job_name,
          principal, principal_source, origin, body_sha256, body, state, refusal, parent_run_id, parent_namespace, parent_name,
          root_run_id, root_namespace, root_name, inputs, outputs, columns, aliases)
        values ('run', e ->> 'producer', run, e ->> 'event_type', to_timestamp((e ->> 'event_time_ms')::numeric / 1000),
          to_timestamp((e ->> 'received_at_ms')::numeric / 1000), e -> 'job' ->> 'namespace', e -> 'job' ->> 'name',
          e ->> 'principal', e ->> 'principal_source', e -> 'origin', sha,
          substring(bodies from (e ->> 'offset')::int + 1 for (e ->> 'length')::int),
          case when result = 'heavy' then 'pending' else result end, why, (e -> 'parent' ->> 'run_id')::uuid,
          e -> 'parent' -> 'job' ->> 'namespace', e -> 'parent' -> 'job' ->> 'name', (e -> 'parent' -> 'root' ->> 'run_id')::uuid,
          e -> 'parent' -> 'root' -> 'job' ->> 'namespace', e -> 'parent' -> 'root' -> 'job' ->> 'name',
          array(select i ->> 'id' from jsonb_array_elements(e -> 'inputs') i),
          array(select o ->> 'id' from jsonb_array_elements(e -> 'outputs') o), (select jsonb_agg(c - 'as_of_ms') from jsonb_array_elements(e -> 'columns') c),
          e -> 'aliases');
    elsif merging and stored <> 'merged' and result <> 'heavy' and beside then
      update lineage_event l set state = result, refusal = why, last_error = null where l.event_seq = seq;
    elsif merging and stored <> 'merged' and result <> 'heavy' then
      update lineage_inbox i set state = result, refusal = why, last_error = null where i.event_seq = seq;
    end if;

    place := index;
    outcome := result;
    refusal := why;
    return next;
  end loop;

  if merged <> '{}' then
    perform svc.link_jobs(to_jsonb(merged));
    perform svc.claim_lineage(to_jsonb(claims));
  end if;
end $$;

revoke all on function svc.with_inputs, svc.with_said, svc.support_lineage, svc.columns_of_jobs, svc.with_columns, svc.columns_by_pair, svc.sum_of_run, svc.draw_lineage, svc.dataset_names, svc.dataset_nodes, svc.pair_id, svc.ensure_lineage_nodes,
  svc.merge_lineage, svc.link_jobs, svc.receive_lineage from public;
grant execute on function svc.with_inputs, svc.with_said, svc.support_lineage, svc.columns_of_jobs, svc.with_columns, svc.columns_by_pair, svc.sum_of_run, svc.draw_lineage, svc.dataset_names, svc.dataset_nodes, svc.pair_id, svc.ensure_lineage_nodes,
  svc.merge_lineage, svc.link_jobs, svc.receive_lineage to svc_tenant;
