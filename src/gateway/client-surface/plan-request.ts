/** Reads the body of a request to plan a scan (Iceberg REST OpenAPI document, PlanTableScanRequest). */

import { Fault } from '../../base/fault.ts'
import { type JsonObject, type JsonValue, parseJson, stringifyJson } from '../../base/json.ts'
import { limits } from '../../limits.ts'
import { fieldReader } from '../../wire/iceberg/fields.ts'
import { type Predicate, parsePredicate } from '../../wire/iceberg/predicate.ts'

export interface PlanRequest {
  /** The snapshot that the client names; undefined: the one that readers read. */
  readonly snapshotId: bigint | undefined
  /** As JSON text. */
  readonly filter: string
  readonly caseSensitive: boolean
  readonly useSnapshotSchema: boolean
}

const reader = fieldReader((what) => new Fault('bad_request', `Invalid scan: ${what}.`))
const bounds = { nodesMax: 1_000, valuesMax: 1_000 } as const

/**
 * Columns to select, columns with statistics and the number of rows are wishes that need not be met.
 * @throws Fault `bad_request`; `not_acceptable` for an incremental scan
 */
export function readPlanRequest(body: JsonObject): PlanRequest {
  if (body.has('start-snapshot-id') || body.has('end-snapshot-id'))
    throw new Fault('not_acceptable', 'Incremental scans are not planned here. Plan the scan at the client.')
  const filter = body.get('filter') ?? true
  parseFilter(filter)
  return {
    snapshotId: reader.optionalInteger(body, 'snapshot-id'),
    filter: stringifyJson(filter),
    caseSensitive: flag(body, 'case-sensitive') ?? true,
    useSnapshotSchema: flag(body, 'use-snapshot-schema') ?? false,
  }
}

/** @throws Fault `bad_request` where it is malformed or too large */
function parseFilter(filter: JsonValue): Predicate {
  return parsePredicate(filter, bounds, reader.fault)
}

/** The filter of a plan. @param text as {@link readPlanRequest} made it */
export function filterOf(text: string): Predicate {
  return parseFilter(parseJson(Buffer.from(text), { depthMax: limits.jsonDepthMax }))
}

/** The plan task of a request for its file scan tasks. @throws Fault `bad_request` */
export function readPlanTask(body: JsonObject): string {
  return reader.string(body, 'plan-task')
}

function flag(body: JsonObject, name: string): boolean | undefined {
  const value = body.get(name) ?? undefined
  if (value === undefined || typeof value === 'boolean') return value
  throw reader.fault(`\`${name}\` must be true or false`)
}
