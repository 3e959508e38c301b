/** What governs reading tables, under /api/v1/contracts: contracts, row filters, column masks, tags, pins. */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import { type Asking, readFields } from '../auth/administration/body.ts'
import { answerFaults } from '../auth/answer.ts'
import { type FindSession, requireSession } from '../auth/guard.ts'
import { pageOf } from '../auth/page-query.ts'
import type { IdentifyPrincipal } from '../auth/principal-chain.ts'
import { type PrivilegedRole, requireRole, verifiedPrincipal } from '../auth/verified-principal.ts'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { Operation } from '../base/json-schema.ts'
import type { TableStates } from '../catalog/table-states.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { listContractChanges } from '../store/contract-changes.ts'
import type { FilterTarget, MaskTarget } from '../store/contract-targets.ts'
import {
  type CheckPolicies,
  type ContractStore,
  deleteContract,
  deleteMask,
  deleteRowFilter,
  deleteTag,
  putContract,
  putMask,
  putRowFilter,
  putTag,
} from '../store/contracts.ts'
import { loadDeclaredSchema } from '../store/declared-schema.ts'
import { loadGovernance } from '../store/governance.ts'
import { listPins } from '../store/pins.ts'
import { putReadSettings, readSettings } from '../store/read-settings.ts'
import type { Store } from '../store/store.ts'
import {
  changesDetail,
  deleteContractDetail,
  deleteMaskDetail,
  deleteRowFilterDetail,
  deleteTagDetail,
  pinDetail,
  pinsDetail,
  putContractDetail,
  putMaskDetail,
  putRowFilterDetail,
  putSettingsDetail,
  putTagDetail,
  settingsDetail,
  tableDetail,
  unpinDetail,
} from './open-api.ts'
import { pinSnapshot, unpinSnapshot } from './pin-table.ts'
import { readContractSchema, schemaMembers } from './read-schema.ts'
import { pinView, settingsView, tableView } from './table-view.ts'

export interface ContractParts {
  readonly store: Store
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
  readonly log: Logger
  readonly clock: Clock
  readonly states: TableStates
  /** What the read path finds wrong with a table's policies. */
  readonly checkPolicies: CheckPolicies
}

type Params = Readonly<Record<string, string>>
/** Gives the response, false where there was nothing to remove, or anything else for 204. */
type Change = (on: ContractStore, params: Params, asking: Asking, parts: ContractParts) => Promise<unknown>
type Route = { readonly request: Request; readonly params: Params }

const root = '/api/v1/contracts'
const table = `${root}/tables/:namespace/:table`
const column = `${table}/columns/:column`
const tag = `${root}/tags/:tag`
const settings = `${root}/settings`
/** Where policies are attached. */
const places = { table, column, tag }

/** Reading takes the scope `read`; changing takes `admin` and the role of a steward. */
export function contractRoutes(parts: ContractParts) {
  const app = new Elysia({ name: 'contract' })
    .get(
      table,
      ({ request, params }: Route) => answerFaults(parts.log, () => showTable(parts, request, params)),
      { detail: tableDetail },
    )
    .get(
      `${table}/pins`,
      ({ request, params }: Route) => answerFaults(parts.log, () => showPins(parts, request, params)),
      { detail: pinsDetail },
    )
    .get(settings, ({ request }: Route) => answerFaults(parts.log, () => showSettings(parts, request)), {
      detail: settingsDetail,
    })
    .get(
      `${root}/changes`,
      ({ request }: Route) => answerFaults(parts.log, () => showChanges(parts, request)),
      { detail: changesDetail },
    )
    .put(settings, ({ request }: Route) => answerFaults(parts.log, () => saveSettings(parts, request)), {
      parse: 'none',
      detail: putSettingsDetail,
    })
  for (const [method, path, detail, make] of changes)
    app.route(
      method,
      path,
      ({ request, params }: Route) =>
        answerFaults(parts.log, async () => {
          const again = () => requireChanger(parts, request, 'steward')
          const { tenant, actor } = await again()
          const { store, checkPolicies } = parts
          const on = { store, tenant, actor, checkPolicies }
          const done = await make(on, params, { request, again }, parts)
          if (done === false) throw new Fault('not_found', 'There is no such thing to remove.')
          return done instanceof Response ? done : new Response(null, { status: 204 })
        }),
      { parse: 'none', detail },
    )
  return app
}

/** Who changes contracts. @throws Fault `unauthenticated`, `forbidden` without the scope or one of the roles */
async function requireChanger(
  { findSession, identify }: ContractParts,
  request: Request,
  ...roles: readonly PrivilegedRole[]
): Promise<{ readonly tenant: TenantId; readonly actor: string }> {
  const session = await requireSession(request, findSession, 'admin')
  const { sub } = await requireRole(identify, request, session, ...roles)
  return { tenant: session.tenant, actor: sub }
}

async function showTable(parts: ContractParts, request: Request, params: Params): Promise<Response> {
  const session = await requireSession(request, parts.findSession, 'read')
  const { roles } = await verifiedPrincipal(parts.identify, request, session)
  const ref = tableOf(params)
  const [governance, schema] = await Promise.all([
    loadGovernance(parts.store, session.tenant, ref),
    loadDeclaredSchema(parts.store, session.tenant, ref),
  ])
  if (governance === undefined) throw noTable()
  return Response.json(tableView(governance, schema, roles.includes('steward')))
}

async function showPins(parts: ContractParts, request: Request, params: Params): Promise<Response> {
  const session = await requireSession(request, parts.findSession, 'read')
  await verifiedPrincipal(parts.identify, request, session)
  const { tenant } = session
  const ref = tableOf(params)
  const page = pageOf(request)
  if ((await loadGovernance(parts.store, tenant, ref)) === undefined) throw noTable()
  const pins = await listPins(parts.store, tenant, ref, page)
  return Response.json({ ...pins, items: pins.items.map(pinView) })
}

async function showSettings(parts: ContractParts, request: Request): Promise<Response> {
  const session = await requireSession(request, parts.findSession, 'read')
  await requireRole(parts.identify, request, session, 'steward', 'administrator')
  return Response.json(settingsView(await readSettings(parts.store, session.tenant)))
}

async function saveSettings(parts: ContractParts, request: Request): Promise<Response> {
  const again = () => requireChanger(parts, request, 'steward', 'administrator')
  const { tenant, actor } = await again()
  const fields = await readFields({ request, again }, 'readable_without_contract')
  const readableWithoutContract = fields.object.get('readable_without_contract')
  if (typeof readableWithoutContract !== 'boolean')
    throw new Fault('bad_request', '`readable_without_contract` must be true or false.')
  await putReadSettings(parts.store, tenant, actor, { readableWithoutContract })
  return new Response(null, { status: 204 })
}

/** Changes hold the text of policies, so they are for those who may see it. */
async function showChanges(parts: ContractParts, request: Request): Promise<Response> {
  const session = await requireSession(request, parts.findSession, 'read')
  await requireRole(parts.identify, request, session, 'steward', 'administrator')
  return Response.json(await listContractChanges(parts.store, session.tenant, pageOf(request)))
}

const noTable = () => new Fault('not_found', 'There is no such table.')

const changes: readonly (readonly [
  method: 'PUT' | 'DELETE' | 'POST',
  path: string,
  detail: Operation,
  make: Change,
])[] = [
  [
    'PUT',
    table,
    putContractDetail,
    async (on, params, asking) => {
      const fields = await readFields(asking, 'id', 'version', ...schemaMembers)
      const version = fields.object.get('version')
      await putContract(on, tableOf(params), {
        id: fields.text('id'),
        version: typeof version === 'number' || typeof version === 'bigint' ? Number(version) : Number.NaN,
        schema: readContractSchema(fields, tableOf(params)),
      })
    },
  ],
  ['DELETE', table, deleteContractDetail, (on, params) => deleteContract(on, tableOf(params))],
  ...(['table', 'column', 'tag'] as const).flatMap((place): (typeof changes)[number][] => [
    ['PUT', `${places[place]}/row-filters/:id`, putRowFilterDetail(place), saveRowFilter],
    [
      'DELETE',
      `${places[place]}/row-filters/:id`,
      deleteRowFilterDetail(place),
      (on, params) => deleteRowFilter(on, filterTarget(params), params.id ?? ''),
    ],
  ]),
  ...(['column', 'tag'] as const).flatMap((place): (typeof changes)[number][] => [
    ['PUT', `${places[place]}/masks/:id`, putMaskDetail(place), saveMask],
    [
      'DELETE',
      `${places[place]}/masks/:id`,
      deleteMaskDetail(place),
      (on, params) => deleteMask(on, maskTarget(params), params.id ?? ''),
    ],
  ]),
  [
    'PUT',
    `${column}/tags/:tag`,
    putTagDetail,
    (on, params) => putTag(on, tableOf(params), params.column ?? '', params.tag ?? ''),
  ],
  [
    'DELETE',
    `${column}/tags/:tag`,
    deleteTagDetail,
    (on, params) => deleteTag(on, tableOf(params), params.column ?? '', params.tag ?? ''),
  ],
  [
    'POST',
    `${table}/pin`,
    pinDetail,
    async (on, params, asking, parts) => {
      const fields = await readFields(asking, 'catalog', 'snapshot_id')
      return Response.json(pinView(await pinSnapshot(parts, on, tableOf(params), fields)))
    },
  ],
  [
    'POST',
    `${table}/unpin`,
    unpinDetail,
    async (on, params, _, parts) => Response.json(pinView(await unpinSnapshot(parts, on, tableOf(params)))),
  ],
]

async function saveRowFilter(on: ContractStore, params: Params, asking: Asking): Promise<void> {
  const fields = await readFields(asking, 'expression', 'exempt_roles')
  await putRowFilter(on, filterTarget(params), {
    id: params.id ?? '',
    expression: fields.text('expression'),
    exemptRoles: fields.texts('exempt_roles'),
  })
}

async function saveMask(on: ContractStore, params: Params, asking: Asking): Promise<void> {
  const fields = await readFields(asking, 'action', 'expression', 'exempt_roles')
  await putMask(on, maskTarget(params), {
    id: params.id ?? '',
    action: fields.text('action'),
    expression: fields.optionalText('expression'),
    exemptRoles: fields.texts('exempt_roles'),
  })
}

function filterTarget(params: Params): FilterTarget {
  if (params.tag === undefined && params.column === undefined) return { table: tableOf(params) }
  return maskTarget(params)
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
