/**
 * Shows open intents, and settles one by a person's decision where recovery could not decide it. A settlement is
 * append-only, in the administration log, and ends the intent in the same transaction.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { appliedPolicy, type IntentHead, writesMetadata } from '../../core/commit.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { parseCommitRequest, renameDestination } from '../../wire/iceberg/commit-request.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { given } from '../database/conditions.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import { afterUuid, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import { policiesAtIntent } from '../policy/policy-history.ts'
import type { Store } from '../store.ts'
import { closeIntentIn, type StoredIntent, toIntent } from './commit-intents.ts'
import { recordVerdictIn } from './verdicts.ts'

/**
 * `in-progress`: a process, or a run of recovery, owns it, or the upstream may still work on it. `stale`: recovery decides
 * it, or could not.
 */
export const intentStates = ['in-progress', 'stale'] as const
type IntentState = (typeof intentStates)[number]

/** What recovery found of an intent that it could not decide. */
export interface IntentProposal {
  /** The file that the change may have written. */
  readonly metadataLocation: string
  /** What speaks for it, in words. */
  readonly evidence: string
  /** Whether the file can be no other change's. Otherwise a person settles the intent by itself. */
  readonly isProven: boolean
}

export interface OpenIntent {
  readonly intent: IntentHead
  readonly state: IntentState
  readonly openedAt: Date
  readonly proposed: IntentProposal | undefined
}

export interface OpenIntentWithBody extends OpenIntent {
  /** Compressed by zstd. */
  readonly body: Uint8Array
}

export const settlementOutcomes = ['made', 'not-made'] as const

export interface Settlement {
  readonly outcome: (typeof settlementOutcomes)[number]
  /** The file that the change wrote; for one that was made and writes metadata, and for no other. */
  readonly metadataLocation: string | undefined
  readonly reason: string
}

interface Row {
  readonly commit_id: string
  readonly intent: StoredIntent
  readonly state: IntentState
  readonly opened_at: Date
  readonly proposal: IntentProposal | null
}

const columns = `commit_id, intent, opened_at, proposal,
  case when lease_until < clock_timestamp() and (upstream_until < clock_timestamp() or intent ? 'answered') then 'stale' else 'in-progress' end as state`

function toOpenIntent({ intent, state, opened_at: openedAt, proposal }: Row): OpenIntent {
  return { intent: toIntent(intent), state, openedAt, proposed: proposal ?? undefined }
}

/** Notes what recovery found of an open intent, or that it found nothing. */
export async function noteProposal(
  store: Store,
  tenant: TenantId,
  commitId: string,
  proposal: IntentProposal | undefined,
): Promise<void> {
  await store.tenantQuery(
    tenant,
    `update svc.commit_intent set proposal = $3::text::jsonb
     where tenant_id = $1 and commit_id = $2 and proposal is distinct from $3::text::jsonb`,
    [tenant, commitId, proposal === undefined ? null : storableJson(proposal)],
  )
}

/**
 * The tenant's open intents, by commit id.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listIntents(
  store: Store,
  tenant: TenantId,
  filter: PageRequest & { readonly table?: TableRef | undefined } = {},
): Promise<Page<OpenIntent>> {
  const limit = pageLimit(filter)
  const { text, params } = given(
    [tenant, afterUuid(filter), limit + 1],
    ['table_id = ?::text', filter.table && nodeId(tableKey(filter.table))],
  )
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.commit_intent
     where tenant_id = $1 and commit_id > $2${text}
     order by commit_id limit $3::int`,
    params,
  )
  const page = toPage(rows, limit, (row) => row.commit_id)
  return { ...page, items: page.items.map(toOpenIntent) }
}

/** An open intent with its body; undefined if there is none. */
export async function findIntent(
  store: Store,
  tenant: TenantId,
  commitId: string,
): Promise<OpenIntentWithBody | undefined> {
  if (!isUuid(commitId)) return undefined
  const [row] = await store.tenantQuery<Row & { readonly body: Uint8Array }>(
    tenant,
    `select ${columns}, body from svc.commit_intent where tenant_id = $1 and commit_id = $2`,
    [tenant, commitId],
  )
  return row && { ...toOpenIntent(row), body: row.body }
}

/**
 * Ends an intent by a person's decision. A change that was made gets its `APPROVED` audit row, under the policies that
 * stood when the intent was opened; one that was not made gets none.
 * @throws Fault `not_found`; `conflict` where a process still owns the intent; `unprocessable` where the metadata
 *   location is missing, or the change has none
 */
export async function settleIntent(
  store: Store,
  tenant: TenantId,
  commitId: string,
  settlement: Settlement,
  actor: Actor,
): Promise<void> {
  const found = await findIntent(store, tenant, commitId)
  if (found === undefined) throw unknownIntent()
  checkSettlement(found.intent, settlement)
  const policies = await policiesAtIntent(store, tenant, found.intent.table, commitId)
  await store.tenantTransaction(tenant, async (tx) => {
    const { intent, body } = await lockIntent(tx, tenant, commitId)
    const { outcome, metadataLocation, reason } = settlement
    await tx.query(
      `insert into svc.intent_settlement
         (tenant_id, commit_id, outcome, reason, metadata_location, intent, body, opened_at, actor)
       select tenant_id, commit_id, $3, $4, $5, intent, body, opened_at, $6::text::jsonb
       from svc.commit_intent where tenant_id = $1 and commit_id = $2`,
      [tenant, commitId, outcome, storableText(reason), metadataLocation ?? null, storableJson(actor)],
    )
    if (outcome === 'made')
      await recordVerdictIn(tx, tenant, {
        intent: { ...intent, body },
        decision: 'APPROVED',
        reason: '',
        policies: policies.map(appliedPolicy),
        outcomes: [],
        ...(metadataLocation !== undefined && { committed: { metadataLocation } }),
        ...renamed(intent, body),
      })
    else await closeIntentIn(tx, tenant, commitId)
    await recordAdministration(tx, actor, {
      action: 'settle-intent',
      subject: { commit_id: commitId, table: intent.table },
      value: { outcome, reason, metadata_location: metadataLocation },
    })
  })
}

function checkSettlement({ action = 'update-table' }: IntentHead, settlement: Settlement): void {
  const { outcome, metadataLocation, reason } = settlement
  if (reason.trim() === '' || reason.length > limits.decisionReasonCharsMax)
    throw new Fault('bad_request', `The reason must have 1 to ${limits.decisionReasonCharsMax} characters.`)
  const needed = outcome === 'made' && writesMetadata(action)
  if (needed && !metadataLocation)
    throw new Fault('unprocessable', 'A change that was made needs the metadata location that it wrote.')
  if (!needed && metadataLocation !== undefined)
    throw new Fault('unprocessable', 'This change wrote no metadata file, so it has no metadata location.')
}

/** The new name, for a rename of a table. */
function renamed({ action }: IntentHead, body: Uint8Array): { readonly renamedTo?: TableRef } {
  if (action !== 'rename-table') return {}
  const { updates } = parseCommitRequest(Bun.zstdDecompressSync(body as Uint8Array<ArrayBuffer>))
  const renamedTo = updates[0] && renameDestination(updates[0])
  return renamedTo === undefined ? {} : { renamedTo }
}

/** The intent, locked until the transaction ends. */
async function lockIntent(tx: Tx, tenant: TenantId, commitId: string) {
  const [row] = await tx.query<Row & { readonly body: Uint8Array }>(
    `select ${columns}, body from svc.commit_intent where tenant_id = $1 and commit_id = $2 for update`,
    [tenant, commitId],
  )
  if (row === undefined) throw unknownIntent()
  if (row.state !== 'stale')
    throw new Fault('conflict', 'The change is still in progress, or recovery is deciding it. Retry later.')
  return { ...toOpenIntent(row), body: row.body }
}

function unknownIntent(): Fault {
  return new Fault('not_found', 'The tenant has no such open intent.')
}
