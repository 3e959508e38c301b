-- tool: pgAdmin 4
SELECT db.oid AS did, db.datname, db.datallowconn, pg_encoding_to_char(db.encoding) AS serverencoding,
  has_database_privilege(db.oid, 'CREATE') AS cancreate, datistemplate
FROM pg_catalog.pg_database db WHERE db.datname = current_database()
;
SELECT roles.oid AS id, roles.rolname AS name, roles.rolsuper AS is_superuser,
  CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreaterole END AS can_create_role,
  CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END AS can_create_db
FROM pg_catalog.pg_roles AS roles WHERE rolname = current_user
;
SELECT nsp.oid, nsp.nspname AS name, has_schema_privilege(nsp.oid, 'CREATE') AS can_create,
  has_schema_privilege(nsp.oid, 'USAGE') AS has_usage
FROM pg_catalog.pg_namespace nsp
WHERE nspname NOT LIKE 'pg\_%' AND NOT ((nsp.nspname = 'pg_catalog' AND EXISTS (SELECT 1 FROM pg_catalog.pg_class
  WHERE relname = 'pg_class' AND relnamespace = nsp.oid LIMIT 1)) OR (nsp.nspname = 'information_schema' AND EXISTS (SELECT 1
  FROM pg_catalog.pg_class WHERE relname = 'tables' AND relnamespace = nsp.oid LIMIT 1))) ORDER BY nspname
;
SELECT rel.oid, rel.relname AS name, (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE) AS triggercount,
  (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhrelid = rel.oid LIMIT 1) AS is_inherits, des.description
FROM pg_catalog.pg_class rel
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = rel.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = {oid:schema sales}::oid AND NOT rel.relispartition ORDER BY rel.relname
;
SELECT att.attname AS name, att.atttypid, att.attlen, att.attnum, att.attndims, att.atttypmod, att.attnotnull, att.attoptions,
  pg_catalog.format_type(ty.oid, NULL) AS typname, pg_catalog.format_type(ty.oid, att.atttypmod) AS displaytypname,
  tn.nspname AS typnspname, ty.typstorage AS defaultstorage, description, pi.indkey,
  CASE WHEN (SELECT count(1) FROM pg_catalog.pg_type ty2 WHERE ty2.typname = ty.typname) > 1 THEN true ELSE false END AS isdup,
  CASE WHEN length(coll.collname::text) > 0 THEN pg_catalog.quote_ident(coll.collname) ELSE '' END AS collspcname,
  EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = att.attrelid AND contype = 'f' AND att.attnum = ANY (conkey)) AS is_fk
FROM pg_catalog.pg_attribute att
JOIN pg_catalog.pg_type ty ON ty.oid = atttypid
JOIN pg_catalog.pg_namespace tn ON tn.oid = ty.typnamespace
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = att.attrelid AND des.objsubid = att.attnum AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN pg_catalog.pg_index pi ON pi.indrelid = att.attrelid AND indisprimary
LEFT OUTER JOIN pg_catalog.pg_collation coll ON att.attcollation = coll.oid
WHERE att.attrelid = {oid:sales.orders}::oid AND att.attnum > 0 AND att.attisdropped IS FALSE ORDER BY att.attnum
;
SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()
;
SELECT pg_catalog.pg_is_in_recovery() AS inrecovery, CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END AS isreplaypaused
;
SELECT set.name, set.setting, set.unit, set.category, set.context FROM pg_catalog.pg_settings set WHERE set.name IN ('max_identifier_length', 'block_size')
;
SELECT COUNT(*) FROM pg_catalog.pg_replication_slots WHERE slot_type = 'logical'
;
