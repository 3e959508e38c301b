/** Commands for quarantined snapshots: which may not be read, one of them, and its release. */

import { type Command, onTenant } from './command.ts'

export const quarantineCommands: readonly Command[] = [
  {
    words: 'quarantine list',
    usage: '--tenant ID [--table ns.table]',
    summary: 'Lists snapshots that may not be read, and those that were released.',
    prepare: (flags) => {
      const table = flags.table()
      const ofTable = table && { namespace: table.namespace, table: table.name }
      const names = { own: 'list_quarantined_snapshots', admin: 'list_tenant_quarantined_snapshots' }
      return { ...onTenant(flags, names, { ...ofTable, limit: 1000 }), everyItem: true }
    },
  },
  {
    words: 'quarantine show',
    usage: '--tenant ID --id ID',
    summary: 'Shows a quarantined snapshot.',
    fields: ['id', 'snapshot_id', 'cause', 'detail', 'found_at'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'show_quarantined_snapshot', admin: 'show_tenant_quarantined_snapshot' },
        { id: flags.required('id') },
      ),
  },
  {
    words: 'quarantine release',
    usage: '--tenant ID --id ID --reason TEXT',
    summary: 'Releases a quarantined snapshot for reads.',
    fields: ['id', 'snapshot_id'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'release_snapshot', admin: 'release_tenant_snapshot' },
        { id: flags.required('id'), reason: flags.required('reason') },
      ),
  },
]
