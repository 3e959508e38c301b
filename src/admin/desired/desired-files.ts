/**
 * Reads the files of settings in a folder, which are named *.covenant.yaml, and says what is wrong with each by file and line. It
 * asks no service, and reads no environment variable that a file names.
 */

import { join } from 'node:path'
import { Glob } from 'bun'
import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { nearestName } from '../../base/nearest-name.ts'
import { readValue } from '../../http/read-value.ts'
import { DocumentRefusal } from '../../wire/odcs/problem.ts'
import { type ContractDocument, placeOf, plainValue, readDocument } from '../../wire/odcs/read-document.ts'
import { UsageError } from '../exit-status.ts'
import type { Kind, Plain, Side } from './kind.ts'
import { kinds } from './kinds.ts'

/** One setting, as a file says it. */
export interface DesiredEntry {
  readonly kind: Kind
  /** The name of the tenant where an operator's file says it. */
  readonly tenant: string | undefined
  readonly side: Side
  /** '' where there is only one. */
  readonly name: string
  readonly said: Plain
  readonly file: string
}

/** A tenant of an operator's file. */
export interface DesiredTenant {
  readonly name: string
  readonly organizationId: string | undefined
  readonly state: 'active' | 'suspended' | undefined
  readonly file: string
}

export interface SettingProblem {
  readonly file: string
  readonly line?: number
  readonly column?: number
  readonly message: string
}

/** All settings of one kind, of one tenant. */
export interface DesiredList {
  readonly tenant: string | undefined
  readonly side: Side
  readonly kind: Kind
}

export interface DesiredFolder {
  readonly files: readonly string[]
  readonly tenants: readonly DesiredTenant[]
  readonly entries: readonly DesiredEntry[]
  /** Those that the files have, of which what is not in them may be removed. */
  readonly lists: readonly DesiredList[]
  readonly problems: readonly SettingProblem[]
}

const pattern = '**/*.covenant.{yaml,yml}'
const filesMax = 1_000
const tenantMembers = { organization_id: 'string', state: 'string' } as const

/** Reads the files in a folder and below it; none is no error. Links are not followed. @throws UsageError */
export async function readDesiredFolder(folder: string): Promise<DesiredFolder> {
  const files = await pathsIn(folder)
  const to: Collected = { tenants: [], entries: [], lists: [], problems: [] }
  for (const file of files) await readFile(to, file)
  return { files, ...to }
}

async function pathsIn(folder: string): Promise<readonly string[]> {
  const found: string[] = []
  try {
    for await (const path of new Glob(pattern).scan({ cwd: folder, followSymlinks: false })) {
      found.push(path)
      if (found.length > filesMax)
        throw new UsageError(`A folder may hold ${filesMax} files of settings; name a smaller one`)
    }
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown
    throw new UsageError('There is no such folder; name one that can be read')
  }
  return found.toSorted().map((path) => join(folder, path))
}

/** What was read so far. */
interface Collected {
  readonly tenants: DesiredTenant[]
  readonly entries: DesiredEntry[]
  readonly lists: DesiredList[]
  readonly problems: SettingProblem[]
}

/** Where the reader is in a file. */
interface Place {
  readonly document: ContractDocument
  readonly file: string
  readonly steps: readonly string[]
  readonly tenant: string | undefined
  readonly side: Side
}

async function readFile(to: Collected, file: string): Promise<void> {
  let document: ContractDocument
  try {
    document = readDocument(await Bun.file(file).bytes(), 'yaml')
  } catch (thrown) {
    if (!(thrown instanceof DocumentRefusal)) throw new UsageError(`The file ${file} cannot be read`)
    to.problems.push(...thrown.problems.map((problem) => ({ file, ...problem })))
    return
  }
  const isOperators = document.value.has('tenants') || document.value.has('retention')
  const top: Place = {
    ...{ document, file, steps: [], tenant: undefined },
    side: isOperators ? 'installation' : 'own',
  }
  for (const [name, value] of document.value) {
    if (isOperators && name === 'tenants') readTenants(to, value, top)
    else readMember(to, [name], value, top)
  }
}

function readTenants(to: Collected, value: JsonValue, top: Place): void {
  for (const [name, said] of objectAt(to, value, { ...top, steps: ['tenants'] })) {
    const place: Place = { ...top, steps: ['tenants', name], tenant: name, side: 'tenant' }
    if (to.tenants.some((one) => one.name === name)) {
      refuse(to, place, `The tenant ${name} is in another file, too`)
      continue
    }
    const members = objectAt(to, said, place)
    to.tenants.push({ ...tenantOf(to, members, place), name, file: top.file })
    for (const [member, given] of members)
      if (!(member in tenantMembers)) readMember(to, [member], given, place)
  }
}

function tenantOf(
  to: Collected,
  members: JsonObject,
  place: Place,
): Pick<DesiredTenant, 'organizationId' | 'state'> {
  const [organizationId, state] = [members.get('organization_id'), members.get('state')]
  if (organizationId !== undefined && typeof organizationId !== 'string')
    refuse(to, place, '`organization_id` must be a string')
  if (state !== undefined && state !== 'active' && state !== 'suspended')
    refuse(to, place, '`state` must be active or suspended')
  return {
    organizationId: typeof organizationId === 'string' ? organizationId : undefined,
    state: state === 'active' || state === 'suspended' ? state : undefined,
  }
}

/** One member of the file, or of `settings`, or of a tenant. */
function readMember(to: Collected, at: readonly string[], value: JsonValue, place: Place): void {
  const here = { ...place, steps: [...place.steps, ...at.slice(-1)] }
  const kind = kinds.find((one) => one.sides.includes(place.side) && Bun.deepEquals([...one.at], at))
  if (kind !== undefined) {
    readKind(to, kind, value, here)
    return
  }
  const below = kinds.filter((one) => one.sides.includes(place.side) && one.at.length > at.length)
  if (below.some((one) => one.at.slice(0, at.length).join() === at.join())) {
    for (const [name, said] of objectAt(to, value, here)) readMember(to, [...at, name], said, here)
    return
  }
  refuse(to, here, unknownMember(at, place.side))
}

function unknownMember(at: readonly string[], side: Side): string {
  const all = kinds
    .filter((one) => one.sides.includes(side) && one.at.length >= at.length)
    .filter((one) => one.at.slice(0, at.length - 1).join() === at.slice(0, -1).join())
  const names = [...new Set(all.map((one) => one.at[at.length - 1] ?? ''))]
  if (side === 'installation') names.push('tenants')
  const near = nearestName(at.at(-1) ?? '', names)
  const elsewhere = kinds.find((one) => one.at.join() === at.join())
  if (elsewhere !== undefined)
    return elsewhere.sides.includes('own')
      ? `\`${at.join('.')}\` is set by the tenant's own file, with a session of the tenant`
      : `\`${at.join('.')}\` is set by the operator's file, below \`tenants\``
  return `\`${at.join('.')}\` is no setting: ${near === undefined ? `there are ${names.join(', ')}` : `\`${near}\` may be meant`}`
}

function readKind(to: Collected, kind: Kind, value: JsonValue, place: Place): void {
  const { tenant, side } = place
  if (kind.single) {
    addEntry(to, kind, '', value, place)
    return
  }
  to.lists.push({ tenant, side, kind })
  for (const [name, said] of objectAt(to, value, place))
    addEntry(to, kind, name, said, { ...place, steps: [...place.steps, name] })
}

function addEntry(to: Collected, kind: Kind, name: string, value: JsonValue, place: Place): void {
  const { tenant, side, file, steps } = place
  const isTwice = to.entries.some((one) => one.kind === kind && one.name === name && one.tenant === tenant)
  const problem = isTwice ? 'It is in another file, too' : problemOf(kind, value, steps)
  const said = plainValue(value) as Plain
  const refused = problem ?? kind.refuses?.(said)
  if (refused !== undefined) refuse(to, place, refused)
  else to.entries.push({ kind, tenant, side, name, said, file })
}

function problemOf(kind: Kind, value: JsonValue, steps: readonly string[]): string | undefined {
  const { properties } = kind.entry
  try {
    if (!isJsonObject(value)) return `\`${steps.join('.')}\` must be a mapping`
    const [unknown] =
      properties === undefined ? [] : [...value.keys()].filter((name) => !(name in properties))
    if (unknown !== undefined) {
      const near = nearestName(unknown, Object.keys(properties ?? {}))
      return `\`${steps.join('.')}.${unknown}\` is no member: ${near === undefined ? `there are ${Object.keys(properties ?? {}).join(', ')}` : `\`${near}\` may be meant`}`
    }
    readValue(kind.entry, value, steps.join('.'))
    return undefined
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.publicMessage.replace(/\.$/, '')
    throw thrown
  }
}

function objectAt(to: Collected, value: JsonValue, place: Place): JsonObject {
  if (isJsonObject(value)) return value
  refuse(to, place, `\`${place.steps.join('.')}\` must be a mapping`)
  return new Map()
}

function refuse(to: Collected, { document, file, steps }: Place, message: string): void {
  to.problems.push({ file, ...placeOf(document, steps), message })
}
