-- The labels by which a table's filters, masks, contract and pin are found raise the tenant's governance version.
-- Columns are not among them: a commit changes those, and a mask stays with its column's node. The triggers fire for
-- each row, as those of the pins do. They come after the sentinel, which is no change of governance.
do $$
declare
  label text;
begin
  foreach label in array array['Contract', 'GOVERNS', 'PINS', 'RowFilter', 'FILTERS', 'ColumnMask', 'MASKS',
    'APPLIES_TO', 'TAGGED'] loop
    execute format('create constraint trigger governance_version after insert or update or delete on {{graph}}.%I
      deferrable initially deferred for each row execute function svc.raise_governance_version(''{{tenant}}'')', label);
  end loop;
end $$;
