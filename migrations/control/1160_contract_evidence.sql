-- The commit for which a version was proposed: its id, its subject, and the table.
alter table svc.contract_version add column evidence jsonb;
