/** Commands on open commit intents: what is open, one of them with its request, and settling what recovery left. */

import type { intentDetailView } from '../gateway/oversight/intent-views.ts'
import { settlementOutcomes } from '../store/commit/intent-settlements.ts'
import { type Command, onTenant, type Wanted } from './command.ts'
import { UsageError } from './exit-status.ts'
import type { Flags } from './flags.ts'

const detailFields = [
  ...(['commit_id', 'state', 'opened_at', 'action', 'table', 'principal', 'principal_source'] as const),
  ...(['request_id', 'base_metadata_location', 'catalog', 'credential_id', 'snapshot_ids'] as const),
  ...(['received_at', 'transaction', 'body_sha256', 'request', 'proposed'] as const),
] satisfies (keyof ReturnType<typeof intentDetailView>)[]

export const intentCommands: readonly Command[] = [
  {
    words: 'intent count',
    usage: '',
    summary: 'Counts commit intents of all tenants: open ones, and stale ones, which await recovery.',
    fields: ['open', 'stale'],
    prepare: () => ({ operation: 'count_intents', input: {} }),
  },
  {
    words: 'intent list',
    usage: '--tenant ID [--table ns.table]',
    summary: 'Lists open intents. A stale one is decided by recovery, or left to you.',
    prepare(flags) {
      const table = flags.table()
      const ofTable = table && { namespace: table.namespace, table: table.name }
      const input = { ...ofTable, limit: 1000 }
      return {
        ...onTenant(flags, { own: 'list_intents', admin: 'list_tenant_intents' }, input),
        everyItem: true,
      }
    },
  },
  {
    words: 'intent show',
    usage: '--tenant ID --id COMMIT',
    summary: 'Shows an open intent with its request.',
    fields: detailFields,
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'show_intent', admin: 'show_tenant_intent' },
        { commit_id: flags.required('id') },
      ),
  },
  {
    words: 'intent settle',
    usage: `--tenant ID (--id COMMIT --outcome ${settlementOutcomes.join('|')} [--metadata LOCATION] | --all-proven [--table ns.table]) --reason TEXT`,
    switches: ['all-proven'],
    summary:
      'Ends a stale intent that recovery could not decide. `made` writes its audit row; a commit needs the metadata location that it wrote. With --all-proven, ends as made all that `intent list` shows with a proven file.',
    prepare(flags) {
      const reason = flags.required('reason')
      if (flags.isSet('all-proven')) return allProven(flags, reason)
      const input = {
        commit_id: flags.required('id'),
        outcome: flags.requiredChoice('outcome', settlementOutcomes),
        reason,
        metadata_location: flags.optional('metadata'),
      }
      return onTenant(flags, { own: 'settle_intent', admin: 'settle_tenant_intent' }, input)
    },
  },
]

/** @throws UsageError where a flag of one intent is given, too */
function allProven(flags: Flags, reason: string): Wanted {
  if (['id', 'outcome', 'metadata'].some((name) => flags.optional(name) !== undefined))
    throw new UsageError('--all-proven takes no --id, --outcome or --metadata')
  const table = flags.table()
  const input = { reason, ...(table && { namespace: table.namespace, table: table.name }) }
  return onTenant(flags, { own: 'settle_proven_intents', admin: 'settle_tenant_proven_intents' }, input)
}
