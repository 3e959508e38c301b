-- Pins are events that nobody changes (SPEC 2.10). Row by row, because a statement on the labels' parent
-- table would not fire the triggers of a statement here.
do $$
declare
  label text;
begin
  foreach label in array array['PinEvent', 'PINS'] loop
    execute format('revoke delete, truncate on {{graph}}.%I from svc_tenant', label);
    execute format('create trigger append_only before update or delete on {{graph}}.%I
      for each row execute function svc.refuse_change()', label);
    execute format('create trigger append_only_whole before truncate on {{graph}}.%I
      for each statement execute function svc.refuse_change()', label);
  end loop;
end $$;

-- The tenant sentinel, as in 0050: a pin, and a row filter of a column and of a tag.
do $$
declare
  shelf ag_catalog.graphid := svc.ensure_node('Table', '', '{"sentinel": true}');
  shelf_filter ag_catalog.graphid := svc.ensure_node('RowFilter', '', '{"sentinel": true}');
begin
  perform svc.ensure_edge('PINS', '', svc.ensure_node('PinEvent', '', '{"sentinel": true, "seq": 0}'), shelf, '{}');
  perform svc.ensure_edge('FILTERS', 'column', shelf_filter, svc.ensure_node('Column', '', '{}'), '{}');
  perform svc.ensure_edge('APPLIES_TO', 'filter', shelf_filter, svc.ensure_node('Tag', '', '{}'), '{}');
end $$;
