-- tool: Grafana
SELECT CASE WHEN quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
      array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
      string_to_array(current_setting('search_path'), ',') s)
  THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache', '_timescaledb_catalog',
  '_timescaledb_internal', '_timescaledb_config', 'timescaledb_information', 'timescaledb_experimental')
ORDER BY CASE WHEN quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
      array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
      string_to_array(current_setting('search_path'), ',') s) THEN 0 ELSE 1 END, 1
;
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE CASE WHEN array_length(parse_ident('sales.orders'), 1) = 2
  THEN quote_ident(table_schema) = (parse_ident('sales.orders'))[1]
    AND quote_ident(table_name) = (parse_ident('sales.orders'))[2]
  ELSE quote_ident(table_name) = 'sales.orders'
    AND quote_ident(table_schema) IN (
      SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
      FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
        array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
        string_to_array(current_setting('search_path'), ',') s) END
;
SELECT quote_ident(column_name) FROM information_schema.columns
WHERE quote_ident(table_schema) = 'sales' AND quote_ident(table_name) = 'orders'
  AND data_type IN ('timestamp without time zone', 'timestamp with time zone', 'bigint', 'integer', 'double precision', 'real')
ORDER BY column_name
;
SELECT quote_ident(column_name) FROM information_schema.columns
WHERE quote_ident(table_name) = 'orders' AND data_type IN ('bigint', 'integer', 'double precision', 'real', 'numeric')
  AND column_name <> 'Placed At' ORDER BY column_name
;
SELECT 1 FROM pg_extension WHERE extname = 'timescaledb'
;
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'
;
SELECT current_setting('server_version_num')::int / 100
;
SELECT quote_ident(table_name) FROM information_schema.tables t
WHERE EXISTS (SELECT 1 FROM information_schema.columns c WHERE c.table_schema = t.table_schema
  AND c.table_name = t.table_name AND udt_name IN ('timestamp', 'timestamptz'))
  AND EXISTS (SELECT 1 FROM information_schema.columns c WHERE c.table_schema = t.table_schema
  AND c.table_name = t.table_name AND udt_name = 'float8')
LIMIT 1
;
