-- tool: DBeaver
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate OR db.datname = 'lake' ORDER BY db.datname
;
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
ORDER BY nspname
;
SELECT c.oid, c.relname, c.relkind, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr,
  pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = {oid:schema sales} AND c.relkind NOT IN ('i', 'I', 'c')
;
SELECT c.relname, a.attname, a.attnum, a.atttypid, a.attnotnull, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value,
  dsc.description, dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid = {oid:sales.orders} ORDER BY a.attnum
;
SELECT c.conname, c.contype, c.conkey, c.confkey, c.confrelid, t.relname AS tabrelname, rt.relnamespace AS refnamespace,
  d.description, pg_catalog.pg_get_constraintdef(c.oid) AS definition
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
WHERE c.conrelid = {oid:sales.orders} ORDER BY c.oid
;
SELECT i.indrelid, i.indkey, i.indclass, c.relnamespace, am.amname, tc.relname AS tabrelname, dsc.description,
  pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS expr
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
INNER JOIN pg_catalog.pg_am am ON am.oid = c.relam
LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid
WHERE i.indrelid = {oid:sales.orders} ORDER BY tabrelname, c.relname
;
SELECT t.oid, t.typname, t.typtype, t.typlen, t.typcategory, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')
  AND t.typnamespace = 11
;
SELECT current_schema(), session_user
;
SELECT d.datname, pg_catalog.shobj_description(d.oid, 'pg_database') FROM pg_catalog.pg_database d
;
SELECT typcategory FROM pg_catalog.pg_type WHERE 1 <> 1 LIMIT 1
;
SELECT p.oid AS poid, p.proname, pg_catalog.pg_get_expr(p.proargdefaults, 0) AS arg_defaults
FROM pg_catalog.pg_proc p
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = p.oid AND d.objsubid = 0
WHERE p.pronamespace = {oid:schema sales} AND p.prokind <> 'a' ORDER BY p.proname
;
SELECT a.oid, a.rolname, a.rolsuper, a.rolcanlogin, pd.description FROM pg_catalog.pg_roles a
LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid WHERE a.rolname = 'alice'
;
SELECT relacl FROM pg_catalog.pg_class WHERE oid = {oid:sales.orders}
;
SELECT pg_catalog.pg_table_size(c.oid) >= 0 AS has_size, c.reltuples::bigint FROM pg_catalog.pg_class c WHERE c.oid = {oid:sales.orders}
;
SELECT x.oid, x.tgname FROM pg_catalog.pg_trigger x WHERE x.tgrelid = {oid:sales.orders} AND NOT x.tgisinternal
;
