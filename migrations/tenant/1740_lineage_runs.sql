-- What each event says of its run, so that a run is the sum of its events: ids of the datasets that it reads and writes,
-- and its column lineage. Null in events of earlier versions, which are not added up.
do $$
declare
  t text;
begin
  foreach t in array array['lineage_inbox', 'lineage_event'] loop
    execute format('alter table {{schema}}.%I add column inputs text[], add column outputs text[], add column columns jsonb', t);
  end loop;
end $$;
