/** Commands that read the audit log, the administration log and refusals. They change nothing. */

import { administrationActions } from '../core/administration.ts'
import { auditEntry } from '../core/audit-entry.ts'
import { decisions } from '../core/decision.ts'
import { shownNames } from '../core/record.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { decisionRecordView } from '../gateway/oversight/views.ts'
import { exportFormats } from '../http/export-formats.ts'
import { type Command, onTenant } from './command.ts'
import type { Flags } from './flags.ts'

const entriesDefault = 50
const entriesMax = 1000

const pageFields = ['items', 'next_page_token']
const pageUsage = `[--limit ${entriesDefault}] [--after NEXT]`

const decisionUsage = `[--table ns.table] [--decision ${decisions.join('|')}] [--principal SUBJECT] [--policy ID] [--request ID] [--session ID] [--client AGENT] [--application ID] [--branch NAME] [--from TIME] [--to TIME]`

/** The members of a request that select decisions. */
function decisionFilter(flags: Flags) {
  return {
    ...filtered(flags.table()),
    decision: flags.choice('decision', decisions),
    principal: flags.optional('principal'),
    policy: flags.optional('policy'),
    request_id: flags.optional('request'),
    session: flags.optional('session'),
    client: flags.optional('client'),
    application_id: flags.optional('application'),
    branch: flags.optional('branch'),
    from: flags.optional('from'),
    to: flags.optional('to'),
  }
}

const recordFields = [
  ...shownNames(auditEntry),
  'principal',
  'credential_id',
  'body_sha256',
  'policies',
  'outcomes',
  'received_at_ms',
] satisfies (keyof ReturnType<typeof decisionRecordView>)[]

/** The members of a request that select a page. */
function page(flags: Flags) {
  return {
    limit: flags.integer('limit', 1, entriesMax) ?? entriesDefault,
    page_token: flags.optional('after'),
  }
}

/** The members of a request that name a table. */
function filtered(table: TableRef | undefined) {
  return { namespace: table?.namespace, table: table?.name }
}

export const auditCommands: readonly Command[] = [
  {
    words: 'audit list',
    usage: `--tenant ID ${decisionUsage} ${pageUsage}`,
    summary: 'Shows decisions, newest first. If there is a next page, `next_page_token` is its --after.',
    fields: pageFields,
    prepare(flags) {
      const input = { ...decisionFilter(flags), ...page(flags) }
      return onTenant(flags, { own: 'list_decisions', admin: 'list_tenant_decisions' }, input)
    },
  },
  {
    words: 'audit export',
    usage: `--tenant ID ${decisionUsage} [--format ${exportFormats.join('|')}]`,
    summary: 'Prints decisions with their explanations as CSV or JSON Lines (default), newest first.',
    details:
      'A page at a time is loaded and printed. A failure ends with its exit status, and the text is not whole.',
    async prepare(flags) {
      const input = { ...decisionFilter(flags), explain: true, limit: 100 }
      const format = flags.choice('format', exportFormats) ?? 'jsonl'
      const { exportHead, exportRecord } = await import('../gateway/oversight/decision-text.ts')
      return {
        ...onTenant(flags, { own: 'list_decisions', admin: 'list_tenant_decisions' }, input),
        printsItems: {
          head: exportHead(format),
          item: (one) => exportRecord(format, one as Parameters<typeof exportRecord>[1]),
        },
      }
    },
  },
  {
    words: 'audit show',
    usage: '--tenant ID --id DECISION',
    summary: 'Shows one decision (X-Svc-Decision-Id): its policies at that time, their inputs and outcomes.',
    fields: recordFields,
    prepare: (flags) =>
      onTenant(flags, { own: 'get_decision', admin: 'get_tenant_decision' }, { id: flags.required('id') }),
  },
  {
    words: 'audit administration',
    usage: `--tenant ID [--action ACTION] [--actor SUBJECT] [--request ID] ${pageUsage}`,
    summary:
      'Shows who administered a tenant, newest first: sessions, catalogs, policies, contracts, decisions.',
    fields: pageFields,
    prepare(flags) {
      const input = {
        action: flags.choice('action', administrationActions),
        actor: flags.optional('actor'),
        request_id: flags.optional('request'),
        ...page(flags),
      }
      return onTenant(flags, { own: 'list_administration', admin: 'list_tenant_administration' }, input)
    },
  },
  {
    words: 'refusal list',
    usage: `--tenant ID [--request ID] [--table ns.table] ${pageUsage}`,
    summary:
      'Shows changes that were denied or got no verdict, newest first. --request is the X-Request-Id of the response.',
    fields: pageFields,
    prepare(flags) {
      const input = { request_id: flags.optional('request'), ...filtered(flags.table()), ...page(flags) }
      return onTenant(flags, { own: 'list_refusals', admin: 'list_tenant_refusals' }, input)
    },
  },
]
