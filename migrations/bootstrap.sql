-- What only a superuser can do, once per database. The runner runs it where the connecting user is a
-- superuser; elsewhere a database administrator runs it by hand before the first start. Safe to repeat.
--
-- Why LEAKPROOF: under row-level security PostgreSQL evaluates the policy before any condition of the
-- query that could leak a row, and so may not look such a condition up in an index. These functions
-- raise no error that holds a row's content; without the mark every look-up by id scans the whole label.
create extension if not exists age;
alter function ag_catalog.agtype_access_operator(variadic ag_catalog.agtype[]) leakproof;
alter function ag_catalog.agtype_eq(ag_catalog.agtype, ag_catalog.agtype) leakproof;
alter function ag_catalog.graphid_eq(ag_catalog.graphid, ag_catalog.graphid) leakproof;
grant usage on schema ag_catalog to public;
grant select on ag_catalog.ag_graph, ag_catalog.ag_label to public;
