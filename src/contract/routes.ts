/** What governs reading tables, under /api/v1/contracts: contracts, row filters, column masks, tags. */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import { readFields } from '../auth/administration/body.ts'
import { answerFaults } from '../auth/answer.ts'
import { type FindSession, requireSession } from '../auth/guard.ts'
import type { IdentifyPrincipal } from '../auth/principal-chain.ts'
import { requireRole, verifiedPrincipal } from '../auth/verified-principal.ts'
import { Fault } from '../base/fault.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import {
  type CheckPolicies,
  type ContractStore,
  deleteContract,
  deleteMask,
  deleteRowFilter,
  deleteTag,
  type MaskTarget,
  putContract,
  putMask,
  putRowFilter,
  putTag,
} from '../store/contracts.ts'
import { loadGovernance } from '../store/governance.ts'
import type { Store } from '../store/store.ts'
import { tableView } from './table-view.ts'

export interface ContractParts {
  readonly store: Store
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
  readonly log: Logger
  /** What the read path finds wrong with a table's policies. */
  readonly checkPolicies: CheckPolicies
}

type Params = Readonly<Record<string, string>>
/** Answers false where there was nothing to remove. */
type Change = (on: ContractStore, params: Params, request: Request) => Promise<unknown>

const table = '/api/v1/contracts/tables/:namespace/:table'
const columnMask = `${table}/columns/:column/masks/:id`
const tagMask = '/api/v1/contracts/tags/:tag/masks/:id'

/** Reading takes the scope `read`; changing takes `admin` and the role of a steward. */
export function contractRoutes(parts: ContractParts) {
  const app = new Elysia({ name: 'contract' }).get(
    table,
    ({ request, params }: { request: Request; params: Params }) =>
      answerFaults(parts.log, () => showTable(parts, request, params)),
  )
  for (const [method, path, make] of changes)
    app.route(
      method,
      path,
      ({ request, params }: { request: Request; params: Params }) =>
        answerFaults(parts.log, async () => {
          const session = await requireSession(request, parts.findSession, 'admin')
          await requireRole(parts.identify, request, session, 'steward')
          const { store, checkPolicies } = parts
          const done = await make({ store, tenant: session.tenant, checkPolicies }, params, request)
          if (done === false) throw new Fault('not_found', 'There is no such thing to remove.')
          return new Response(null, { status: 204 })
        }),
      { parse: 'none' },
    )
  return app
}

async function showTable(parts: ContractParts, request: Request, params: Params): Promise<Response> {
  const session = await requireSession(request, parts.findSession, 'read')
  const { roles } = await verifiedPrincipal(parts.identify, request, session)
  const governance = await loadGovernance(parts.store, session.tenant, tableOf(params))
  if (governance === undefined) throw new Fault('not_found', 'There is no such table.')
  return Response.json(tableView(governance, roles.includes('steward')))
}

const changes: readonly (readonly [method: 'PUT' | 'DELETE', path: string, make: Change])[] = [
  [
    'PUT',
    table,
    async (on, params, request) => {
      const fields = await readFields(request, 'id', 'version')
      const version = fields.object.get('version')
      await putContract(on, tableOf(params), {
        id: fields.text('id'),
        version: typeof version === 'number' || typeof version === 'bigint' ? Number(version) : Number.NaN,
      })
    },
  ],
  ['DELETE', table, (on, params) => deleteContract(on, tableOf(params))],
  [
    'PUT',
    `${table}/row-filters/:id`,
    async (on, params, request) => {
      const fields = await readFields(request, 'expression', 'exempt_roles')
      await putRowFilter(on, tableOf(params), {
        id: params.id ?? '',
        expression: fields.text('expression'),
        exemptRoles: fields.texts('exempt_roles'),
      })
    },
  ],
  [
    'DELETE',
    `${table}/row-filters/:id`,
    (on, params) => deleteRowFilter(on, tableOf(params), params.id ?? ''),
  ],
  ...[columnMask, tagMask].flatMap((path) => [
    ['PUT', path, saveMask] as const,
    [
      'DELETE',
      path,
      (on: ContractStore, params: Params) => deleteMask(on, maskTarget(params), params.id ?? ''),
    ] as const,
  ]),
  [
    'PUT',
    `${table}/columns/:column/tags/:tag`,
    (on, params) => putTag(on, tableOf(params), params.column ?? '', params.tag ?? ''),
  ],
  [
    'DELETE',
    `${table}/columns/:column/tags/:tag`,
    (on, params) => deleteTag(on, tableOf(params), params.column ?? '', params.tag ?? ''),
  ],
]

async function saveMask(on: ContractStore, params: Params, request: Request): Promise<void> {
  const fields = await readFields(request, 'action', 'expression', 'exempt_roles')
  await putMask(on, maskTarget(params), {
    id: params.id ?? '',
    action: fields.text('action'),
    expression: fields.optionalText('expression'),
    exemptRoles: fields.texts('exempt_roles'),
  })
}

function maskTarget(params: Params): MaskTarget {
  if (params.tag !== undefined) return { tag: params.tag }
  return { table: tableOf(params), column: params.column ?? '' }
}

/** Namespace levels are joined by U+001F, as in the Iceberg REST specification. */
function tableOf({ namespace = '', table: name = '' }: Params): TableRef {
  const levels = namespace.split('\u001f')
  if (![...levels, name].every(isPathIdentifier))
    throw new Fault('bad_request', 'Namespaces and tables hold letters, digits, _ and - only.')
  return { namespace: levels, name }
}
