/** Defines the request that handlers of the client surface receive, and builds their responses. */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import { purposeHeader, purposeOfHeader } from '../../core/purpose.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import { opensUncontracted } from '../../core/uncontracted.ts'
import { limits } from '../../limits.ts'
import { storageRoots } from '../../storage/roots.ts'
import { type FileSight, sightOfTable } from '../../store/governance/protections.ts'
import { vendingModeOf } from '../../vending/settings.ts'
import type { CommitBody } from '../base/body.ts'
import { type Disclosed, type Disclosure, discloseReply } from '../base/disclosure.ts'
import { warningHeader } from '../base/faults.ts'
import type { PipelineRequest } from '../pipeline.ts'
import { sightOf } from '../stages/masked.ts'
import type { ClientPath } from './client-path.ts'

export interface SurfaceRequest extends PipelineRequest<ClientPath> {
  readonly query: URLSearchParams
}

/** The table, view or function in the path. */
export function tableRefOf({ path }: Pick<SurfaceRequest, 'path'>): TableRef {
  return { namespace: path.namespace, name: path.name }
}

/** How errors name the table in the path, or its namespace. */
export function subjectOf({ path }: SurfaceRequest): string {
  if (path.name !== '') return tableName({ namespace: path.namespace, name: path.name })
  return path.namespace.length === 0 ? 'the catalog' : `namespace ${path.namespace.join('.')}`
}

/** Levels that a body gains when the intent stores it as an update of a commit, which must stay readable. */
const storedLevels = 2

/** Parses a body. Throws a Fault `bad_request` if it is not a JSON object. */
export function objectOf(body: CommitBody): JsonObject {
  const value = parseJson(body.bytes, { depthMax: limits.jsonDepthMax - storedLevels })
  if (!isJsonObject(value)) throw new Fault('bad_request', 'The body must be an object.')
  return value
}

/** Whether the service plans scans of this catalog's tables itself: it issues or signs what opens their files. */
export function plansScans({ credential }: SurfaceRequest['upstream']): boolean {
  return ['vend', 'sign'].includes(vendingModeOf(credential))
}

/** The access that the client asks to be delegated; undefined if it asks for none. */
export function delegationOf({ request }: SurfaceRequest): string | undefined {
  return request.headers.get('x-iceberg-access-delegation') ?? undefined
}

/** The purpose that the request names. @throws Fault `bad_request` */
export function purposeOf({ request }: Pick<SurfaceRequest, 'request'>): string | undefined {
  return purposeOfHeader(request.headers.get(purposeHeader))
}

/** The refusal of a table's files without a purpose that its contract demands. @param demands as in FileSight */
export function purposeDemanded(demands: string): Fault {
  return new Fault('policy_denied', `policy denied: ${demands}. Name the purpose in the header X-Svc-Purpose`)
}

/** With what the look-up said. */
interface SeenDisclosure extends Disclosure {
  readonly sight: FileSight
}

/**
 * What a response about a table may disclose to this client.
 * @throws Fault `unavailable` if the look-up of filters and masks fails
 */
export async function disclosureOf(surface: SurfaceRequest, table: TableRef): Promise<SeenDisclosure> {
  const { parts, tenant, identified, upstream, mayCommit } = surface
  const sight = await sightOf(parts, tenant, table, identified, purposeOf(surface))
  const { masked } = sight
  const { credential } = upstream
  const passes = vendingModeOf(credential) === 'pass-through' && storageRoots(credential.config).length > 0
  // How long credentials of the upstream last is not said, and a grant ends.
  const mayPass = passes && !masked && sight.untilMs === undefined
  const vended = mayPass && delegationOf(surface) !== undefined
  return { masked, vended, commits: mayCommit, denied: isDenied(sight, mayCommit), sight }
}

/** A disclosure as it is about the table with this uuid, which may not be the one that access was granted to. */
export function disclosureFor(of: SeenDisclosure, tableUuid: string | undefined): SeenDisclosure {
  const sight = sightOfTable(of.sight, tableUuid)
  return sight === of.sight ? of : { ...of, sight, masked: true, vended: false }
}

/** As {@link disclosureOf}, of a table that is being made: no grant is about it. */
export async function newDisclosureOf(surface: SurfaceRequest, table: TableRef): Promise<SeenDisclosure> {
  const found = await disclosureOf(surface, table)
  const { untilMs, ...sight } = found.sight
  return untilMs === undefined ? found : { ...found, sight: { ...sight, masked: true }, masked: true }
}

/**
 * What the response to a read may disclose.
 * @throws Fault as {@link disclosureOf}; `policy_denied` where the caller may not read the table without a contract
 */
export async function readDisclosureOf(surface: SurfaceRequest, table: TableRef): Promise<SeenDisclosure> {
  const disclosure = await disclosureOf(surface, table)
  if (disclosure.denied) throw withoutContract(table)
  return disclosure
}

/** Whether a caller may not have a table, because it has no active contract. */
export function isDenied({ uncontracted }: FileSight, mayCommit: boolean): boolean {
  return uncontracted !== undefined && !opensUncontracted(uncontracted, mayCommit)
}

/** The refusal of such a table. It is the same where there is no such table. */
export function withoutContract(table: TableRef): Fault {
  return new Fault(
    'policy_denied',
    `policy denied: ${tableName(table)} has no active contract, so it may not be read by this session. Ask a steward of the tenant for a contract of it`,
  )
}

/** A JSON response, or one without a body. */
export function jsonResponse(
  status: number,
  body: Uint8Array | ReadableStream<Uint8Array> | string | null,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const content = status === 204 || body === null ? null : (body as Uint8Array<ArrayBuffer>)
  return new Response(content, {
    status,
    headers: { ...(content === null ? {} : { 'content-type': 'application/json' }), ...headers },
  })
}

/** The headers that identify the verdict on an allowed change. */
export function verdictHeaders(
  commitId: string,
  warnings: readonly PolicyOutcome[],
): Readonly<Record<string, string>> {
  return { 'x-svc-decision-id': commitId, ...warningHeader(warnings) }
}

/**
 * Strips the configuration from the reply to an accepted change.
 * @throws Fault `commit_unknown` if it cannot be read: the change was made, so no client may clean up
 */
export async function discloseAccepted(
  body: Uint8Array,
  kept: readonly string[],
  disclosure: Disclosure,
): Promise<Disclosed> {
  try {
    return await discloseReply(body, kept, disclosure)
  } catch (cause) {
    throw new Fault(
      'commit_unknown',
      'The upstream catalog made the change, but its reply cannot be read. Reload before you retry.',
      {
        cause,
      },
    )
  }
}
