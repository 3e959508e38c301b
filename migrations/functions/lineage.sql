-- Receiving lineage events: inbox rows and edges of a batch of events in one call, which runs SERIALIZABLE. Works
-- with the caller's rights and search_path.
--
-- Look-ups are correlated subqueries, one index probe each, and sequential scans are off. The embedded database never
-- gathers statistics, and a plan made for an empty graph must not be kept for a large one.

-- The shortest path along LINEAGE_OF from one of `sources` to one of `targets` in 1 to `hops` edges, or null. Breadth
-- first, every node visited once, so that it costs what the neighbourhood costs.
create or replace function svc.lineage_path(sources ag_catalog.graphid[], targets ag_catalog.graphid[], hops int)
returns ag_catalog.graphid[]
language plpgsql set enable_seqscan = off as $$
declare
  frontier ag_catalog.graphid[] := sources;
  seen ag_catalog.graphid[] := sources;
  -- The place in `seen` at which each level begins.
  starts int[] := array[1];
  here ag_catalog.graphid;
  path ag_catalog.graphid[];
begin
  for hop in 1 .. hops loop
    starts := starts || (cardinality(seen) + 1);
    select array_agg(fresh.node) into frontier from (
      select l.end_id as node from "LINEAGE_OF" l where l.start_id = any (frontier)
      except select unnest(seen)) fresh;
    if frontier is null then return null; end if;
    select hit.node into here from (select unnest(frontier) as node intersect select unnest(targets)) hit limit 1;
    if here is not null then
      path := array[here];
      for level in reverse hop .. 1 loop
        select l.start_id into strict here from "LINEAGE_OF" l
          where l.end_id = here and l.start_id = any (seen[starts[level] : starts[level + 1] - 1]) limit 1;
        path := here || path;
      end loop;
      return path;
    end if;
    seen := seen || frontier;
  end loop;
  return null;
end $$;

-- Those of `targets` to which LINEAGE_OF leads from `source` in 1 to `hops` edges.
create or replace function svc.lineage_reached(source ag_catalog.graphid, targets ag_catalog.graphid[], hops int)
returns ag_catalog.graphid[]
language plpgsql set enable_seqscan = off as $$
declare
  frontier ag_catalog.graphid[] := array[source];
  seen ag_catalog.graphid[] := frontier;
begin
  for hop in 1 .. hops loop
    select array_agg(fresh.node) into frontier from (
      select l.end_id as node from "LINEAGE_OF" l where l.start_id = any (frontier)
      except select unnest(seen)) fresh;
    exit when frontier is null;
    seen := seen || frontier;
  end loop;
  return array(select unnest(seen[2:]) intersect select unnest(targets));
end $$;

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
    select (item - 'tables' || jsonb_build_object('tenant_id', svc.current_tenant()))::text::ag_catalog.agtype
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

-- Merges one event's edges between datasets, whose nodes exist. An edge that would close a cycle is not drawn; the
-- others are. A dataset that is input and output was written in place, which is no edge. Returns null, or what was not
-- drawn: the number of pairs, and the first 100 with the datasets of the cycle, from the output to the input.
create or replace function svc.merge_lineage(e jsonb) returns jsonb
language plpgsql set enable_seqscan = off as $$
declare
  tenant uuid := svc.current_tenant();
  inputs jsonb := e -> 'inputs';
  outputs jsonb := e -> 'outputs';
  columns jsonb := e -> 'columns';
  width int := jsonb_array_length(outputs);
  sources ag_catalog.graphid[];
  targets ag_catalog.graphid[];
  -- The pair (input i, output o) is at (i - 1) * width + o.
  pairs text[];
  edges ag_catalog.graphid[];
  -- Places of the pairs to draw to one output, and what an output reaches.
  wanted int[];
  reached ag_catalog.graphid[];
  refused jsonb := '[]';
  refusals int := 0;
  at int;
begin
  if width = 0 or jsonb_array_length(inputs) = 0 then return null; end if;
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
    -- Every output becomes reachable from every input, so any path from an output to an input closes a cycle. The
    -- edges that exist already suffice to find one.
    if not sources && targets and svc.lineage_path(targets, sources, 5) is null then
      perform svc.draw_lineage(e, array(select place from generate_subscripts(pairs, 1) place where edges[place] is null),
        pairs, sources, targets);
    else
      -- Output by output, so that an edge of this event counts for the next output.
      for o in 1 .. width loop
        wanted := array(select (i - 1) * width + o from generate_subscripts(sources, 1) i
          where edges[(i - 1) * width + o] is null and sources[i] <> targets[o]);
        continue when cardinality(wanted) = 0;
        reached := svc.lineage_reached(targets[o], sources, 5);
        perform svc.draw_lineage(e, array(select place from unnest(wanted) place
          where sources[(place - 1) / width + 1] <> all (reached)), pairs, sources, targets);
        for at in select p from unnest(wanted) p where sources[(p - 1) / width + 1] = any (reached) loop
          refusals := refusals + 1;
          continue when refusals > 100;
          refused := refused || jsonb_build_object(
            'from', svc.dataset_names(array[sources[(at - 1) / width + 1]]) -> 0,
            'to', svc.dataset_names(array[targets[o]]) -> 0,
            'cycle', svc.dataset_names(svc.lineage_path(array[targets[o]], array[sources[(at - 1) / width + 1]], 5)));
        end loop;
      end loop;
    end if;
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
  return case when refusals > 0 then jsonb_build_object('count', refusals, 'refused', refused,
    'cycle', refused -> 0 -> 'cycle') end;
end $$;

-- Draws PRODUCED_BY from every output of these events to its job; both nodes exist. The edge of an output that is an
-- input of the same event says that the job writes it in place.
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
  update "PRODUCED_BY" p
    set properties = p.properties operator(ag_catalog.||) '{"in_place": true}'::ag_catalog.agtype
    from (
      select distinct svc.pair_id(o ->> 'id', e -> 'job' ->> 'id') as key
      from jsonb_array_elements(events) e, jsonb_array_elements(e -> 'outputs') o
      where exists (select from jsonb_array_elements(e -> 'inputs') i where i ->> 'id' = o ->> 'id')) own
    where ag_catalog.agtype_access_operator(variadic array[p.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(own.key)::text::ag_catalog.agtype
      and p.properties::text::jsonb ->> 'in_place' is null;
end $$;

-- Records which table a dataset is, and links the two where the table is known.
create or replace function svc.claim_tables(datasets jsonb) returns void
language plpgsql set enable_seqscan = off as $$
declare
  dataset jsonb;
  table_id text;
begin
  for dataset in select item from jsonb_array_elements(datasets) item where item -> 'tables' -> 0 is not null loop
    select t ->> 'table_id' into table_id
      from jsonb_array_elements(dataset -> 'tables') with ordinality list (t, place)
      where exists (select from svc.catalog_credential c where c.nickname = t ->> 'prefix')
      order by place limit 1;
    continue when table_id is null;
    update "Dataset" d
      set properties = d.properties operator(ag_catalog.||) jsonb_build_object('table_id', table_id)::text::ag_catalog.agtype
      where ag_catalog.agtype_access_operator(variadic array[d.properties, '"id"'::ag_catalog.agtype])
          = (dataset -> 'id')::text::ag_catalog.agtype
        and d.properties::text::jsonb ->> 'table_id' is distinct from table_id;
    perform svc.link_datasets(table_id);
  end loop;
end $$;

-- Draws STORED_AS from the datasets of a table to its node, where that exists. Returns the number of new edges.
create or replace function svc.link_datasets(table_id text) returns bigint
language plpgsql set enable_seqscan = off as $$
declare
  drawn bigint;
begin
  insert into "STORED_AS" (start_id, end_id, properties)
    select d.id, t.id, jsonb_build_object('id', edge.key, 'tenant_id', svc.current_tenant())::text::ag_catalog.agtype
    from "Dataset" d, "Table" t,
      lateral (select svc.pair_id((d.properties::text::jsonb ->> 'id'), link_datasets.table_id) as key) edge
    where ag_catalog.agtype_access_operator(variadic array[d.properties, '"table_id"'::ag_catalog.agtype])
        = to_jsonb(link_datasets.table_id)::text::ag_catalog.agtype
      and ag_catalog.agtype_access_operator(variadic array[t.properties, '"id"'::ag_catalog.agtype])
        = to_jsonb(link_datasets.table_id)::text::ag_catalog.agtype
      and not exists (select from "STORED_AS" s where s.start_id = d.id and s.end_id = t.id)
    on conflict (ag_catalog.agtype_access_operator(variadic array[properties, '"id"'::ag_catalog.agtype])) do nothing;
  get diagnostics drawn = row_count;
  return drawn;
end $$;

-- Stores a batch of events and, where `merging`, merges their edges. A stored event that is merged already is
-- `repeated` and changes nothing; a stored event that is not merged yet is merged now. `bodies` holds the raw bodies
-- end to end; each event names its offset and length.
create or replace function svc.receive_lineage(events jsonb, bodies bytea, merging boolean)
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
  result text;
  merged jsonb := '[]';
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
        select distinct event -> 'job' as item from jsonb_array_elements(events) event) jobs));
  end if;

  for index in 0 .. jsonb_array_length(events) - 1 loop
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
      why := svc.merge_lineage(e);
      result := case when why is null then 'merged' else 'refused' end;
      merged := merged || e;
    else
      result := 'pending';
    end if;

    if stored is null and beside then
      insert into lineage_event (kind, producer, run_id, event_type, event_time, received_at, job_namespace, job_name,
          principal, principal_source, body_sha256, body, state, refusal)
        values (e ->> 'kind', e ->> 'producer', run, e ->> 'event_type', to_timestamp((e ->> 'event_time_ms')::numeric / 1000),
          to_timestamp((e ->> 'received_at_ms')::numeric / 1000), e -> 'job' ->> 'namespace', e -> 'job' ->> 'name',
          e ->> 'principal', e ->> 'principal_source', sha,
          substring(bodies from (e ->> 'offset')::int + 1 for (e ->> 'length')::int), result, why);
    elsif stored is null then
      insert into lineage_inbox (kind, producer, run_id, event_type, event_time, received_at, job_namespace, job_name,
          principal, principal_source, body_sha256, body, state, refusal)
        values ('run', e ->> 'producer', run, e ->> 'event_type', to_timestamp((e ->> 'event_time_ms')::numeric / 1000),
          to_timestamp((e ->> 'received_at_ms')::numeric / 1000), e -> 'job' ->> 'namespace', e -> 'job' ->> 'name',
          e ->> 'principal', e ->> 'principal_source', sha,
          substring(bodies from (e ->> 'offset')::int + 1 for (e ->> 'length')::int), result, why);
    elsif merging and stored <> 'merged' and beside then
      update lineage_event l set state = result, refusal = why, last_error = null where l.event_seq = seq;
    elsif merging and stored <> 'merged' then
      update lineage_inbox i set state = result, refusal = why, last_error = null where i.event_seq = seq;
    end if;

    place := index;
    outcome := result;
    refusal := why;
    return next;
  end loop;

  if merged <> '[]' then
    perform svc.link_jobs(merged);
    if jsonb_path_exists(merged, '$[*].*.tables[0]') then
      perform svc.claim_tables((select jsonb_agg(item) from jsonb_array_elements(merged) event,
        jsonb_array_elements((event -> 'inputs') || (event -> 'outputs')) item));
    end if;
  end if;
end $$;

revoke all on function svc.lineage_path, svc.lineage_reached, svc.draw_lineage, svc.dataset_names, svc.dataset_nodes, svc.pair_id, svc.ensure_lineage_nodes, svc.merge_lineage,
  svc.link_jobs, svc.claim_tables, svc.link_datasets, svc.receive_lineage from public;
grant execute on function svc.lineage_path, svc.lineage_reached, svc.draw_lineage, svc.dataset_names, svc.dataset_nodes, svc.pair_id, svc.ensure_lineage_nodes,
  svc.merge_lineage, svc.link_jobs, svc.claim_tables, svc.link_datasets, svc.receive_lineage to svc_tenant;
