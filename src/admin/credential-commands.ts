/** Commands for storage credentials that the service issued: out, deny, staged. */

import { type Command, onTenant } from './command.ts'

export const credentialCommands: readonly Command[] = [
  {
    words: 'credentials out',
    usage: '--tenant ID [--session SESSION]',
    summary: 'Lists storage credentials that sessions hold and that have not expired, without secrets.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_credentials_out', admin: 'list_tenant_credentials_out' },
        { session: flags.optional('session'), limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'credentials deny',
    usage: '--tenant ID --session SESSION',
    summary: 'Has the storage refuse at once what a revoked session still holds.',
    fields: ['roles'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'deny_session', admin: 'deny_tenant_session' },
        { session: flags.required('session') },
      ),
  },
  {
    words: 'credentials staged',
    usage: '--tenant ID --session SESSION [--table ns.table]',
    summary: 'Lists files that an ended session may have left in storage and that no snapshot names.',
    details: `Storage does not say who wrote a file. Those of other writers of the same time are listed too.`,
    prepare: (flags) => {
      const table = flags.table()
      const ofTable = table && { namespace: table.namespace, table: table.name }
      return {
        ...onTenant(
          flags,
          { own: 'list_staged_files', admin: 'list_tenant_staged_files' },
          { session: flags.required('session'), ...ofTable, limit: 1000 },
        ),
        everyItem: true,
      }
    },
  },
]
