/** The audit log, refusals and open commit intents: to read, never to change. */

import { Fault } from '../base/fault.ts'
import { decisions } from '../core/decision.ts'
import { type AuditRecord, findAudit, listAudit } from '../store/commit/audit.ts'
import { countIntents, intentsOnTable } from '../store/commit/commit-intents.ts'
import { listRefusals } from '../store/commit/refusals.ts'
import { type Command, onTenant } from './command.ts'

const entriesDefault = 50
const entriesMax = 1000

const shownMembers = [
  'commitId',
  'action',
  'committer',
  'decision',
  'reason',
  'createdAt',
  'tenant',
  'principalSource',
  'table',
  'baseMetadataLocation',
  'metadataLocation',
  'requestId',
  'principal',
  'credentialId',
  'bodySha256',
  'policies',
  'outcomes',
  'receivedAtMs',
] satisfies (keyof AuditRecord)[]

export const auditCommands: readonly Command[] = [
  {
    words: 'audit list',
    usage: `--tenant ID [--table ns.table] [--decision ${decisions.join('|')}] [--limit ${entriesDefault}] [--after NEXT]`,
    summary: 'Shows decisions, newest first. `next`, where it is there, is the --after of the next page.',
    fields: ['items', 'next'],
    prepare(flags) {
      const table = flags.table()
      const decision = flags.choice('decision', decisions)
      const limit = flags.integer('limit', 1, entriesMax) ?? entriesDefault
      const after = flags.optional('after')
      return onTenant(flags, (store, tenant) =>
        listAudit(store, tenant, {
          limit,
          ...(table && { table }),
          ...(decision && { decision }),
          ...(after !== undefined && { after }),
        }),
      )
    },
  },
  {
    words: 'audit show',
    usage: '--tenant ID --id DECISION',
    summary:
      'Shows one decision (X-Svc-Decision-Id): the policies as they stood, and what each saw and said.',
    fields: shownMembers,
    prepare(flags) {
      const id = flags.required('id')
      return onTenant(flags, async (store, tenant) => {
        const record = await findAudit(store, tenant, id)
        if (record === undefined) throw new Fault('not_found', 'The tenant has no such decision on record.')
        const { body: _, ...shown } = record
        return shown
      })
    },
  },
  {
    words: 'refusal list',
    usage: `--tenant ID [--request ID] [--table ns.table] [--limit ${entriesDefault}] [--after NEXT]`,
    summary:
      'Shows changes that were denied or got no verdict, newest first. --request is the X-Request-Id of the response.',
    fields: ['items', 'next'],
    prepare(flags) {
      const requestId = flags.optional('request')
      const table = flags.table()
      const limit = flags.integer('limit', 1, entriesMax) ?? entriesDefault
      const after = flags.optional('after')
      return onTenant(flags, (store, tenant) =>
        listRefusals(store, tenant, { requestId, table, limit, after }),
      )
    },
  },
  {
    words: 'intent count',
    usage: '',
    summary: 'Counts commit intents of all tenants: open, and stale, which is left for recovery.',
    fields: ['open', 'stale'],
    prepare: () => countIntents,
  },
  {
    words: 'intent list',
    usage: '--tenant ID --table ns.table',
    summary: 'Lists the commit ids of open intents on a table.',
    prepare(flags) {
      const table = flags.requiredTable()
      return onTenant(flags, (store, tenant) => intentsOnTable(store, tenant, table))
    },
  },
]
