-- tool: Tableau
SELECT n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname <> 'pg_toast' AND (n.nspname !~ '^pg_temp_'
  OR n.nspname = (pg_catalog.current_schemas(true))[1]) ORDER BY n.nspname
;
SELECT NULL::text AS pktable_cat, pkn.nspname AS pktable_schem, pkc.relname AS pktable_name, pka.attname AS pkcolumn_name,
  fkn.nspname AS fktable_schem, fkc.relname AS fktable_name, fka.attname AS fkcolumn_name, pos.n AS key_seq,
  con.conname AS fk_name, pkic.relname AS pk_name
FROM pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka, pg_catalog.pg_namespace fkn,
  pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka, pg_catalog.pg_constraint con,
  pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class pkic
WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid
  AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid
  AND con.contype = 'f' AND pkic.relkind = 'i' AND pkic.oid = con.conindid AND fkn.nspname = 'sales' AND fkc.relname = 'orders'
ORDER BY pkn.nspname, pkc.relname, con.conname, pos.n
;
SELECT result.table_cat, result.table_schem, result.table_name, result.column_name, result.key_seq, result.pk_name
FROM (SELECT NULL AS table_cat, n.nspname AS table_schem, ct.relname AS table_name, a.attname AS column_name,
    (information_schema._pg_expandarray(i.indkey)).n AS key_seq, ci.relname AS pk_name,
    information_schema._pg_expandarray(i.indkey) AS keys, a.attnum AS a_attnum
  FROM pg_catalog.pg_class ct
  JOIN pg_catalog.pg_attribute a ON ct.oid = a.attrelid
  JOIN pg_catalog.pg_namespace n ON ct.relnamespace = n.oid
  JOIN pg_catalog.pg_index i ON a.attrelid = i.indrelid
  JOIN pg_catalog.pg_class ci ON ci.oid = i.indexrelid
  WHERE n.nspname = 'sales' AND ct.relname = 'orders' AND i.indisprimary) result
WHERE result.a_attnum = (result.keys).x ORDER BY result.table_name, result.pk_name, result.key_seq
;
SELECT COUNT(*) FROM pg_class c, pg_namespace n WHERE c.relnamespace = n.oid AND n.nspname LIKE 'pg_temp%'
;
SELECT ix.relname AS index_name, i.indisunique, i.indisclustered, a.amname, c.relname, n.nspname, i.indkey
FROM pg_catalog.pg_index i, pg_catalog.pg_class ix, pg_catalog.pg_class c, pg_catalog.pg_am a, pg_catalog.pg_namespace n
WHERE i.indexrelid = ix.oid AND i.indrelid = c.oid AND ix.relam = a.oid AND n.oid = c.relnamespace AND c.relname = 'orders'
;
SELECT relname, nspname, relkind FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n
WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1')
  AND n.oid = relnamespace ORDER BY nspname, relname
;
SELECT t.typname, t.oid, t.typlen, t.typbasetype FROM pg_type t WHERE t.oid = 1700
;
SELECT current_database() AS "CurrentDatabase", current_user AS "CurrentUser", session_user AS "SessionUser"
;
SELECT has_database_privilege(current_database(), 'TEMP'), has_database_privilege(current_database(), 'CREATE')
;
