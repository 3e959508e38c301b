-- tool: Looker
SELECT table_schema, table_name FROM information_schema.tables
WHERE (table_schema, table_name) IN (('sales', 'orders'), ('sales', 'customers'))
;
SELECT c.table_schema, c.table_name, c.column_name, c.data_type, c.ordinal_position, c.column_default, c.character_maximum_length
FROM information_schema.columns c WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema')
ORDER BY c.table_schema, c.table_name, c.ordinal_position
;
SELECT table_schema AS schema_name, COUNT(*) AS tables FROM information_schema.tables GROUP BY table_schema
HAVING table_schema NOT LIKE 'pg\_%' ORDER BY 2 DESC
;
SELECT current_schema() AS scratch_schema, has_schema_privilege(current_schema(), 'CREATE') AS may_create
;
SELECT pid, query_start, state, query FROM pg_stat_activity WHERE usename = current_user AND state <> 'idle'
;
SELECT kcu.table_schema, kcu.table_name, kcu.column_name, tc.constraint_type
FROM information_schema.key_column_usage kcu
JOIN information_schema.table_constraints tc USING (constraint_schema, constraint_name)
WHERE tc.constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY 1, 2, kcu.ordinal_position
;
SELECT name, setting FROM pg_settings WHERE name IN ('search_path', 'standard_conforming_strings')
;
