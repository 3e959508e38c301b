-- tool: Redash
SELECT s.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name, NULL AS data_type
FROM pg_class c JOIN pg_namespace s ON c.relnamespace = s.oid AND s.nspname NOT IN ('pg_catalog', 'information_schema')
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('m', 'f', 'p') AND has_table_privilege(s.nspname || '.' || c.relname, 'select')
UNION
SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
;
SELECT DISTINCT c.table_schema, c.table_name, c.column_name, c.data_type FROM information_schema.columns c
WHERE table_schema NOT IN ('pg_internal', 'pg_catalog', 'information_schema') AND has_schema_privilege(c.table_schema, 'usage')
;
SELECT t.oid, t.typname FROM pg_type t WHERE t.typtype = 'b' AND t.typcategory IN ('N', 'D', 'B', 'S')
;
SELECT pg_catalog.pg_encoding_to_char(encoding) FROM pg_catalog.pg_database WHERE datname = current_database()
;
