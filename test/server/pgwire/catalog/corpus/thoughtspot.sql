-- tool: ThoughtSpot
SELECT current_database() AS db, schema_name FROM information_schema.schemata ORDER BY schema_name
;
SELECT * FROM (SELECT n.nspname, c.relname, a.attname, a.atttypid,
    a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull, a.atttypmod, a.attlen, t.typtypmod,
    row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') AS attidentity,
    pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc, dsc.description, t.typbasetype, t.typtype
  FROM pg_catalog.pg_namespace n
  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
  JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.oid)
  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid = def.adrelid AND a.attnum = def.adnum)
  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
  WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname LIKE 'sales' AND c.relname LIKE 'orders') c
ORDER BY nspname, c.relname, attnum
;
SELECT kcu.constraint_name, kcu.column_name, kcu.ordinal_position, ccu.table_name AS target
FROM information_schema.key_column_usage kcu
LEFT JOIN information_schema.constraint_column_usage ccu ON ccu.constraint_name = kcu.constraint_name
WHERE kcu.table_schema = 'sales' ORDER BY 1, 3
;
SELECT c.relname, obj_description(c.oid) FROM pg_class c WHERE c.relnamespace = to_regnamespace('sales') AND c.relkind = 'r'
;
SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = 'sales'
;
SELECT has_table_privilege('alice', 'sales.orders', 'SELECT') AS readable
;
