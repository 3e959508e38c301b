-- tool: SchemaCrawler 16
SELECT
  'current_database' AS NAME,
  CURRENT_DATABASE() AS VALUE,
  '' AS DESCRIPTION
;
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT 2615 AS oid , 2 AS attnum) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in (2615)
;
select current_database() as "TYPE_CAT", n.nspname as "TYPE_SCHEM", t.typname as "TYPE_NAME", null as "CLASS_NAME", CASE WHEN t.typtype='c' then 2002 else 2001 end as "DATA_TYPE", pg_catalog.obj_description(t.oid, 'pg_type')  as "REMARKS", CASE WHEN t.typtype = 'd' then  (select CASE when base_type.oid = 1028 then 2003 when base_type.oid = 2950 then 1111 when base_type.oid = 2951 then 2003 when base_type.oid = 142 then 2009 when base_type.oid = 143 then 2003 when base_type.oid = 16 then -7 when base_type.oid = 17 then -2 when base_type.oid = 18 then 1 when base_type.oid = 1042 then 1 when base_type.oid = 1043 then 12 when base_type.oid = 19 then 12 when base_type.oid = 20 then -5 when base_type.oid = 21 then 5 when base_type.oid = 790 then 8 when base_type.oid = 23 then 4 when base_type.oid = 791 then 2003 when base_type.oid = 1560 then -7 when base_type.oid = 25 then 12 when base_type.oid = 1561 then 2003 when base_type.oid = 2201 then 2003 when base_type.oid = 26 then -5 when base_type.oid = 1562 then 1111 when base_type.oid = 1563 then 2003 when base_type.oid = 1182 then 2003 when base_type.oid = 1183 then 2003 when base_type.oid = 1184 then 93 when base_type.oid = 1185 then 2003 when base_type.oid = 1700 then 2 when base_type.oid = 1082 then 91 when base_type.oid = 1083 then 92 when base_type.oid = 700 then 7 when base_type.oid = 701 then 8 when base_type.oid = 199 then 2003 when base_type.oid = 1231 then 2003 when base_type.oid = 600 then 1111 when base_type.oid = 1114 then 93 when base_type.oid = 1115 then 2003 when base_type.oid = 603 then 1111 when base_type.oid = 1000 then 2003 when base_type.oid = 1001 then 2003 when base_type.oid = 1002 then 2003 when base_type.oid = 1003 then 2003 when base_type.oid = 1005 then 2003 when base_type.oid = 1007 then 2003 when base_type.oid = 1009 then 2003 when base_type.oid = 1266 then 92 when base_type.oid = 114 then 1111 when base_type.oid = 1014 then 2003 when base_type.oid = 1270 then 2003 when base_type.oid = 1015 then 2003 when base_type.oid = 1016 then 2003 when base_type.oid = 1017 then 2003 when base_type.oid = 1020 then 2003 when base_type.oid = 1021 then 2003 when base_type.oid = 1022 then 2003 when base_type.oid = 1790 then 2012 else 1111 end from pg_type base_type where base_type.oid=t.typbasetype) else null end as "BASE_TYPE" from pg_catalog.pg_type t, pg_catalog.pg_namespace n where t.typnamespace = n.oid and n.nspname != 'pg_catalog' and n.nspname != 'pg_toast' and t.typtype IN ('c','d')  and n.nspname like 'hr.eu' order by "DATA_TYPE", "TYPE_SCHEM", "TYPE_NAME"
;
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT 2615 AS oid , 2 AS attnum UNION ALL SELECT 1247, 2) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in (1247,2615)
;
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS "TABLE_TYPE", d.description AS "REMARKS",  '' as "TYPE_CAT", '' as "TYPE_SCHEM", '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND n.nspname LIKE 'hr.eu' AND (false  OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' )  OR ( c.relkind = 'v' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' ) )  ORDER BY "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME"
;
SELECT
  CURRENT_DATABASE()::INFORMATION_SCHEMA.SQL_IDENTIFIER AS CONSTRAINT_CATALOG,
  CONSTRAINT_SCHEMA,
  CONSTRAINT_NAME,
  TABLE_SCHEMA,
  TABLE_NAME,
  CONSTRAINT_TYPE,
  'NO' AS IS_DEFERRABLE,
  'NO' AS INITIALLY_DEFERRED
FROM
  INFORMATION_SCHEMA.TABLE_CONSTRAINTS
;
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT {oid:information_schema.table_constraints} AS oid , 2 AS attnum UNION ALL SELECT {oid:information_schema.table_constraints}, 3 UNION ALL SELECT {oid:information_schema.table_constraints}, 5 UNION ALL SELECT {oid:information_schema.table_constraints}, 6 UNION ALL SELECT {oid:information_schema.table_constraints}, 7) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in ({oid:information_schema.table_constraints})
;
SELECT
  CURRENT_DATABASE()::INFORMATION_SCHEMA.SQL_IDENTIFIER AS TRIGGER_CATALOG,
  TRIGGER_SCHEMA,
  TRIGGER_NAME,
  EVENT_MANIPULATION,
  EVENT_OBJECT_CATALOG,
  EVENT_OBJECT_SCHEMA,
  EVENT_OBJECT_TABLE,
  ACTION_ORDER,
  ACTION_CONDITION,
  ACTION_STATEMENT,
  ACTION_ORIENTATION,
  ACTION_TIMING,
  CREATED
FROM
  INFORMATION_SCHEMA.TRIGGERS
;
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT {oid:information_schema.triggers} AS oid , 2 AS attnum UNION ALL SELECT {oid:information_schema.triggers}, 3 UNION ALL SELECT {oid:information_schema.triggers}, 4 UNION ALL SELECT {oid:information_schema.triggers}, 5 UNION ALL SELECT {oid:information_schema.triggers}, 6 UNION ALL SELECT {oid:information_schema.triggers}, 7 UNION ALL SELECT {oid:information_schema.triggers}, 8 UNION ALL SELECT {oid:information_schema.triggers}, 9 UNION ALL SELECT {oid:information_schema.triggers}, 10 UNION ALL SELECT {oid:information_schema.triggers}, 11 UNION ALL SELECT {oid:information_schema.triggers}, 12 UNION ALL SELECT {oid:information_schema.triggers}, 17) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in ({oid:information_schema.triggers})
;
SELECT
  CURRENT_DATABASE()::INFORMATION_SCHEMA.SQL_IDENTIFIER AS CONSTRAINT_CATALOG,
  NAMESPACES.NSPNAME AS CONSTRAINT_SCHEMA,
  CONSTRAINTS.CONNAME AS CONSTRAINT_NAME,
  TABLES.RELNAME AS TABLE_NAME,
  PG_CATALOG.OBJ_DESCRIPTION(CONSTRAINTS.OID, 'pg_constraint')
    AS REMARKS,
  PG_GET_CONSTRAINTDEF(CONSTRAINTS.OID)
    AS CONSTRAINT_DEFINITION
FROM
  PG_CONSTRAINT CONSTRAINTS
  INNER JOIN PG_NAMESPACE AS NAMESPACES
    ON CONSTRAINTS.CONNAMESPACE = NAMESPACES.OID
  INNER JOIN PG_CATALOG.PG_CLASS TABLES
    ON CONSTRAINTS.CONRELID = TABLES.OID
WHERE
  NAMESPACES.NSPNAME NOT IN ('pg_catalog', 'information_schema')
  AND NAMESPACES.NSPNAME !~ '^pg_toast'
  AND TABLES.RELKIND IN ('r', 'v')
;
SELECT
  CURRENT_DATABASE()::INFORMATION_SCHEMA.SQL_IDENTIFIER AS VIEW_CATALOG,
  VIEW_SCHEMA,
  VIEW_NAME,
  NULL AS TABLE_CATALOG,
  TABLE_SCHEMA,
  TABLE_NAME
FROM
  INFORMATION_SCHEMA.VIEW_TABLE_USAGE
;
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT {oid:information_schema.view_table_usage} AS oid , 2 AS attnum UNION ALL SELECT {oid:information_schema.view_table_usage}, 3 UNION ALL SELECT {oid:information_schema.view_table_usage}, 5 UNION ALL SELECT {oid:information_schema.view_table_usage}, 6) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in ({oid:information_schema.view_table_usage})
;
SELECT
  CURRENT_DATABASE()::INFORMATION_SCHEMA.SQL_IDENTIFIER AS TABLE_CATALOG,
  TABLE_SCHEMA,
  TABLE_NAME,
  VIEW_DEFINITION,
  CHECK_OPTION,
  IS_UPDATABLE
FROM
  INFORMATION_SCHEMA.VIEWS
ORDER BY
  TABLE_CATALOG,
  TABLE_SCHEMA,
  TABLE_NAME
;
SELECT
  CURRENT_DATABASE()::INFORMATION_SCHEMA.SQL_IDENTIFIER AS TABLE_CATALOG,
  NAMESPACES.NSPNAME::INFORMATION_SCHEMA.SQL_IDENTIFIER AS TABLE_SCHEMA,
  TABLES.RELNAME::INFORMATION_SCHEMA.SQL_IDENTIFIER AS TABLE_NAME,
  TABLES.*
FROM
  PG_CATALOG.PG_CLASS TABLES
  INNER JOIN PG_CATALOG.PG_NAMESPACE NAMESPACES
    ON TABLES.RELNAMESPACE = NAMESPACES.OID
WHERE
  NAMESPACES.NSPNAME NOT IN ('pg_catalog', 'information_schema')
  AND NAMESPACES.NSPNAME !~ '^pg_toast'
  AND TABLES.RELKIND IN ('r', 'v')
;
SELECT current_database(), n.nspname,c.relname,r.rolname,c.relacl, a.attacl,  a.attname  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c,  pg_catalog.pg_roles r, pg_catalog.pg_attribute a  WHERE c.relnamespace = n.oid  AND c.relowner = r.oid  AND c.oid = a.attrelid  AND c.relkind = 'r'  AND a.attnum > 0 AND NOT a.attisdropped  ORDER BY attname
;
SELECT
  CURRENT_DATABASE()::INFORMATION_SCHEMA.SQL_IDENTIFIER AS INDEX_CATALOG,
  INDEXES.SCHEMANAME AS INDEX_SCHEMA,
  INDEXES.INDEXNAME AS INDEX_NAME,
  INDEXES.TABLENAME AS TABLE_NAME,
  PG_CATALOG.OBJ_DESCRIPTION(PGC.OID, 'pg_class') AS REMARKS,
  INDEXES.INDEXDEF AS INDEX_DEFINITION
FROM
  PG_INDEXES INDEXES
  INNER JOIN PG_CATALOG.PG_CLASS PGC
    ON INDEXES.INDEXNAME = PGC.RELNAME
ORDER BY
  INDEXES.SCHEMANAME,
  INDEXES.TABLENAME,
  INDEXES.INDEXNAME
;
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT 1259 AS oid , 1 AS attnum UNION ALL SELECT 1259, 3 UNION ALL SELECT 1259, 4 UNION ALL SELECT 1259, 5 UNION ALL SELECT 1259, 6 UNION ALL SELECT 1259, 7 UNION ALL SELECT 1259, 8 UNION ALL SELECT 1259, 9 UNION ALL SELECT 1259, 10 UNION ALL SELECT 1259, 11 UNION ALL SELECT 1259, 12 UNION ALL SELECT 1259, 13 UNION ALL SELECT 1259, 14 UNION ALL SELECT 1259, 15 UNION ALL SELECT 1259, 16 UNION ALL SELECT 1259, 17 UNION ALL SELECT 1259, 18 UNION ALL SELECT 1259, 19 UNION ALL SELECT 1259, 20 UNION ALL SELECT 1259, 21 UNION ALL SELECT 1259, 22 UNION ALL SELECT 1259, 23 UNION ALL SELECT 1259, 24 UNION ALL SELECT 1259, 25 UNION ALL SELECT 1259, 26 UNION ALL SELECT 1259, 27 UNION ALL SELECT 1259, 28 UNION ALL SELECT 1259, 29 UNION ALL SELECT 1259, 30 UNION ALL SELECT 1259, 31 UNION ALL SELECT 1259, 32 UNION ALL SELECT 1259, 33 UNION ALL SELECT 1259, 34) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in (1259)
;
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid   FROM pg_catalog.pg_type   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  WHERE pg_type.oid = $1  ORDER BY sp.r, pg_type.oid DESC
;
SELECT current_database(), n.nspname,c.relname,r.rolname,c.relacl  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r  WHERE c.relnamespace = n.oid  AND c.relowner = r.oid  AND c.relkind IN ('r','p','v','m','f')  ORDER BY nspname, relname
;
SELECT
  CURRENT_DATABASE()::INFORMATION_SCHEMA.SQL_IDENTIFIER AS TYPE_CATALOG,
  n.nspname AS TYPE_SCHEMA,
  t.typname AS TYPE_NAME,
  e.enumlabel AS ENUM_LABEL
FROM
  pg_enum e
  INNER JOIN pg_type t
    ON e.enumtypid = t.oid
  INNER JOIN pg_catalog.pg_namespace n
    ON n.oid = t.typnamespace
WHERE
  t.typname = 'uuid'
;
