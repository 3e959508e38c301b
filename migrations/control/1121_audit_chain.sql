-- The metadata file that an accepted commit replaced, where the catalog's reply shows it. The audited commits of a table
-- are then a chain, by which recovery looks further back than the table's own metadata log.
alter table svc.audit_log add column previous_metadata_location text;
