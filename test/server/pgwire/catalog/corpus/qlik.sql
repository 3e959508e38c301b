-- tool: Qlik Sense
SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_schema <> 'information_schema' ORDER BY 1
;
SELECT current_database()::varchar AS "TABLE_CAT", n.nspname::varchar AS "TABLE_SCHEM", c.relname::varchar AS "TABLE_NAME",
  CASE WHEN c.relkind IN ('r', 'p') THEN 'TABLE' ELSE 'VIEW' END AS "TABLE_TYPE", d.description AS "REMARKS"
FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
LEFT JOIN pg_description d ON d.objoid = c.oid AND d.objsubid = 0
WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname !~ '^pg_'
;
SELECT a.attname AS "COLUMN_NAME", information_schema._pg_char_max_length(a.atttypid, a.atttypmod) AS "LENGTH",
  information_schema._pg_numeric_precision(a.atttypid, a.atttypmod) AS "PRECISION",
  information_schema._pg_numeric_scale(a.atttypid, a.atttypmod) AS "SCALE",
  information_schema._pg_datetime_precision(a.atttypid, a.atttypmod) AS "FRACTION"
FROM pg_attribute a WHERE a.attrelid = 'sales.orders'::regclass AND a.attnum > 0
;
SELECT conrelid::regclass, conname, pg_get_constraintdef(oid, true) FROM pg_constraint WHERE contype IN ('p', 'f') AND conrelid <> 0 ORDER BY 1, 2
;
SELECT tablename, tableowner, hasindexes FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) OR schemaname = 'sales'
;
