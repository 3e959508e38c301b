-- The tenant sentinel: one of everything that governs a table, on a table that cannot exist (its name is empty).
-- Loading what governs a table loads the sentinel by the same path. A load without the sentinel is no verdict.

do $$
declare
  sentinel constant jsonb := '{"sentinel": true}';
  shelf ag_catalog.graphid := svc.ensure_node('Table', '', sentinel);
  shelf_column ag_catalog.graphid := svc.ensure_node('Column', '', sentinel);
  shelf_tag ag_catalog.graphid := svc.ensure_node('Tag', '', sentinel);
  policy ag_catalog.graphid := svc.ensure_node('Policy', '', sentinel);
  mask ag_catalog.graphid := svc.ensure_node('ColumnMask', '', sentinel);
  filter ag_catalog.graphid := svc.ensure_node('RowFilter', '', sentinel);
begin
  -- The write path.
  perform svc.ensure_edge('SCHEMA_GOVERNS', '', policy, shelf, '{}');
  perform svc.ensure_edge('WRITE_GOVERNS', '', policy, shelf, '{}');
  perform svc.ensure_edge('RETAINS', '', svc.ensure_node('RetentionPolicy', '', sentinel), shelf, '{}');
  perform svc.ensure_edge('PINS', '', svc.ensure_node('PinEvent', '', sentinel || '{"seq": 0}'), shelf, '{}');
  -- The read path, which loads the pin too.
  perform svc.ensure_edge('GOVERNS', '', svc.ensure_node('Contract', '', sentinel), shelf, '{}');
  perform svc.ensure_edge('HAS_COLUMN', '', shelf, shelf_column, '{}');
  perform svc.ensure_edge('TAGGED', '', shelf_column, shelf_tag, '{}');
  perform svc.ensure_edge('MASKS', '', mask, shelf_column, '{}');
  perform svc.ensure_edge('APPLIES_TO', '', mask, shelf_tag, '{}');
  perform svc.ensure_edge('FILTERS', '', filter, shelf, '{}');
  perform svc.ensure_edge('FILTERS', 'column', filter, shelf_column, '{}');
  perform svc.ensure_edge('APPLIES_TO', 'filter', filter, shelf_tag, '{}');
end $$;
