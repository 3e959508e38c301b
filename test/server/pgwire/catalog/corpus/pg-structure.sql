-- tool: pg-structure
SELECT oid, nspname AS name, obj_description(oid, 'pg_namespace') AS comment FROM pg_namespace WHERE NOT pg_is_other_temp_schema(oid) AND nspname <> 'pg_toast' AND (nspname LIKE $1) AND nspname NOT LIKE $2 AND nspname NOT LIKE $3 ORDER BY nspname
;
SELECT oid, nspname AS name, obj_description(oid, 'pg_namespace') AS comment FROM pg_namespace WHERE nspname IN ('pg_catalog') ORDER BY nspname
;
/*
 Query to get custom user defined types (base such as hstore, composite, domain and enum).
 Created by using `psql -d database -U user -E`, combined `\dT+` and `\dD+`.

 See:
 https://www.postgresql.org/docs/current/app-psql.html
 https://www.postgresql.org/docs/current/catalog-pg-type.html

 Modificaitions on top of `dT+`. (Taken from `dD+`)
 SELECT
 - Add: t.oid, t.typrelid, t.typnamespace, t.typtype, t.typndims, t.typnotnull, t.typdefault, pg_catalog.format_type(t.typbasetype, t.typtypmod) as "sql_type",
 - Modify:  Remove pg_catalog.array_to_string() around enum values to return it as an array.
 WHERE
 - Remove: n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema
 - Remove to see types in other schemas: pg_catalog.pg_type_is_visible(t.oid)
 */
WITH types AS (
  SELECT
    t.oid,
    t.typarray,
    t.typrelid,
    t.typnamespace,
    t.typtype,
    t.typcategory,
    t.typndims,
    t.typnotnull,
    t.typdefault,
    pg_catalog.format_type(t.typbasetype, t.typtypmod) AS "sql_type",
    pg_catalog.format_type(t.oid, NULL) AS "Name",
    t.typname AS "Internal name",
    CASE WHEN t.typrelid != 0 THEN
      CAST('tuple' AS pg_catalog.text)
    WHEN t.typlen < 0 THEN
      CAST('var' AS pg_catalog.text)
    ELSE
      CAST(t.typlen AS pg_catalog.text)
    END AS "Size",
    ARRAY (
      SELECT
        e.enumlabel
      FROM
        pg_catalog.pg_enum e
      WHERE
        e.enumtypid = t.oid
      ORDER BY
        e.enumsortorder) AS "Elements",
      pg_catalog.pg_get_userbyid(t.typowner) AS "Owner",
      pg_catalog.array_to_string(t.typacl, E'\n') AS "Access privileges",
      pg_catalog.obj_description(t.oid, 'pg_type') AS "Description",
      (
        SELECT
          c.relkind
        FROM
          pg_catalog.pg_class c
        WHERE
          c.oid = t.typrelid) AS "Relation Kind"
    FROM
      pg_catalog.pg_type t
    WHERE (t.typrelid = 0
      OR (
        SELECT
          c.relkind IN ('c', 'r', 'v', 'm', 'p') -- https://www.postgresql.org/docs/current/catalog-pg-class.html
        FROM
          pg_catalog.pg_class c
        WHERE
          c.oid = t.typrelid))
      AND NOT EXISTS (
        SELECT
          1
        FROM
          pg_catalog.pg_type el
        WHERE
          el.oid = t.typelem
          AND el.typarray = t.oid)
      ORDER BY
        1,
        2
)
  SELECT
    oid,
    typarray AS "arrayOid",
    typnamespace AS "schemaOid",
    typrelid AS "classOid", -- If this is a composite type (see typtype), then this column points to the pg_class entry that defines the corresponding table
    typtype AS "kind",
    typcategory AS "category",
    typnotnull AS "notNull",
    typdefault AS "default",
    CASE WHEN sql_type = '-' THEN
      NULL
    ELSE
      sql_type
    END AS "sqlType",
    "typndims" AS "arrayDimension",
    "Internal name" AS "name",
    "Elements" AS "values",
    "Description" AS "comment",
	  "Relation Kind" AS "relationKind"
  FROM
    types
  WHERE
    typnamespace = ANY ($1)
  ORDER BY
    typnamespace,
    LOWER("Internal name")
;
SELECT
  a.attrelid AS "parentOid",
  a.atttypid AS "typeOid",
  a.attnum AS "attributeNumber",
  c.relkind AS "parentKind", -- r: table, i: index, S: sequence, t: TOAST table, v: view, m: materialized view, c: composite type, f: foreign table, p: partitioned table, I: partitioned index
  a.attname AS "name",
  pg_get_expr(ad.adbin, ad.adrelid)::information_schema.character_data AS "defaultWithTypeCast",
  a.attnotnull AS "notNull",
  format_type(a.atttypid, atttypmod) AS "sqlType",
  CASE
    WHEN c.relkind = 'v' AND a.attndims = 0 AND right(format_type(a.atttypid, atttypmod), 2) = '[]' THEN 1 -- Cannot find a way to detect array dimensions in views.
    ELSE a.attndims
  END AS "arrayDimension",
  a.attnum AS position,
  d.description AS "comment",
  a.attgenerated <> '' AS "isGenerated"
FROM
  pg_attribute a
  INNER JOIN pg_class c ON a.attrelid = c.oid
  LEFT JOIN pg_attrdef ad ON (a.attrelid = ad.adrelid
      AND a.attnum = ad.adnum)
  LEFT JOIN pg_description d ON (a.attrelid = d.objoid
      AND a.attnum = d.objsubid)
WHERE
  c.relnamespace = ANY ($1)
  AND a.attnum > 0
  AND NOT a.attisdropped
  AND c.relkind IN ('m',
    'r',
    'v',
    'c',
    'p')
ORDER BY
  c.relnamespace,
  LOWER(c.relname),
  a.attnum
;
SELECT
  t.oid                                                                                     AS "oid",
  c.relnamespace                                                                            AS "schemaOid",
  tgrelid                                                                                   AS "entityOid",
  tgname                                                                                    AS "name",
  tgfoid                                                                                    AS "functionOid",

  CASE t.tgtype::integer & 1 WHEN 1 THEN 'row' ELSE 'statement' END                         AS "orientation",

  CASE t.tgtype::integer & 66
    WHEN 2 THEN 'before'
    WHEN 64 THEN 'insteadOf'
    ELSE 'after'
  END                                                                                       AS "timing",

  regexp_split_to_array(LTRIM(
    (CASE WHEN (tgtype::int::bit(7) & b'0000100')::int = 0 THEN '' ELSE ' insert' END) ||
    (CASE WHEN (tgtype::int::bit(7) & b'0001000')::int = 0 THEN '' ELSE ' delete' END) ||
    (CASE WHEN (tgtype::int::bit(7) & b'0010000')::int = 0 THEN '' ELSE ' update' END) ||
    (CASE WHEN (tgtype::int::bit(7) & b'0100000')::int = 0 THEN '' ELSE ' truncate' END)
  ), ' ')                                                                                   AS "events", -- Array, Ex:  {insert,delete,update}

  (SELECT regexp_matches[1] FROM regexp_matches(pg_get_triggerdef(t.oid), '.{35,} WHEN \((.+)\) EXECUTE FUNCTION'))      AS "condition",

  CASE tgenabled
    WHEN 'O' THEN 'origin'
    WHEN 'D' THEN 'disabled'
    WHEN 'R' THEN 'replica'
    WHEN 'A' THEN 'always'
  END                                                                                       AS "isEnabled",

  tgdeferrable                                                                              AS "isDeferrable",
  tginitdeferred                                                                            AS "isInitiallyDeferred"

FROM pg_trigger t -- https://www.postgresql.org/docs/12/catalog-pg-trigger.html
INNER JOIN pg_class c ON c.oid = t.tgrelid
WHERE
  c.relnamespace = ANY ($1)
  AND NOT tgisinternal -- Exclude internally generated  triggers.
ORDER BY
  c.relnamespace,
  LOWER(tgname)
;
SELECT
    pg_proc.oid                                                 AS "oid",
    pg_proc.pronamespace                                        AS "schemaOid",
    pg_proc.proname                                             AS "name",
    pg_proc.prokind                                             AS "kind", -- VERSION 11
    CASE pg_proc.prokind
      WHEN 'a' THEN NULL
      ELSE pg_catalog.pg_get_functiondef(pg_proc.oid)
    END                                                         AS "source",
    pg_language.lanname                                         AS "language",
    pg_proc.procost                                             AS "estimatedCost",
    pg_proc.prorows                                             AS "estimatedRows",
    pg_proc.proleakproof                                        AS "isLeakproof",
    pg_proc.proisstrict                                         AS "isStrict",
    CASE pg_proc.proparallel
      WHEN 's' THEN 'safe'
      WHEN 'u' THEN 'unsafe'
      WHEN 'r' THEN 'restricted'
    END                                                         AS "parallelSafety",
    CASE pg_proc.provolatile
      WHEN 'i' THEN 'immutable'
      WHEN 's' THEN 'stable'
      WHEN 'v' THEN 'volatile'
    END                                                         AS "volatility",
    pg_proc.prorettype                                          AS "returnType",
    pg_proc.proretset                                           AS "returnsSet",
    COALESCE(pg_proc.proallargtypes, proargtypes)               AS "argumentTypes",
    pg_proc.proargnames                                         AS "argumentNames",
    pg_proc.proargmodes                                         AS "argumentModes",
    format('%s(%s)',
      pg_proc.proname,
      replace(pg_proc.proargtypes::text, ' ', ',')
    )                                                           AS "signature",
    pg_catalog.obj_description(pg_proc.oid, 'pg_proc')          AS "comment"
FROM
    pg_catalog.pg_proc
    JOIN pg_catalog.pg_language on pg_language.oid = pg_proc.prolang
WHERE
    pg_proc.pronamespace = ANY ($1)
    -- AND pg_proc.prokind in ('f', 'p', 'w', 'a') -- this is for versions 11 and above
    -- AND pg_proc.probin is null
;
/*
 Query to retrieve table and views.
 */
SELECT
  c.oid AS "oid",
  c.relnamespace AS "schemaOid",
  c.relkind AS "kind",
  c.relname AS "name",
  pg_catalog.obj_description(c.oid, 'pg_class') AS "comment"
FROM
  pg_class c
WHERE
  c.relkind IN ('r', 'v', 'm', 'p', 'S') -- only tables (r), views (v), materialized views (m), partitioned table (p), sequences (S)
  AND c.relnamespace = ANY ($1)
ORDER BY
  c.relnamespace,
  LOWER(relname)
;
SELECT
  indexrelid AS "oid",
  ix.indrelid AS "tableOid",
  index_class.relname AS "name",
  ix.indisunique AS "isUnique",
  ix.indisprimary AS "isPrimaryKey",
  ix.indisexclusion AS "isExclusion",
  indkey::int[] AS "columnPositions",
  COALESCE(regexp_split_to_array(pg_get_expr(indexprs, ix.indrelid), ', '), '{}'::text[]) AS "indexExpressions",
  pg_get_expr(indpred, ix.indrelid) AS "partialIndexExpression",
  pg_catalog.obj_description(indexrelid, 'pg_index') AS "comment"
FROM
  pg_index ix
  INNER JOIN pg_class index_class ON index_class.oid = ix.indexrelid --AND index_class.relkind = 'i') -- Indexes only from pg_class, i: indexes
WHERE
  index_class.relnamespace = ANY ($1)
ORDER BY
  ix.indrelid,
  LOWER(index_class.relname)
;
SELECT
  c.conrelid AS "tableOid",
  c.conindid AS "indexOid",
  c.contypid AS "typeOid",
  c.contype AS "kind", -- c: check, f: foreign key, p: primary key, u: unique, t: constraint trigger, x: exclusion constraint
  c.conname AS "name",
  c.conkey::int[] AS "constrainedColumnPositions",
  c.confkey::int[] AS "referencedColumnPositions",
  c.confupdtype AS "onUpdate",
  c.confdeltype AS "onDelete",
  c.confmatchtype AS "matchType",
  c.condeferrable AS "isDeferrable",
  c.condeferred AS "isDeferred",
  pg_get_constraintdef(c.oid) AS "checkConstraintExpression",
  pg_catalog.obj_description(c.oid, 'pg_constraint') AS "comment"
FROM
  pg_constraint c
WHERE
  c.connamespace = ANY ($1)
ORDER BY
  c.connamespace,
  LOWER(c.conname)
;
