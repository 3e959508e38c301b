-- tool: dbt (and Lightdash over it)
select distinct nspname from pg_namespace
;
select count(*) from pg_namespace where nspname = 'sales'
;
select 'lake' as database, tablename as name, schemaname as schema, 'table' as type from pg_tables where schemaname ilike 'sales'
union all
select 'lake' as database, viewname as name, schemaname as schema, 'view' as type from pg_views where schemaname ilike 'sales'
union all
select 'lake' as database, matviewname as name, schemaname as schema, 'materialized_view' as type from pg_matviews where schemaname ilike 'sales'
;
select column_name, data_type, character_maximum_length, numeric_precision, numeric_scale from "lake".INFORMATION_SCHEMA.columns
where table_name = 'orders' and table_schema = 'sales' order by ordinal_position
;
select 'lake' as table_database, sch.nspname as table_schema, tbl.relname as table_name,
  case tbl.relkind when 'v' then 'VIEW' when 'm' then 'MATERIALIZED VIEW' else 'BASE TABLE' end as table_type,
  tbl_desc.description as table_comment, col.attname as column_name, col.attnum as column_index,
  pg_catalog.format_type(col.atttypid, col.atttypmod) as column_type, col_desc.description as column_comment,
  pg_get_userbyid(tbl.relowner) as table_owner
from pg_catalog.pg_namespace sch
join pg_catalog.pg_class tbl on tbl.relnamespace = sch.oid
join pg_catalog.pg_attribute col on col.attrelid = tbl.oid
left outer join pg_catalog.pg_description tbl_desc on (tbl_desc.objoid = tbl.oid and tbl_desc.objsubid = 0)
left outer join pg_catalog.pg_description col_desc on (col_desc.objoid = tbl.oid and col_desc.objsubid = col.attnum)
where (upper(sch.nspname) = upper('sales')) and not pg_is_other_temp_schema(sch.oid)
  and tbl.relpersistence in ('p', 'u') and tbl.relkind in ('r', 'v', 'f', 'p', 'm') and col.attnum > 0 and not col.attisdropped
order by sch.nspname, tbl.relname, col.attnum
;
with relation as (select pg_class.oid, pg_class.relname as name, pg_class.relnamespace as schema_id, pg_class.relkind as kind from pg_class),
class as (select oid as id, name, schema_id from relation where kind in ('m', 'v', 'r', 'p')),
dependency as (select distinct pg_depend.objid as id, pg_depend.refobjid as ref from pg_depend
  where classid = 'pg_rewrite'::regclass and refclassid = 'pg_class'::regclass and pg_depend.deptype = 'n')
select distinct referenced.name as referenced_name, dependent.name as dependent_name
from dependency join class referenced on dependency.ref = referenced.id
join pg_rewrite on pg_rewrite.oid = dependency.id join class dependent on dependent.id = pg_rewrite.ev_class
where referenced.schema_id = (select oid from pg_namespace where nspname = 'sales')
;
select i.relname as name, m.amname as method, ix.indisunique as "unique",
  array_to_string(array_agg(a.attname order by array_position(ix.indkey, a.attnum)), ',') as column_names
from pg_index ix join pg_class i on i.oid = ix.indexrelid join pg_am m on m.oid = i.relam
join pg_class t on t.oid = ix.indrelid join pg_namespace n on n.oid = t.relnamespace
join pg_attribute a on a.attrelid = t.oid and a.attnum = any (ix.indkey)
where t.relname = 'orders' and n.nspname = 'sales' and t.relkind in ('r', 'm') group by 1, 2, 3 order by 1, 2, 3
;
