-- tool: Hex and Mode
SELECT table_schema, table_name, table_type, is_insertable_into FROM information_schema.tables
WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY table_schema ASC, table_name ASC LIMIT 5000
;
SELECT json_agg(json_build_object('schema', table_schema, 'table', table_name, 'column', column_name, 'type', udt_name) ORDER BY table_name, ordinal_position)
FROM information_schema.columns WHERE table_schema = 'sales'
;
SELECT row_to_json(t) FROM (SELECT relname, relkind FROM pg_class WHERE relnamespace = 'sales'::regnamespace AND relkind <> 'i') t
;
SELECT to_regclass('sales.orders') IS NOT NULL AS here, to_regclass('sales.nothing') IS NULL AS gone, to_regtype('int4')::text
;
SELECT constraint_type, count(*) FILTER (WHERE is_deferrable = 'NO') FROM information_schema.table_constraints GROUP BY GROUPING SETS ((constraint_type), ())
;
SELECT grantee, privilege_type FROM information_schema.table_privileges WHERE table_name = 'orders'
;
