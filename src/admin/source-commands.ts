/** Commands for the PostgreSQL sources of reconciliation. A password comes from a file or standard input. */

import { tlsModes } from '../store/reconcile/sources.ts'
import { type Command, onTenant } from './command.ts'

export const sourceCommands: readonly Command[] = [
  {
    words: 'source put',
    usage: `--tenant ID --name NAME --host HOST --database NAME --user USER --password-file FILE [--port 5432] [--tls ${tlsModes.join('|')}]`,
    summary: 'Adds a PostgreSQL source with which tables are compared, or replaces it. - is standard input.',
    prepare: async (flags) =>
      onTenant(
        flags,
        { own: 'put_reconciliation_source', admin: 'put_tenant_reconciliation_source' },
        {
          name: flags.required('name'),
          host: flags.required('host'),
          port: flags.integer('port', 1, 65_535),
          database: flags.required('database'),
          user: flags.required('user'),
          tls: flags.choice('tls', tlsModes),
          password: (await flags.file('password-file')).replace(/\r?\n$/, ''),
        },
      ),
  },
  {
    words: 'source list',
    usage: '--tenant ID',
    summary: 'Lists the PostgreSQL sources of reconciliation, without passwords.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_reconciliation_sources', admin: 'list_tenant_reconciliation_sources' },
        { limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'source remove',
    usage: '--tenant ID --name NAME',
    summary: 'Removes a PostgreSQL source.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'remove_reconciliation_source', admin: 'remove_tenant_reconciliation_source' },
        { name: flags.required('name') },
      ),
  },
]
