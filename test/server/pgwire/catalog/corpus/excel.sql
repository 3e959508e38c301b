-- tool: Excel and others over psqlODBC
select n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod, a.attnotnull, c.relhasrules,
  c.relkind, c.oid, pg_get_expr(d.adbin, d.adrelid), case t.typtype when 'd' then t.typbasetype else 0 end, t.typtypmod, 0,
  attidentity, c.relhassubclass
from (((pg_catalog.pg_class c inner join pg_catalog.pg_namespace n on n.oid = c.relnamespace and c.relname like 'orders'
    and n.nspname like 'sales')
  inner join pg_catalog.pg_attribute a on (not a.attisdropped) and a.attnum > 0 and a.attrelid = c.oid)
  inner join pg_catalog.pg_type t on t.oid = a.atttypid)
  left outer join pg_attrdef d on a.atthasdef and d.adrelid = a.attrelid and d.adnum = a.attnum
order by n.nspname, c.relname, attnum
;
select relname, nspname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n
where relname like 'ord%' and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1')
  and relkind in ('r', 'v', 'm', 'f', 'p') and n.oid = relnamespace order by nspname, relname
;
select ta.attname, ia.attnum, ic.relname, n.nspname, tc.relname
from pg_catalog.pg_attribute ta, pg_catalog.pg_attribute ia, pg_catalog.pg_class tc, pg_catalog.pg_index i,
  pg_catalog.pg_namespace n, pg_catalog.pg_class ic
where tc.relname = 'orders' and n.nspname = 'sales' and tc.oid = i.indrelid and n.oid = tc.relnamespace
  and i.indisprimary = 't' and ia.attrelid = i.indexrelid and ta.attrelid = i.indrelid
  and ta.attnum = i.indkey[ia.attnum - 1] and (not ta.attisdropped) and (not ia.attisdropped) and ic.oid = i.indexrelid
order by ia.attnum
;
select c.relname, i.indkey, i.indisunique, i.indisclustered, a.amname, c.relhasrules, n.nspname, c.oid, d.relhasoids, i.indoption
from pg_catalog.pg_index i, pg_catalog.pg_class c, (select oid, false as relhasoids, relnamespace from pg_catalog.pg_class
  where relname = 'orders') d, pg_catalog.pg_am a, pg_catalog.pg_namespace n
where d.relnamespace = n.oid and n.nspname = 'sales' and i.indrelid = d.oid and i.indexrelid = c.oid and c.relam = a.oid
order by i.indisprimary desc, i.indisunique, n.nspname, c.relname
;
select conname, conkey, confkey, confupdtype, confdeltype, condeferrable, nf.nspname as fk_schema, cf.relname as fk_table
from pg_catalog.pg_constraint ct join pg_catalog.pg_class cf on cf.oid = ct.conrelid
join pg_catalog.pg_namespace nf on nf.oid = cf.relnamespace
where contype = 'f' and confrelid = (select c.oid from pg_catalog.pg_class c, pg_catalog.pg_namespace n
  where relname = 'customers' and nspname = 'sales' and n.oid = relnamespace)
;
select proname, proretset, prorettype, pronargs, proargtypes, nspname, p.oid, atttypid, attname
from ((pg_catalog.pg_namespace n inner join pg_catalog.pg_proc p on p.pronamespace = n.oid and proname = 'abs')
  inner join pg_type t on t.oid = p.prorettype)
  left outer join pg_attribute a on a.attrelid = t.typrelid and attnum > 0 and not attisdropped
order by nspname, proname, p.oid, attnum
;
select relname, usename, relacl, nspname from pg_catalog.pg_class c, pg_catalog.pg_user u, pg_catalog.pg_namespace n
where nspname = 'sales' and relname = 'orders' and n.oid = relnamespace and relkind in ('r', 'v') and relowner = u.usesysid
;
select oid, typbasetype from pg_type where typname = 'lo'
;
select usename, usesysid, usesuper from pg_user where usename = current_user
;
select nspname from pg_namespace n, pg_class c where c.relnamespace = n.oid and c.oid = 'sales.orders'::regclass
;
select rel.oid as oid, ns.nspname as schema, relname as name, relnatts as columns, description as comment, reltuples, conkey,
  case when ns.nspname like E'pg\\_catalog' then 'Catalog' when relkind = 'f' then 'Foreign' else 'User' end as tabletype
from pg_class rel inner join pg_namespace ns on relnamespace = ns.oid
left outer join pg_description des on des.objoid = rel.oid and des.objsubid = 0
left outer join pg_constraint c on c.conrelid = rel.oid and c.contype = 'p'
where relkind in ('r', 'f') and not ns.nspname like E'pg\\_%' and not ns.nspname like E'information\\_schema'
order by relname
;
