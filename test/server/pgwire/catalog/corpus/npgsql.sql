-- tool: Npgsql: types at connect
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
FROM (
  SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind,
    elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind,
    CASE WHEN elemproc.proname = 'array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype
  FROM (
    SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid,
      CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
      CASE WHEN proc.proname = 'array_recv' THEN typ.typelem
        WHEN typ.typtype = 'r' THEN rngsubtype
        WHEN typ.typtype = 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid)
        WHEN typ.typtype = 'd' THEN typ.typbasetype END AS elemtypoid
    FROM pg_type AS typ
    LEFT JOIN pg_class AS cls ON cls.oid = typ.typrelid
    LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
    LEFT JOIN pg_range ON pg_range.rngtypid = typ.oid) AS typ
  LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid
  LEFT JOIN pg_class AS elemcls ON elemcls.oid = elemtyp.typrelid
  LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive) AS t
JOIN pg_namespace AS ns ON ns.oid = typnamespace
WHERE typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind = 'c')
  OR (typtype = 'p' AND typname IN ('record', 'void', 'unknown'))
  OR (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd')
    OR (elemtyptype = 'p' AND elemtypname IN ('record', 'void')) OR (elemtyptype = 'c' AND elemrelkind = 'c')))
ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 WHEN typtype = 'c' THEN 1 WHEN typtype = 'r' THEN 2
  WHEN typtype = 'm' THEN 3 WHEN typtype = 'd' AND elemtyptype <> 'a' THEN 4 WHEN typtype = 'a' THEN 5
  WHEN typtype = 'd' AND elemtyptype = 'a' THEN 6 END
;
SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ
JOIN pg_namespace AS ns ON ns.oid = typ.typnamespace
JOIN pg_class AS cls ON cls.oid = typ.typrelid
JOIN pg_attribute AS att ON att.attrelid = typ.typrelid
WHERE typ.typtype = 'c' AND cls.relkind = 'c' AND attnum > 0 AND NOT attisdropped ORDER BY typ.oid, att.attnum
;
SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid ORDER BY oid, enumsortorder
;
SELECT version(); SELECT ns.nspname, t.oid FROM pg_type t JOIN pg_namespace ns ON ns.oid = t.typnamespace WHERE t.typtype = 'e'
;
SELECT attname, nspname, relname, attnum, typname, attnotnull, atthasdef, pg_get_expr(adbin, adrelid)
FROM pg_attribute AS attr
JOIN pg_type AS typ ON attr.atttypid = typ.oid
JOIN pg_class AS cls ON cls.oid = attr.attrelid
JOIN pg_namespace AS ns ON ns.oid = cls.relnamespace
LEFT OUTER JOIN pg_attrdef AS def ON def.adrelid = cls.oid AND def.adnum = attr.attnum
LEFT OUTER JOIN pg_index ON pg_index.indrelid = cls.oid AND indisprimary
WHERE atttypid <> 0 AND relkind IN ('r', 'v', 'm') AND NOT attisdropped AND nspname NOT IN ('pg_catalog', 'information_schema')
  AND attnum > 0 AND ((attr.attrelid = {oid:sales.orders} AND attr.attnum = 1) OR (attr.attrelid = {oid:sales.orders} AND attr.attnum = 2))
ORDER BY attnum
;
SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables
WHERE table_type IN ('BASE TABLE', 'VIEW') AND table_schema NOT IN ('pg_catalog', 'information_schema') AND table_name = 'orders'
;
SELECT d.datname AS database_name, u.usename AS owner, pg_catalog.pg_encoding_to_char(d.encoding) AS encoding
FROM pg_catalog.pg_database d LEFT JOIN pg_catalog.pg_user u ON d.datdba = u.usesysid
;
SELECT u.usename AS user_name, u.usesysid AS user_sysid FROM pg_catalog.pg_user u WHERE usename = 'alice'
;
