/**
 * Parses the body of an OpenLineage event (spec 2-0-2) under the rules of docs/reference/lineage.md 1. It does not
 * check facets, because producers add their own; the raw body keeps them all.
 */

import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../base/json.ts'
import { isCalendarTime } from '../base/rfc3339.ts'
import {
  type LineageDataset,
  type LineageEvent,
  type LineageEventKind,
  type LineageEventType,
  type LineageName,
  type LineageParent,
  lineageEventTypes,
  nilRunId,
} from '../core/lineage.ts'
import { limits } from '../limits.ts'
import { isUuid } from '../store/database/page.ts'
import { columnsOf } from './column-lineage.ts'
import { describeDataset, isStorableName } from './table-claims.ts'

/** Bounded because it is part of an index entry. */
const lineageProducerBytesMax = 2_000

// RFC 3339 section 5.6. Date.parse alone would also accept local times and other forms.
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/**
 * Reads one event.
 * @param receivedAtMs is used when eventTime is absent or unparseable (docs/reference/lineage.md 1.2)
 * @throws Fault `bad_request` that names the missing or invalid field
 */
export function parseLineageEvent(body: Uint8Array, receivedAtMs: number): LineageEvent {
  const event = parseJson(body, { depthMax: limits.jsonDepthMax, membersMax: limits.documentKeysMax })
  if (!isJsonObject(event)) throw bad('A lineage event must be a JSON object.')
  const kind = kindOf(event)
  const producer = requiredText(event, 'producer')
  if (Buffer.byteLength(producer) > lineageProducerBytesMax)
    throw bad(`producer must be at most ${lineageProducerBytesMax} bytes long.`)
  const eventType = kind === 'run' ? eventTypeOf(event) : undefined
  const runId = kind === 'run' ? runIdOf(event) : nilRunId
  const outputs =
    kind === 'dataset' ? [datasetOf(event.get('dataset'), 'dataset')] : datasets(event, 'outputs')
  // A dataset event has no inputs but those that its column lineage names.
  const inputs = kind === 'dataset' ? columnInputsOf(outputs) : datasets(event, 'inputs')
  checkCounts(inputs.length, outputs.length)
  return {
    kind,
    producer,
    runId,
    eventType,
    eventTimeMs: eventTime(event.get('eventTime')) ?? receivedAtMs,
    receivedAtMs,
    job: jobOf(event, kind),
    parent: kind === 'run' ? parentOf(event) : undefined,
    inputs: inputs.map(({ dataset }) => dataset),
    outputs: outputs.map(({ dataset }) => dataset),
    columns: columnsOf(inputs, outputs),
    body,
  }
}

/** A dataset with its facets, for the functions that read one of them. */
interface ParsedDataset {
  readonly dataset: LineageDataset
  readonly facets: JsonObject | undefined
}

const bad = (message: string) => new Fault('bad_request', message)

/**
 * Job and dataset events have neither run nor eventType. A broken run event can look the same, so the schemaURL
 * decides, which OpenLineage requires of all three kinds.
 */
function kindOf(event: JsonObject): LineageEventKind {
  const schema = event.get('schemaURL')
  if (event.has('eventType') || event.has('run') || typeof schema !== 'string') return 'run'
  if (/[/]JobEvent$/.test(schema)) return 'job'
  return /[/]DatasetEvent$/.test(schema) ? 'dataset' : 'run'
}

function eventTypeOf(event: JsonObject): LineageEventType {
  if ((event.get('eventType') ?? '') === '')
    throw bad(
      'eventType is required. Clients written for Marquez leave it out, which takes that for RUNNING: set START, RUNNING, COMPLETE, ABORT or FAIL. A job or dataset event has none: set a schemaURL that ends in JobEvent or DatasetEvent, and no run.',
    )
  const given = requiredText(event, 'eventType')
  const known = lineageEventTypes.find((type) => type === given)
  if (known !== undefined) return known
  const upper = lineageEventTypes.find((type) => type === given.toUpperCase())
  const expected = `eventType must be one of ${lineageEventTypes.join(', ')}`
  if (upper !== undefined) throw bad(`${expected}, in upper case: send ${upper}.`)
  if (given === 'OTHER')
    throw bad(
      `${expected}; OTHER is not accepted. openlineage-java (Spark, Flink) sends it when its circuit breaker opens, and dbt-ol for a node of unknown status: these may be left out. For facts beside a run's states set RUNNING, or send a JobEvent or DatasetEvent.`,
    )
  throw bad(`${expected}.`)
}

function runIdOf(event: JsonObject): string {
  const run = event.get('run')
  if (!isJsonObject(run)) throw bad('run.runId is required.')
  const given = run.get('runId')
  if (typeof given !== 'string') throw bad('run.runId is required.')
  const runId = given.toLowerCase()
  if (!isUuid(runId)) throw bad('run.runId must be a UUID.')
  return runId
}

function jobOf(event: JsonObject, kind: LineageEventKind): LineageName | undefined {
  const job = event.get('job') ?? null
  if (kind === 'job') return nameOf(job, 'job')
  if (job === null) return undefined
  if (!isJsonObject(job)) throw bad('job must be an object.')
  const name = optionalText(job, 'name', 'job.name')
  // Both are optional (docs/reference/lineage.md 1.1), but jobs without a name cannot be told apart.
  const namespace = optionalText(job, 'namespace', 'job.namespace')
  return name === '' ? undefined : unambiguous({ namespace, name }, 'job')
}

/** The facet `parent` of the run. Facets are never refused, so a malformed one is none. */
function parentOf(event: JsonObject): LineageParent | undefined {
  const facet = member(member(member(event, 'run'), 'facets'), 'parent')
  const parent = runOf(facet)
  const root = runOf(member(facet, 'root'))
  return parent && { ...parent, ...(root !== undefined && root.runId !== parent.runId && { root }) }
}

function runOf(holder: JsonObject | undefined): Omit<LineageParent, 'root'> | undefined {
  const runId = member(holder, 'run')?.get('runId')
  if (typeof runId !== 'string' || !isUuid(runId.toLowerCase())) return undefined
  const [namespace, name] = ['namespace', 'name'].map((key) => member(holder, 'job')?.get(key))
  const isNamed = typeof namespace === 'string' && typeof name === 'string' && name !== ''
  const job = isNamed && isStorableName({ namespace, name }) ? { namespace, name } : undefined
  return { runId: runId.toLowerCase(), job }
}

function member(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object?.get(key)
  return isJsonObject(value) ? value : undefined
}

function datasets(event: JsonObject, key: 'inputs' | 'outputs'): readonly ParsedDataset[] {
  const list = event.get(key) ?? []
  if (!Array.isArray(list)) throw bad(`${key} must be an array.`)
  if (list.length > limits.lineageDatasetsMax)
    throw bad(`${key} must hold at most ${limits.lineageDatasetsMax} datasets.`)
  const byName = new Map<string, ParsedDataset>()
  list.forEach((item: JsonValue, index) => {
    const parsed = datasetOf(item, `${key}[${index}]`)
    const { namespace, name } = parsed.dataset
    const id = `${namespace}\u001f${name}`
    if (!byName.has(id)) byName.set(id, parsed)
  })
  return [...byName.values()]
}

function datasetOf(value: JsonValue | undefined, where: string): ParsedDataset {
  const name = nameOf(value, where)
  const facets = isJsonObject(value) ? value.get('facets') : undefined
  const known = isJsonObject(facets) ? facets : undefined
  return { dataset: describeDataset(name, known), facets: known }
}

function columnInputsOf(outputs: readonly ParsedDataset[]): readonly ParsedDataset[] {
  const names = columnsOf([], outputs).map(({ input }) => input)
  if (names.length > limits.lineageDatasetsMax)
    throw bad(`The column lineage of a dataset must name at most ${limits.lineageDatasetsMax} datasets.`)
  return names.map((name) => ({ dataset: describeDataset(name, undefined), facets: undefined }))
}

function nameOf(value: JsonValue | undefined, where: string): LineageName {
  if (!isJsonObject(value)) throw bad(`${where} must be an object with namespace and name.`)
  const namespace = requiredText(value, 'namespace', `${where}.namespace`)
  return unambiguous({ namespace, name: requiredText(value, 'name', `${where}.name`) }, where)
}

/** Keys join namespace and name by U+001F, so a name that holds it could collide with another. */
function unambiguous(name: LineageName, where: string): LineageName {
  if (`${name.namespace}${name.name}`.includes('\u001f'))
    throw bad(`${where} must not hold the character U+001F in its namespace or name.`)
  return name
}

function checkCounts(inputs: number, outputs: number): void {
  if (inputs * outputs > limits.lineagePairsMax)
    throw bad(
      `An event makes at most ${limits.lineagePairsMax} edges; this one has ${inputs} inputs and ${outputs} outputs.`,
    )
}

/** The years that RFC 3339 can spell. An offset can move a time out of them. */
const timeMinMs = Date.parse('0000-01-01T00:00:00Z')
const timeMaxMs = Date.parse('9999-12-31T23:59:59.999Z')

function eventTime(value: JsonValue | undefined): number | undefined {
  if (typeof value !== 'string' || !rfc3339.test(value)) return undefined
  if (!isCalendarTime(`${value.slice(0, 10)}T${value.slice(11, 19)}`)) return undefined
  const ms = Date.parse(value)
  return ms >= timeMinMs && ms <= timeMaxMs ? ms : undefined
}

function requiredText(object: JsonObject, key: string, where = key): string {
  const text = optionalText(object, key, where)
  if (text === '') throw bad(`${where} is required.`)
  return text
}

function optionalText(object: JsonObject, key: string, where: string): string {
  const value = object.get(key) ?? ''
  if (typeof value !== 'string') throw bad(`${where} must be a string.`)
  // PostgreSQL cannot store this character, and replacing it could make two names equal.
  if (value.includes('\0')) throw bad(`${where} must not hold the character U+0000.`)
  return value
}
