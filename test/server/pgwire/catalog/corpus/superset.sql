-- tool: Apache Superset
SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT LIKE 'pg_%' ORDER BY schema_name
;
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'sales' AND c.relkind IN ('r', 'p')
;
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'sales' AND c.relkind IN ('v', 'm') AND pg_table_is_visible(c.oid)
;
SELECT datname FROM pg_database WHERE datistemplate = false
;
SELECT table_name FROM information_schema.views WHERE table_schema = 'sales'
;
SELECT pg_backend_pid()
;
SELECT nspname FROM pg_namespace WHERE has_schema_privilege(nspname, 'USAGE') AND nspname NOT LIKE 'pg\_%'
;
SELECT DISTINCT t.typname FROM pg_type t JOIN pg_enum e ON t.oid = e.enumtypid
;
