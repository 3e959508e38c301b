/** Commands for check runs: which there are, one with its results, its cancellation, and its resumption. */

import { type Command, onTenant } from './command.ts'

export const checkCommands: readonly Command[] = [
  {
    words: 'checks list',
    usage: '--tenant ID [--table ns.table] [--contract ID]',
    summary: 'Lists check runs, newest first.',
    prepare: (flags) => {
      const table = flags.table()
      const contract = flags.optional('contract')
      const input = {
        ...(table && { namespace: table.namespace, table: table.name }),
        ...(contract !== undefined && { contract }),
      }
      const names = { own: 'list_check_runs', admin: 'list_tenant_check_runs' }
      return { ...onTenant(flags, names, { ...input, limit: 1000 }), everyItem: true }
    },
  },
  ...(
    [
      ['show', 'get', 'Shows a check run with its progress and results.'],
      ['cancel', 'cancel', 'Cancels a check run; that of a deployment ends the deployment.'],
      ['resume', 'resume', 'Goes on with a check run that was cancelled or given up.'],
    ] as const
  ).map(
    ([word, verb, summary]): Command => ({
      words: `checks ${word}`,
      usage: '--tenant ID --id ID',
      summary,
      fields: ['id', 'state'],
      prepare: (flags) =>
        onTenant(
          flags,
          { own: `${verb}_check_run`, admin: `${verb}_tenant_check_run` },
          { id: flags.required('id') },
        ),
    }),
  ),
]
