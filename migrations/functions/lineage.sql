-- Receiving lineage events: inbox rows and edges of a batch of events in one call, which runs SERIALIZABLE. Works
-- with the caller's rights and search_path.
--
-- Look-ups are correlated subqueries, one index probe each, and sequential scans are off. The embedded database never
-- gathers statistics, and a plan made for an empty graph must not be kept for a large one.

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

-- The id of an edge between two nodes whose ids may be long.
create or replace function svc.pair_id(a text, b text) returns text
language sql immutable strict
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

-- Draws these pairs as edges, each (input i, output o) at (i - 1) * width + o.
create or replace function svc.draw_lineage(e jsonb, places int[], pairs text[], sources ag_catalog.graphid[],
  targets ag_catalog.graphid[]) returns void
language plpgsql set enable_seqscan = off as $$
declare
  width int := cardinality(targets);
  columns jsonb := e -> 'columns';
begin
  insert into "LINEAGE_OF" (start_id, end_id, properties)
    select sources[(place - 1) / width + 1], targets[(place - 1) % width + 1],
      (jsonb_build_object('id', pairs[place], 'tenant_id', svc.current_tenant(), 'producer', e -> 'producer',
          'run_id', e -> 'run_id', 'job_id', e -> 'job' -> 'id')
        || case when columns ? (place - 1)::text then jsonb_build_object('columns', columns -> (place - 1)::text,
          'columns_as_of_ms', e -> 'event_time_ms', 'columns_job_id', e -> 'job' -> 'id') else '{}' end)::text::ag_catalog.agtype
    from unnest(places) place
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
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

-- Merges one event's edges between datasets, whose nodes exist and whose tables are known. An edge that would close a
-- cycle is not drawn; the others are. A pair of names of one table was written in place, which is no edge. Returns
-- null, or some of: `refusal`, what was not drawn: the number of pairs, and the first 100 with the datasets of the
-- cycle, from the output to the input; `in_place`, the outputs that are also inputs; `heavy`, that the search read more
-- than `edges_left` edges and was given up, with edges still to draw.
create or replace function svc.merge_lineage(e jsonb, edges_left bigint) returns jsonb
language plpgsql set enable_seqscan = off as $$
declare
  inputs jsonb := e -> 'inputs';
  outputs jsonb := e -> 'outputs';
  columns jsonb := e -> 'columns';
  width int := jsonb_array_length(outputs);
  height int := jsonb_array_length(inputs);
  sources ag_catalog.graphid[];
  targets ag_catalog.graphid[];
  -- The tables of which sources and targets are names; null for a dataset with one name.
  source_keys text[];
  target_keys text[];
  -- The pair (input i, output o) is at (i - 1) * width + o.
  pairs text[];
  edges ag_catalog.graphid[];
  -- Places of the pairs to draw, all and to one output, and what of them closes a cycle.
  missing int[];
  wanted int[];
  closing int[];
  path ag_catalog.graphid[];
  hit text;
  in_place jsonb;
  refused jsonb := '[]';
  refusals int := 0;
begin
  if width = 0 or height = 0 then return null; end if;
  pairs := array(
    select svc.pair_id(i ->> 'id', o ->> 'id')
    from jsonb_array_elements(inputs) with ordinality a (i, m), jsonb_array_elements(outputs) with ordinality b (o, n)
    order by m, n);
  edges := array(
    select (select l.id from "LINEAGE_OF" l
      where ag_catalog.agtype_access_operator(variadic array[l.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(pair)::text::ag_catalog.agtype)
    from unnest(pairs) with ordinality list (pair, place) order by place);

  if array_position(edges, null) is not null then
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
    missing := array(
      select place from generate_subscripts(pairs, 1) place,
        lateral (select (place - 1) / width + 1 as i, (place - 1) % width + 1 as o) pair
      where edges[place] is null and sources[i] <> targets[o] and (source_keys[i] = target_keys[o]) is not true);

    -- Every output becomes reachable from every input, so any path from an output to an input closes a cycle. The
    -- edges that exist already suffice to find one.
    if cardinality(missing) > 0 and in_place is null then
      select s.edges_left, s.path into edges_left, path from svc.find_lineage_path(targets, sources, 5, edges_left) s;
      if edges_left < 0 then return '{"heavy": true}'; end if;
      if path is null then
        perform svc.draw_lineage(e, missing, pairs, sources, targets);
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
        perform svc.draw_lineage(e, wanted, pairs, sources, targets);
      end if;
    end loop;
  end if;

  -- The columns of the latest event stay, in whatever order events arrive.
  if columns <> '{}' then
    for place in 1 .. cardinality(pairs) loop
      continue when edges[place] is null or not columns ? (place - 1)::text;
      update "LINEAGE_OF" l
        set properties = l.properties operator(ag_catalog.||) jsonb_build_object('columns', columns -> (place - 1)::text,
          'columns_as_of_ms', e -> 'event_time_ms', 'columns_job_id', e -> 'job' -> 'id')::text::ag_catalog.agtype
        where l.id = edges[place]
          and coalesce((l.properties::text::jsonb ->> 'columns_as_of_ms')::numeric, 0) <= (e ->> 'event_time_ms')::numeric;
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
    where edge is null
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
  if jsonb_path_exists(events, '$[*].parent.job') then
    insert into "PARENT_OF" (start_id, end_id, properties)
      select (select j.id from "Job" j
          where ag_catalog.agtype_access_operator(variadic array[j.properties, '"id"'::ag_catalog.agtype])
            = to_jsonb(parent)::text::ag_catalog.agtype),
        (select j.id from "Job" j
          where ag_catalog.agtype_access_operator(variadic array[j.properties, '"id"'::ag_catalog.agtype])
            = to_jsonb(job)::text::ag_catalog.agtype),
        jsonb_build_object('id', 'job ' || key, 'tenant_id', svc.current_tenant())::text::ag_catalog.agtype
      from (
        select distinct on (key) e -> 'parent' -> 'job' ->> 'id' as parent, e -> 'job' ->> 'id' as job, key
        from jsonb_array_elements(events) e, svc.pair_id(e -> 'parent' -> 'job' ->> 'id', e -> 'job' ->> 'id') key
        where key is not null and e -> 'parent' -> 'job' ->> 'id' <> e -> 'job' ->> 'id') wanted
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
language plpgsql set enable_seqscan = off as $$
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
  merged jsonb := '[]';
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
          unnest(array[event -> 'job', event -> 'parent' -> 'job']) item where item is not null) jobs));
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
      made := svc.merge_lineage(e, edges_max);
      why := made -> 'refusal';
      if made ? 'heavy' then
        result := 'heavy';
      else
        result := case when why is null then 'merged' else 'refused' end;
        merged := merged || case when made ? 'in_place' then e || jsonb_build_object('in_place', made -> 'in_place') else e end;
      end if;
    else
      result := 'pending';
    end if;

    if stored is null and beside then
      insert into lineage_event (kind, producer, run_id, event_type, event_time, received_at, job_namespace, job_name,
          principal, principal_source, origin, body_sha256, body, state, refusal, parent_run_id, parent_namespace, parent_name)
        values (e ->> 'kind', e ->> 'producer', run, e ->> 'event_type', to_timestamp((e ->> 'event_time_ms')::numeric / 1000),
          to_timestamp((e ->> 'received_at_ms')::numeric / 1000), e -> 'job' ->> 'namespace', e -> 'job' ->> 'name',
          e ->> 'principal', e ->> 'principal_source', e -> 'origin', sha,
          substring(bodies from (e ->> 'offset')::int + 1 for (e ->> 'length')::int),
          case when result = 'heavy' then 'pending' else result end, why, (e -> 'parent' ->> 'run_id')::uuid,
          e -> 'parent' -> 'job' ->> 'namespace', e -> 'parent' -> 'job' ->> 'name');
    elsif stored is null then
      insert into lineage_inbox (kind, producer, run_id, event_type, event_time, received_at, job_namespace, job_name,
          principal, principal_source, origin, body_sha256, body, state, refusal, parent_run_id, parent_namespace, parent_name)
        values ('run', e ->> 'producer', run, e ->> 'event_type', to_timestamp((e ->> 'event_time_ms')::numeric / 1000),
          to_timestamp((e ->> 'received_at_ms')::numeric / 1000), e -> 'job' ->> 'namespace', e -> 'job' ->> 'name',
          e ->> 'principal', e ->> 'principal_source', e -> 'origin', sha,
          substring(bodies from (e ->> 'offset')::int + 1 for (e ->> 'length')::int),
          case when result = 'heavy' then 'pending' else result end, why, (e -> 'parent' ->> 'run_id')::uuid,
          e -> 'parent' -> 'job' ->> 'namespace', e -> 'parent' -> 'job' ->> 'name');
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

  if merged <> '[]' then
    perform svc.link_jobs(merged);
  end if;
end $$;

revoke all on function svc.draw_lineage, svc.dataset_names, svc.dataset_nodes, svc.pair_id, svc.ensure_lineage_nodes,
  svc.merge_lineage, svc.link_jobs, svc.receive_lineage from public;
grant execute on function svc.draw_lineage, svc.dataset_names, svc.dataset_nodes, svc.pair_id, svc.ensure_lineage_nodes,
  svc.merge_lineage, svc.link_jobs, svc.receive_lineage to svc_tenant;
