-- tool: DataGrip
select case when pg_catalog.pg_is_in_recovery() then null else pg_catalog.txid_current_if_assigned() end as current_txid
;
select round(extract(epoch from pg_postmaster_start_time())) > 0 as is_up
;
select L.transactionid::varchar::bigint as transaction_id from pg_catalog.pg_locks L
where L.transactionid is not null order by pg_catalog.age(L.transactionid) desc limit 1
;
select N.oid::bigint as id, datname as name, D.description, datistemplate as is_template, datallowconn as allow_connections,
  pg_catalog.pg_get_userbyid(N.datdba) as "owner"
from pg_catalog.pg_database N left join pg_catalog.pg_shdescription D on N.oid = D.objoid
order by case when datname = pg_catalog.current_database() then -1::bigint else N.oid::bigint end
;
select N.oid::bigint as id, N.nspname as name, D.description, pg_catalog.pg_get_userbyid(N.nspowner) as "owner"
from pg_catalog.pg_namespace N left join pg_catalog.pg_description D on N.oid = D.objoid
order by case when N.nspname = pg_catalog.current_schema() then -1::bigint else N.oid::bigint end
;
select T.relkind as table_kind, T.relname as table_name, T.oid as table_id, T.relhassubclass as has_children,
  pg_catalog.array_to_string(T.reloptions, ',') as options, pg_catalog.pg_get_userbyid(T.relowner) as "owner"
from pg_catalog.pg_class T where relnamespace = {oid:schema sales}::oid and relkind in ('r', 'm', 'v', 'f', 'p')
order by table_kind, table_id
;
with T as (select distinct T.oid as table_id, T.relname as table_name from pg_catalog.pg_class T, pg_catalog.pg_attribute A
  where T.relnamespace = {oid:schema sales}::oid and T.relkind in ('r', 'm', 'v', 'f', 'p') and A.attrelid = T.oid)
select T.table_id, C.attnum as column_position, C.attname as column_name, C.atttypmod as type_mod, C.attndims as dimensions_number,
  pg_catalog.format_type(C.atttypid, C.atttypmod) as type_spec, C.atttypid as type_id, C.attnotnull as mandatory,
  pg_catalog.pg_get_expr(D.adbin, T.table_id) as column_default_expression, not C.attislocal as column_is_inherited
from T join pg_catalog.pg_attribute C on T.table_id = C.attrelid
left outer join pg_catalog.pg_attrdef D on (C.attrelid, C.attnum) = (D.adrelid, D.adnum)
where attnum > 0 order by table_id, attnum
;
select T.oid table_id, relkind as table_kind, C.oid::bigint con_id, conname con_name, contype con_kind, conkey con_columns,
  conindid index_id, confrelid ref_table_id, condeferrable is_deferrable, confupdtype on_update, confdeltype on_delete,
  pg_catalog.pg_get_expr(conbin, T.oid) con_expression, confkey ref_columns
from pg_catalog.pg_constraint C join pg_catalog.pg_class T on C.conrelid = T.oid
where relkind in ('r', 'v', 'f', 'p') and relnamespace = {oid:schema sales}::oid and contype in ('p', 'u', 'f', 'c', 'x') and connamespace = {oid:schema sales}::oid
;
select T.oid as object_id, T.relkind as kind, pg_catalog.aclexplode(T.relacl) as acl
from pg_catalog.pg_class T where T.relnamespace = {oid:schema sales}::oid and T.relacl is not null
;
select D.objoid id, case when 'pg_catalog.pg_class'::regclass = classoid then C.relkind else 'k' end as kind, D.objsubid sub_id, D.description
from pg_catalog.pg_description D left join pg_catalog.pg_class C on D.objoid = C.oid
where C.relnamespace = {oid:schema sales}::oid order by 1, 3
;
select name, is_dst from pg_catalog.pg_timezone_names where name = 'UTC' union distinct
select abbrev as name, is_dst from pg_catalog.pg_timezone_abbrevs where abbrev = 'UTC'
;
select E.oid::bigint as id, E.extname as name, E.extversion as version, N.nspname from pg_catalog.pg_extension E
join pg_namespace N on E.extnamespace = N.oid order by E.oid
;
