/** Writes the SQL that changes a new database once, before anything is loaded: version, own views, privileges. */

import { quoteText } from '../../../base/sql-text.ts'
import { serverVersion, versionText } from '../../../core/server-version.ts'
import { catalogFunctions, plainFunctions } from './allowed-names.ts'
import { readerOid } from './shadow-ddl.ts'

/**
 * PostgreSQL calls a built-in function by its OID, so its body cannot be replaced. Each built-in function is renamed
 * and later moved to a hidden schema. The override takes over its name.
 */
const overrides = `
  alter function pg_catalog.version() rename to svc_version;
  alter function pg_catalog.pg_backend_pid() rename to svc_backend_pid;
  alter function pg_catalog.current_setting(text) rename to svc_setting;
  alter function pg_catalog.current_setting(text, boolean) rename to svc_setting;
  create function pg_catalog.version() returns text language sql stable parallel safe
    return ${quoteText(versionText)}::text;
  create function pg_catalog.pg_backend_pid() returns int4 language sql stable parallel safe
    return pg_catalog.svc_setting('svc.pid')::int4;
  create function pg_catalog.current_setting(text) returns text language sql stable strict
    return case lower($1) when 'server_version' then ${quoteText(serverVersion.text)}
      when 'server_version_num' then ${quoteText(serverVersion.number)}
      when 'lc_collate' then 'C' when 'lc_ctype' then 'C'
      when 'ssl' then coalesce(pg_catalog.svc_setting('svc.ssl', true), 'off') else pg_catalog.svc_setting($1) end;
  create function pg_catalog.current_setting(text, boolean) returns text language sql stable strict
    return case lower($1) when 'server_version' then ${quoteText(serverVersion.text)}
      when 'server_version_num' then ${quoteText(serverVersion.number)}
      when 'lc_collate' then 'C' when 'lc_ctype' then 'C'
      when 'ssl' then coalesce(pg_catalog.svc_setting('svc.ssl', true), 'off') else pg_catalog.svc_setting($1, $2) end;`

const hidden = `
  update pg_proc set pronamespace = 'pg_toast'::regnamespace where proname like 'svc\\_%';`

const settings = `
  alter function pg_catalog.pg_show_all_settings() rename to svc_show_all_settings;
  create function pg_catalog.pg_show_all_settings(out name text, out setting text, out unit text, out category text,
      out short_desc text, out extra_desc text, out context text, out vartype text, out source text, out min_val text,
      out max_val text, out enumvals text[], out boot_val text, out reset_val text, out sourcefile text,
      out sourceline int4, out pending_restart bool)
    returns setof record language sql stable begin atomic
      select s.name, case s.name when 'server_version' then ${quoteText(serverVersion.text)}
          when 'server_version_num' then ${quoteText(serverVersion.number)}
          when 'ssl' then coalesce(pg_catalog.svc_setting('svc.ssl', true), 'off') else s.setting end,
        s.unit, s.category, s.short_desc, s.extra_desc, s.context, s.vartype, s.source, s.min_val, s.max_val,
        s.enumvals, s.boot_val, s.reset_val, s.sourcefile, s.sourceline, s.pending_restart
      from pg_catalog.svc_show_all_settings() s where s.name not like 'svc.%';
    end;
  create or replace view pg_catalog.pg_settings as select * from pg_catalog.pg_show_all_settings();`

const sessions = `jsonb_to_recordset(coalesce(nullif(svc_setting('svc.activity', true), ''), '[]')::jsonb) as s
  (pid int4, application_name text, client_addr inet, client_port int4, backend_start timestamptz,
   query_start timestamptz, state text, query text, ssl bool, version text, cipher text)`

/** Shows a client its principal's own connections, which come from a setting because this database has none of them. */
const activity = `
  create or replace view pg_catalog.pg_stat_activity as
    select (select d.oid from pg_database d where d.datname = current_database()) as datid,
      current_database() as datname, s.pid, null::int4 as leader_pid, ${readerOid}::oid as usesysid,
      pg_get_userbyid(${readerOid}) as usename, s.application_name, s.client_addr, null::text as client_hostname,
      s.client_port, s.backend_start, s.query_start as xact_start, s.query_start,
      coalesce(s.query_start, s.backend_start) as state_change, null::text as wait_event_type,
      null::text as wait_event, s.state, null::xid as backend_xid, null::xid as backend_xmin,
      null::int8 as query_id, s.query, 'client backend'::text as backend_type
    from ${sessions};
  create or replace view pg_catalog.pg_stat_ssl as
    select s.pid, s.ssl, s.version, s.cipher, null::int4 as bits, null::text as client_dn,
      null::numeric as client_serial, null::text as issuer_dn
    from ${sessions};
  create or replace view pg_catalog.pg_stat_gssapi as
    select s.pid, false as gss_authenticated, null::text as principal, false as encrypted,
      false as credentials_delegated
    from ${sessions};`

/** Shows a client what its connection has prepared, for the same reason. */
const prepared = `
  create or replace view pg_catalog.pg_prepared_statements as
    select s.name, s.statement, s.prepare_time, s.parameter_types::regtype[] as parameter_types,
      s.result_types::regtype[] as result_types, s.from_sql, 0::int8 as generic_plans, 0::int8 as custom_plans
    from jsonb_to_recordset(coalesce(nullif(svc_setting('svc.prepared', true), ''), '[]')::jsonb) as s
      (name text, statement text, prepare_time timestamptz, parameter_types oid[], result_types oid[], from_sql bool);`

/**
 * A second barrier behind the list of allowed names, because a function can be called as if it were a column.
 * Only the owner may run volatile functions, which are those with side effects.
 */
const executable = `
  update pg_proc set proacl = array[makeaclitem(10, 10, 'EXECUTE', false)]
  where provolatile = 'v' and proname <> all (array[${[...catalogFunctions, ...plainFunctions].map(quoteText).join(',')}])
    and proname !~ '^pg_(stat_get|show_all_settings|lock_status|cursor|prepared|get_replication|timezone|available)';
  -- pg_dump writes out functions whose privileges are not those of the beginning.
  delete from pg_init_privs where classoid = 'pg_proc'::regclass;
  insert into pg_init_privs select oid, 'pg_proc'::regclass, 0, 'i', proacl from pg_proc where proacl is not null;`

const roles = `
  select binary_upgrade_set_next_pg_authid_oid('${readerOid}'::oid);
  create role reader login;
  delete from pg_shdescription where classoid = 'pg_database'::regclass;
  update pg_database set datacl = null, datistemplate = false;`

/**
 * The database of every catalog. Its OID is the first that a user's database has, because pgAdmin and others take those
 * below for the system's own and do not list them.
 */
export const databaseName = 'covenant'

/** Each runs alone, in the database that comes with the program. */
export const createDatabase: readonly string[] = [
  `create database ${databaseName} oid 16384 strategy file_copy`,
]

/** Each runs alone, in the new database: the others would only take memory. */
export const dropOthers: readonly string[] = [
  'update pg_database set datistemplate = false',
  ...['postgres', 'template1', 'template0'].map((name) => `drop database ${name}`),
]

/** Runs once, as the owner, in a mode that allows changes to system objects. */
export const snapshotSql = [overrides, settings, activity, prepared, hidden, executable, roles].join('\n')
