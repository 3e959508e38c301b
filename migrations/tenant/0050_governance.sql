-- Masks and tags outlive their column's place in the table: older snapshots still hold its values. A column
-- names its table from its next commit, mask or tag on, and this finds it.
create index "Column_table_id" on {{graph}}."Column"
  (ag_catalog.agtype_access_operator(variadic array[properties, '"table_id"'::ag_catalog.agtype]));

-- The tenant sentinel of the read path, as in 0001: one of each on the table that cannot exist.
do $$
declare
  shelf ag_catalog.graphid := svc.ensure_node('Table', '', '{"sentinel": true}');
  shelf_column ag_catalog.graphid := svc.ensure_node('Column', '', '{"sentinel": true}');
  shelf_tag ag_catalog.graphid := svc.ensure_node('Tag', '', '{"sentinel": true}');
  shelf_mask ag_catalog.graphid := svc.ensure_node('ColumnMask', '', '{"sentinel": true}');
begin
  perform svc.ensure_edge('GOVERNS', '', svc.ensure_node('Contract', '', '{"sentinel": true}'), shelf, '{}');
  perform svc.ensure_edge('FILTERS', '', svc.ensure_node('RowFilter', '', '{"sentinel": true}'), shelf, '{}');
  perform svc.ensure_edge('HAS_COLUMN', '', shelf, shelf_column, '{}');
  perform svc.ensure_edge('MASKS', '', shelf_mask, shelf_column, '{}');
  perform svc.ensure_edge('TAGGED', '', shelf_column, shelf_tag, '{}');
  perform svc.ensure_edge('APPLIES_TO', '', shelf_mask, shelf_tag, '{}');
end $$;
