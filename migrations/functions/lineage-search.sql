-- Searches the lineage graph before an edge is drawn. All names of one table are one node. The functions run inside
-- those of lineage.sql, with their settings.

-- These datasets, and all others that are names of the same tables.
create or replace function svc.lineage_names(nodes ag_catalog.graphid[]) returns ag_catalog.graphid[]
language plpgsql as $$
begin
  -- Most datasets are no names of a table.
  if not exists (select from lineage_name n where n.node = any (nodes)) then return nodes; end if;
  return array(
    select unnest(nodes) union
    select other.node from unnest(nodes) given (node),
      lateral (select n.table_key from lineage_name n where n.node = given.node offset 0) held,
      lateral (select n.node from lineage_name n where n.table_key = held.table_key offset 0) other);
end $$;

-- What LINEAGE_OF leads to from `frontier`, or against its direction, without what was seen. Reads at most `edges_max`
-- edges and one more: where `edges` is greater than `edges_max`, there are more than that.
create or replace function svc.lineage_step(frontier ag_catalog.graphid[], seen ag_catalog.graphid[], forward boolean,
  edges_max bigint, out fresh ag_catalog.graphid[], out edges bigint)
language plpgsql as $$
declare
  ends ag_catalog.graphid[];
begin
  if forward then
    ends := array(select l.end_id from "LINEAGE_OF" l where l.start_id = any (frontier) limit edges_max + 1);
  else
    ends := array(select l.start_id from "LINEAGE_OF" l where l.end_id = any (frontier) limit edges_max + 1);
  end if;
  edges := cardinality(ends);
  fresh := array(select unnest(svc.lineage_names(ends)) except select unnest(seen));
end $$;

-- A shortest path along LINEAGE_OF from one of `sources` to one of `targets` in 1 to `hops` edges, or null. No source
-- is a name of a target's table. Both ends are searched, each time a level on from the end that has fewer edges, so
-- that a dataset with very many edges at one end costs what the other end costs. `edges_left` is lowered by the edges
-- that were read; once it is below 0, the search is given up.
create or replace function svc.find_lineage_path(sources ag_catalog.graphid[], targets ag_catalog.graphid[], hops int,
  inout edges_left bigint, out path ag_catalog.graphid[])
language plpgsql set plan_cache_mode = auto as $$
declare
  -- Seen from either end, and the place at which each level begins, the next one's included.
  ahead ag_catalog.graphid[] := svc.lineage_names(sources);
  ahead_levels int[] := array[1, cardinality(ahead) + 1];
  behind ag_catalog.graphid[] := svc.lineage_names(targets);
  behind_levels int[] := array[1, cardinality(behind) + 1];
  ahead_frontier ag_catalog.graphid[] := ahead;
  behind_frontier ag_catalog.graphid[] := behind;
  fresh ag_catalog.graphid[];
  edges bigint;
  edges_max bigint;
  forward boolean;
  met ag_catalog.graphid;
  here ag_catalog.graphid;
  named ag_catalog.graphid[];
begin
  for hop in 1 .. hops loop
    forward := cardinality(ahead_frontier) <= cardinality(behind_frontier);
    edges_max := 64;
    <<ends>>
    loop
      for attempt in 1 .. 2 loop
        if forward then
          select s.fresh, s.edges into fresh, edges from svc.lineage_step(ahead_frontier, ahead, true, edges_max) s;
        else
          select s.fresh, s.edges into fresh, edges from svc.lineage_step(behind_frontier, behind, false, edges_max) s;
        end if;
        edges_left := edges_left - edges;
        exit ends when edges <= edges_max;
        forward := not forward;
      end loop;
      if edges_left < 0 then return; end if;
      edges_max := edges_max * 8;
    end loop;
    if cardinality(fresh) = 0 then return; end if;
    if forward then
      ahead := ahead || fresh;
      ahead_levels := ahead_levels || (cardinality(ahead) + 1);
      ahead_frontier := fresh;
      select hit.node into met from (select unnest(fresh) as node intersect select unnest(behind)) hit limit 1;
    else
      behind := behind || fresh;
      behind_levels := behind_levels || (cardinality(behind) + 1);
      behind_frontier := fresh;
      select hit.node into met from (select unnest(fresh) as node intersect select unnest(ahead)) hit limit 1;
    end if;
    exit when met is not null;
  end loop;
  if met is null then return; end if;

  -- From the dataset where both ends met, which is on the last level of each, back to either end.
  path := array[met];
  here := met;
  for level in reverse cardinality(ahead_levels) - 2 .. 1 loop
    named := svc.lineage_names(array[here]);
    select l.start_id into strict here from "LINEAGE_OF" l
      where l.end_id = any (named)
        and l.start_id = any (ahead[ahead_levels[level] : ahead_levels[level + 1] - 1]) limit 1;
    path := here || path;
  end loop;
  here := met;
  for level in reverse cardinality(behind_levels) - 2 .. 1 loop
    named := svc.lineage_names(array[here]);
    select l.end_id into strict here from "LINEAGE_OF" l
      where l.start_id = any (named)
        and l.end_id = any (behind[behind_levels[level] : behind_levels[level + 1] - 1]) limit 1;
    path := path || here;
  end loop;
end $$;

-- Those of `targets` to which LINEAGE_OF leads from `source` in 1 to `hops` edges.
create or replace function svc.lineage_reached(source ag_catalog.graphid, targets ag_catalog.graphid[], hops int,
  inout edges_left bigint, out reached ag_catalog.graphid[])
language plpgsql set plan_cache_mode = auto as $$
declare
  frontier ag_catalog.graphid[] := svc.lineage_names(array[source]);
  seen ag_catalog.graphid[] := frontier;
  own int := cardinality(frontier);
  edges bigint;
begin
  for hop in 1 .. hops loop
    select s.fresh, s.edges into frontier, edges
      from svc.lineage_step(frontier, seen, true, 9007199254740991) s;
    edges_left := edges_left - edges;
    exit when cardinality(frontier) = 0 or edges_left < 0;
    seen := seen || frontier;
  end loop;
  reached := array(select unnest(seen[own + 1 :]) intersect select unnest(targets));
end $$;

revoke all on function svc.lineage_names, svc.lineage_step, svc.find_lineage_path, svc.lineage_reached from public;
grant execute on function svc.lineage_names, svc.lineage_step, svc.find_lineage_path, svc.lineage_reached to svc_tenant;
