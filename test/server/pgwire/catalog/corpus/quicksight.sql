-- tool: Amazon QuickSight
SELECT nspname AS schema FROM pg_namespace WHERE nspname NOT LIKE 'pg_toast%' AND nspname NOT LIKE 'pg_temp%' ORDER BY 1
;
SELECT 'sales'::text, c.relname, c.relkind = 'v' FROM pg_class c JOIN pg_namespace ns ON c.relnamespace = ns.oid
WHERE ns.nspname = 'sales' AND c.relkind IN ('r', 'v', 'm', 'f', 'p') ORDER BY c.relname LIMIT 1000 OFFSET 0
;
SELECT a.attname, a.attnum, t.typname, a.atttypmod, a.attlen FROM pg_attribute a, pg_class c, pg_namespace n, pg_type t
WHERE a.attrelid = c.oid AND c.relnamespace = n.oid AND a.atttypid = t.oid AND a.attnum > 0
  AND n.nspname = 'sales' AND c.relname = 'customers' ORDER BY a.attnum
;
SELECT array_agg(v) FROM (SELECT unnest(string_to_array(current_setting('search_path'), ',')) AS v) s
;
SELECT upper(setting) AS encoding FROM pg_settings WHERE name = 'server_encoding'
;
SELECT count(*) > 0 FROM information_schema.role_table_grants WHERE table_schema = 'sales' AND grantee = current_user
;
