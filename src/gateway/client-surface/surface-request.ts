/** One request to the client surface, past the pipeline: what every handler works with, and how it answers. */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import type { PolicyOutcome } from '../../core/decision.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import { limits } from '../../limits.ts'
import type { CommitBody } from '../base/body.ts'
import { type Disclosed, type Disclosure, discloseAnswer } from '../base/disclosure.ts'
import { warningHeader } from '../base/faults.ts'
import type { PipelineRequest } from '../pipeline.ts'
import { isMasked } from '../stages/masked.ts'
import type { ClientPath } from './client-path.ts'

export interface SurfaceRequest extends PipelineRequest<ClientPath> {
  readonly query: URLSearchParams
}

/** The table, view or function of the path. */
export function nameOf({ path }: Pick<SurfaceRequest, 'path'>): TableRef {
  return { namespace: path.namespace, name: path.name }
}

/** How errors name the table of the path, or its namespace. */
export function subjectOf({ path }: SurfaceRequest): string {
  if (path.name !== '') return tableName({ namespace: path.namespace, name: path.name })
  return path.namespace.length === 0 ? 'the catalog' : `namespace ${path.namespace.join('.')}`
}

/** Levels that a change gains where it is kept as the one update of a commit, and must be readable again. */
const keptLevels = 2

/** @throws Fault `bad_request` where the body is not a JSON object */
export function objectOf(body: CommitBody): JsonObject {
  const value = parseJson(body.bytes, { depthMax: limits.jsonDepthMax - keptLevels })
  if (!isJsonObject(value)) throw new Fault('bad_request', 'The body must be an object.')
  return value
}

/** What the client asks to be given beside metadata; undefined where it asks for nothing. */
export function delegationOf({ request }: SurfaceRequest): string | undefined {
  return request.headers.get('x-iceberg-access-delegation') ?? undefined
}

/**
 * What an answer about a table may disclose to this client.
 * @throws Fault `unavailable` where it cannot be told whether the table is masked
 */
export async function disclosureOf(surface: SurfaceRequest, table: TableRef): Promise<Disclosure> {
  const { parts, tenant, identified, upstream, mayCommit } = surface
  const masked = await isMasked(parts, tenant, table, identified)
  const vends = upstream.catalog.capabilities().credentialVending
  const vended = vends && !masked && delegationOf(surface) !== undefined
  return { masked, vended, commits: mayCommit }
}

/** JSON as it is sent, or nothing. */
export function answer(
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

/** The headers by which a verdict that allowed is known. */
export function verdictHeaders(
  commitId: string,
  warnings: readonly PolicyOutcome[],
): Readonly<Record<string, string>> {
  return { 'x-svc-decision-id': commitId, ...warningHeader(warnings) }
}

/**
 * An accepted change's answer, stripped.
 * @throws Fault `commit_unknown` where it cannot be read: the change was made, so no client may clean up
 */
export async function discloseAccepted(
  body: Uint8Array,
  kept: readonly string[],
  disclosure: Disclosure,
): Promise<Disclosed> {
  try {
    return await discloseAnswer(body, kept, disclosure)
  } catch (cause) {
    throw new Fault(
      'commit_unknown',
      'The upstream catalog made the change, but its answer cannot be read.',
      {
        cause,
      },
    )
  }
}
