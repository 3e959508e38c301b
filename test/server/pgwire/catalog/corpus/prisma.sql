-- tool: Prisma: db pull
SELECT EXISTS(SELECT 1 FROM pg_namespace WHERE nspname = 'sales'), version(), current_setting('server_version_num')::integer AS numeric_version
;
SELECT namespace.nspname AS namespace_name FROM pg_namespace AS namespace WHERE namespace.nspname = ANY (ARRAY['sales', 'public']) ORDER BY namespace_name
;
SELECT tbl.relname AS table_name, namespace.nspname AS namespace, (tbl.relhassubclass AND tbl.relkind = 'p') AS is_partition,
  (tbl.relhassubclass AND tbl.relkind = 'r') AS has_subclass, tbl.relrowsecurity AS has_row_level_security, reloptions, obj_description(tbl.oid, 'pg_class') AS description
FROM pg_class AS tbl INNER JOIN pg_namespace AS namespace ON namespace.oid = tbl.relnamespace
WHERE (tbl.relkind = 'r' OR tbl.relkind = 'p') AND namespace.nspname = ANY (ARRAY['sales']) ORDER BY namespace, table_name
;
SELECT oid.namespace, info.table_name, info.column_name, format_type(att.atttypid, att.atttypmod) AS formatted_type,
  info.numeric_precision, info.numeric_scale, info.numeric_precision_radix, info.datetime_precision, info.data_type,
  info.udt_schema AS type_schema_name, info.udt_name AS full_data_type, pg_get_expr(attdef.adbin, attdef.adrelid) AS column_default,
  info.is_nullable, info.is_identity, info.character_maximum_length, col_description(att.attrelid, ordinal_position) AS description
FROM information_schema.columns info
JOIN pg_attribute att ON att.attname = info.column_name
JOIN (SELECT pg_class.oid, relname, pg_namespace.nspname AS namespace FROM pg_class
  JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace AND pg_namespace.nspname = ANY (ARRAY['sales']) WHERE reltype > 0) AS oid
  ON oid.oid = att.attrelid AND relname = info.table_name AND namespace = info.table_schema
LEFT OUTER JOIN pg_attrdef attdef ON attdef.adrelid = att.attrelid AND attdef.adnum = att.attnum AND table_schema = namespace
WHERE table_schema = ANY (ARRAY['sales']) ORDER BY namespace, table_name, ordinal_position
;
WITH rawindex AS (
  SELECT indrelid, indexrelid, indisunique, indisprimary, unnest(indkey) AS indkeyid, generate_subscripts(indkey, 1) AS indkeyidx,
    unnest(indclass) AS indclass, unnest(indoption) AS indoption
  FROM pg_index WHERE indpred IS NULL AND NOT indisexclusion)
SELECT schemainfo.nspname AS namespace, indexinfo.relname AS index_name, tableinfo.relname AS table_name, columninfo.attname AS column_name,
  rawindex.indisunique AS is_unique, rawindex.indisprimary AS is_primary_key, rawindex.indkeyidx AS column_index, opclass.opcname AS opclass,
  opclass.opcdefault AS opcdefault, indexaccess.amname AS index_algo,
  CASE rawindex.indoption & 1 WHEN 1 THEN 'DESC' ELSE 'ASC' END AS column_order, pc.condeferrable
FROM rawindex
INNER JOIN pg_class AS tableinfo ON tableinfo.oid = rawindex.indrelid
INNER JOIN pg_class AS indexinfo ON indexinfo.oid = rawindex.indexrelid
INNER JOIN pg_namespace AS schemainfo ON schemainfo.oid = tableinfo.relnamespace
LEFT JOIN pg_attribute AS columninfo ON columninfo.attrelid = tableinfo.oid AND columninfo.attnum = rawindex.indkeyid
INNER JOIN pg_am AS indexaccess ON indexaccess.oid = indexinfo.relam
LEFT JOIN pg_opclass AS opclass ON opclass.oid = rawindex.indclass
LEFT JOIN pg_constraint pc ON rawindex.indexrelid = pc.conindid AND pc.contype <> 'f'
WHERE schemainfo.nspname = ANY (ARRAY['sales']) ORDER BY namespace, table_name, index_name, column_index
;
SELECT views.viewname AS view_name, views.definition AS view_sql, views.schemaname AS namespace FROM pg_catalog.pg_views views
INNER JOIN pg_catalog.pg_namespace ns ON views.schemaname = ns.nspname WHERE schemaname = ANY (ARRAY['sales', 'public'])
;
SELECT p.proname AS name, n.nspname AS namespace, CASE WHEN l.lanname = 'internal' THEN p.prosrc ELSE pg_get_functiondef(p.oid) END AS definition
FROM pg_proc p LEFT JOIN pg_namespace n ON p.pronamespace = n.oid LEFT JOIN pg_language l ON p.prolang = l.oid
WHERE n.nspname = ANY (ARRAY['sales'])
;
