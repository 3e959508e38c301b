/** Commands that read the audit log, the administration log, refusals and open commit intents. They change nothing. */

import { Fault } from '../base/fault.ts'
import { administrationActions } from '../core/administration.ts'
import { decisions } from '../core/decision.ts'
import { listAdministration } from '../store/administration/administration-log.ts'
import { findAudit, listAudit } from '../store/commit/audit.ts'
import { countIntents, intentsOnTable } from '../store/commit/commit-intents.ts'
import { listRefusals } from '../store/commit/refusals.ts'
import { type Command, onTenant } from './command.ts'
import { decisionRecordView, decisionView } from './views.ts'

const entriesDefault = 50
const entriesMax = 1000

const shownMembers = [
  'commit_id',
  'action',
  'committer',
  'decision',
  'reason',
  'created_at',
  'tenant_id',
  'principal_source',
  'table',
  'base_metadata_location',
  'metadata_location',
  'request_id',
  'principal',
  'credential_id',
  'body_sha256',
  'policies',
  'outcomes',
  'received_at_ms',
] satisfies (keyof ReturnType<typeof decisionRecordView>)[]

export const auditCommands: readonly Command[] = [
  {
    words: 'audit list',
    usage: `--tenant ID [--table ns.table] [--decision ${decisions.join('|')}] [--limit ${entriesDefault}] [--after NEXT]`,
    summary: 'Shows decisions, newest first. If there is a next page, `next` is its --after.',
    fields: ['items', 'next'],
    prepare(flags) {
      const table = flags.table()
      const decision = flags.choice('decision', decisions)
      const limit = flags.integer('limit', 1, entriesMax) ?? entriesDefault
      const after = flags.optional('after')
      return onTenant(flags, async (store, tenant) => {
        const page = await listAudit(store, tenant, {
          limit,
          ...(table && { table }),
          ...(decision && { decision }),
          ...(after !== undefined && { after }),
        })
        return { ...page, items: page.items.map(decisionView) }
      })
    },
  },
  {
    words: 'audit show',
    usage: '--tenant ID --id DECISION',
    summary: 'Shows one decision (X-Svc-Decision-Id): its policies at that time, their inputs and outcomes.',
    fields: shownMembers,
    prepare(flags) {
      const id = flags.required('id')
      return onTenant(flags, async (store, tenant) => {
        const record = await findAudit(store, tenant, id)
        if (record === undefined) throw new Fault('not_found', 'The tenant has no such decision.')
        return decisionRecordView(record)
      })
    },
  },
  {
    words: 'audit administration',
    usage: `--tenant ID [--action ACTION] [--actor SUBJECT] [--request ID] [--limit ${entriesDefault}] [--after NEXT]`,
    summary:
      'Shows who administered a tenant, newest first: sessions, catalogs, policies, contracts, decisions.',
    fields: ['items', 'next'],
    prepare(flags) {
      const action = flags.choice('action', administrationActions)
      const actor = flags.optional('actor')
      const requestId = flags.optional('request')
      const limit = flags.integer('limit', 1, entriesMax) ?? entriesDefault
      const after = flags.optional('after')
      return onTenant(flags, (store, tenant) =>
        listAdministration(store, tenant, { action, actor, requestId, limit, after }),
      )
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
    summary: 'Counts commit intents of all tenants: open ones, and stale ones, which await recovery.',
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
