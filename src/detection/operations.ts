/**
 * Declares the operations of detection: the alpha webhook (docs/reference/detection.md 2.1) and the resources under
 * /api/v1/detection. Decisions about findings need a license. The webhook does not, because it feeds a check (ADR 5).
 */

import { Type } from '@sinclair/typebox'
import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import { detectionDecisions, findingStatuses, runStates } from '../core/detection.ts'
import { operationsOf } from '../http/declare.ts'
import { tablePageRequest } from '../http/page-view.ts'
import {
  maybe,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  tableIdentifier,
  text,
  uuid,
} from '../http/schemas.ts'
import { limits } from '../limits.ts'
import { type AlphaWebhookParts, receiveAlphaWebhook } from './alpha-webhook.ts'
import { decideAboutFinding } from './decide-finding.ts'
import { findingClass, findingSchema } from './finding-view.ts'
import { listDetectionFindings } from './list-findings.ts'
import { listDetectionRuns } from './list-runs.ts'
import { rescanTable } from './rescan-table.ts'
import { runSchema, runWithAttemptsSchema } from './run-view.ts'
import { showDetectionRun } from './show-run.ts'

interface DetectionOperationParts extends AlphaWebhookParts {
  readonly catalogs: OpenCatalogs
  /** Called when a rescan was requested. */
  readonly wake: () => void
}

const operation = operationsOf<DetectionOperationParts>()
const root = '/api/v1/detection'
const tag = 'detection'
const reading = { scope: 'read', capability: 'detection' } as const
const rescanning = { scope: 'admin', capability: 'detection' } as const
/** Without a license too: who gets an alert must be able to look at it, and to reject a false one. */
/** Samples of values are for stewards. */
const givesFindings = {
  visible: ['existence', 'columns', 'counts'],
  overseen: ['values', 'counts'],
  overseers: ['steward'],
} as const
const readingFindings = { scope: 'read' } as const
const deciding = { scope: 'admin' } as const

export const detectionOperations = [
  operation({
    name: 'receive_alpha_webhook',
    tag,
    summary: 'Signed callback of an alpha catalog',
    method: 'POST',
    path: '/v1/webhooks/alpha',
    access: { open: 'signature' },
    gives: { nothing: 'own input' },
    headers: {
      'X-Alpha-Signature': { description: 'hex HMAC-SHA256 of the raw body', required: true },
      'X-Alpha-Tenant': { description: 'UUID of the tenant' },
    },
    input: Type.Object({
      tenant_id: maybe(uuid),
      metadata_location: text,
      namespace: Type.Optional(Type.Unknown()),
      table_name: Type.Optional(Type.Unknown()),
    }),
    status: 200,
    faults: {
      bad_request: 'The body, the signature header or a member is missing or malformed.',
      unauthenticated: 'No secret is configured, or the signature does not match.',
      gone: 'The webhook is switched off.',
    },
    respond: async ({ parts, request }) => {
      await receiveAlphaWebhook(parts, request)
      return new Response(null, { status: 200 })
    },
  }),
  operation({
    name: 'list_detection_runs',
    tag,
    summary: 'Detection runs, newest first',
    method: 'GET',
    path: `${root}/runs`,
    access: reading,
    gives: { visible: ['existence', 'counts'] },
    input: object({ ...tableFilter, state: maybe(oneOf(runStates)), ...pageInput }),
    output: pageOf(runSchema),
    run: ({ parts, caller }, { state, ...page }) =>
      listDetectionRuns(parts.store, caller.tenant, caller.principal, { state, ...tablePageRequest(page) }),
  }),
  operation({
    name: 'get_detection_run',
    tag,
    summary: 'A detection run with its attempts',
    method: 'GET',
    path: `${root}/runs/{id}`,
    access: reading,
    gives: { visible: ['existence', 'counts'] },
    input: object({ id: uuid }),
    output: runWithAttemptsSchema,
    faults: { not_found: 'The tenant has no such run.' },
    run: ({ parts, caller }, { id }) => showDetectionRun(parts.store, caller.tenant, caller.principal, id),
  }),
  operation({
    name: 'list_detection_findings',
    tag,
    summary: 'Findings, newest first',
    method: 'GET',
    path: `${root}/findings`,
    access: readingFindings,
    gives: givesFindings,
    input: object({
      ...tableFilter,
      run: maybe(uuid),
      status: maybe(oneOf(findingStatuses)),
      class: maybe(findingClass),
      confidence_min: maybe(Type.Number({ minimum: 0, maximum: 1 })),
      ...pageInput,
    }),
    output: pageOf(findingSchema),
    run: ({ parts, caller }, { run, confidence_min, namespace, table, limit, page_token, ...filter }) =>
      listDetectionFindings(parts.store, caller.tenant, caller.principal, {
        ...filter,
        ...tablePageRequest({ namespace, table, limit, page_token }),
        runId: run,
        confidenceMin: confidence_min,
      }),
  }),
  operation({
    name: 'decide_finding',
    tag,
    summary: 'Decides about the column and class of a finding',
    description:
      '`reject` and `exempt` take the tag away: they need the role `steward` on a verified credential, and a reason.',
    method: 'POST',
    path: `${root}/findings/{id}/decisions`,
    access: deciding,
    gives: givesFindings,
    input: object({
      id: uuid,
      decision: oneOf(detectionDecisions),
      reason: maybe(Type.String({ maxLength: limits.decisionReasonCharsMax })),
    }),
    output: findingSchema,
    faults: {
      forbidden: 'The caller lacks the scope `admin` or the role.',
      not_found: 'The tenant has no such finding.',
      conflict:
        'A contract with a life cycle governs the table, and nobody has signed that its tag is taken away.',
    },
    examples: [
      {
        input: {
          id: '8a6e0804-2bd0-4672-b79d-d97027f9071a',
          decision: 'exempt',
          reason: 'Synthetic addresses of the test shop.',
        },
      },
    ],
    run: async ({ parts, caller }, { id, decision, reason = '' }) =>
      await decideAboutFinding(parts.store, caller.tenant, await caller.actor(), id, { decision, reason }),
  }),
  operation({
    name: 'rescan_table',
    tag,
    summary: 'Scans the current snapshot of a table again',
    description:
      'The catalog is asked for the current metadata file. The scan is another attempt of its run, or the first of a new one.',
    method: 'POST',
    path: `${root}/rescans`,
    access: rescanning,
    gives: { visible: ['existence', 'counts'] },
    input: object({ table: tableIdentifier }),
    output: runSchema,
    status: 202,
    faults: {
      not_found: 'No snapshot of the table is known.',
      conflict: 'A scan of the table is queued or running.',
      unavailable: 'The catalog did not say which snapshot is current.',
    },
    examples: [{ input: { table: { namespace: ['sales'], name: 'people' } } }],
    run: async ({ parts, caller }, { table }) => {
      const run = await rescanTable(parts, caller.tenant, table, await caller.actor())
      parts.wake()
      return run
    },
  }),
]
