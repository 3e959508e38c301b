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
      when 'server_version_num' then ${quoteText(serverVersion.number)} else pg_catalog.svc_setting($1) end;
  create function pg_catalog.current_setting(text, boolean) returns text language sql stable strict
    return case lower($1) when 'server_version' then ${quoteText(serverVersion.text)}
      when 'server_version_num' then ${quoteText(serverVersion.number)}
      else pg_catalog.svc_setting($1, $2) end;`

const hidden = `
  update pg_proc set pronamespace = 'pg_toast'::regnamespace where proname like 'svc\\_%';`

const settings = `
  create or replace view pg_catalog.pg_settings as
    select name, case name when 'server_version' then ${quoteText(serverVersion.text)}
        when 'server_version_num' then ${quoteText(serverVersion.number)} else setting end as setting,
      unit, category, short_desc, extra_desc, context, vartype, source, min_val, max_val, enumvals, boot_val,
      reset_val, sourcefile, sourceline, pending_restart
    from pg_catalog.pg_show_all_settings() where name not like 'svc.%';`

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
  delete from pg_database where datname <> current_database();
  delete from pg_shdescription where classoid = 'pg_database'::regclass;
  update pg_database set datacl = null, datistemplate = false;`

/** Runs once, as the owner, in a mode that allows changes to system objects. */
export const snapshotSql = [overrides, settings, activity, hidden, executable, roles].join('\n')
