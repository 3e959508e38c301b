-- tool: Sigma Computing
SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)' AND has_schema_privilege(oid, 'usage') ORDER BY nspname
;
SELECT relname, nspname, relkind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE relkind = ANY (ARRAY['r', 'm', 'v', 'p', 'f']::"char"[]) AND NOT relispartition AND has_table_privilege(c.oid, 'select')
  AND nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema' ORDER BY nspname, relname
;
SELECT attname, pg_catalog.format_type(atttypid, atttypmod), attnotnull, col_description(attrelid, attnum)
FROM pg_catalog.pg_attribute WHERE attrelid = 'sales.orders'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
;
SELECT obj_description('sales.customers'::regclass, 'pg_class')
;
SELECT t.typname AS name, CASE WHEN et.typname IS NOT NULL THEN et.typname ELSE bt.typname END AS element
FROM pg_type t LEFT JOIN pg_type et ON et.oid = t.typelem LEFT JOIN pg_type bt ON bt.oid = t.typbasetype
WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b'
;
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE (table_schema || '.' || table_name) = ANY (string_to_array('sales.orders,sales.customers', ',')) ORDER BY 1, ordinal_position
;
