/**
 * Plans what a folder of contracts would change on a service: it compares hashes, then values, and asks the service what
 * each change means. It changes nothing.
 */

import { stringifyJson } from '../../base/json.ts'
import { readDocument } from '../../wire/odcs/read-document.ts'
import type { ContractFile, ContractFolder } from './contract-files.ts'
import {
  type Comparison,
  type ContractService,
  isNotFound,
  type ListedContract,
  type ListedVersion,
} from './contract-service.ts'
import { type Difference, differencesOf } from './document-difference.ts'

/** `add` and `change` propose a version; `deprecate` announces the end of one; `none` does nothing. */
type PlannedAction = 'add' | 'change' | 'deprecate' | 'none'

export interface PlannedContract {
  readonly id: string
  readonly action: PlannedAction
  /** Absent where the folder has none. */
  readonly file?: ContractFile
  /** Of the contract on the service; absent where it has no versions there. */
  readonly revision?: string
  readonly inForce?: ListedVersion
  /** A version with these bytes that is on its way already. */
  readonly waiting?: ListedVersion
  readonly comparison?: Comparison
  /** Against the document in force. */
  readonly differences: readonly Difference[]
  /** What was changed on the service, and not by the folder. */
  readonly drift: readonly string[]
  readonly notes: readonly string[]
  /** Why it cannot be applied. */
  readonly problem?: string
}

export interface Plan {
  readonly managedBy: string
  readonly contracts: readonly PlannedContract[]
  /** Contracts of the service that are not kept in the folder, and of nobody's concern here. */
  readonly elsewhere: readonly string[]
}

export interface PlanOptions {
  readonly managedBy: string
  /** Whether contracts that are gone from the folder are deprecated. */
  readonly prune: boolean
}

const onItsWay = ['draft', 'proposed', 'approved', 'deploying']

/** Plans a folder. @throws Fault of the service */
export async function makePlan(
  service: ContractService,
  { files }: ContractFolder,
  { managedBy, prune }: PlanOptions,
): Promise<Plan> {
  const listed = await service.list()
  const contracts: PlannedContract[] = []
  for (const file of files) {
    const there = listed.find(({ id }) => id === file.id)
    contracts.push(await planFile(service, file, there, managedBy))
  }
  const others = listed.filter(({ id }) => !files.some((file) => file.id === id))
  const gone = others.filter((one) => one.managed_by === managedBy && activeOf(one) !== undefined)
  contracts.push(...gone.map((one) => planGone(one, prune)))
  const elsewhere = others.filter((one) => !gone.includes(one) && isThere(one)).map(({ id }) => id)
  return { managedBy, contracts: contracts.toSorted((a, b) => (a.id < b.id ? -1 : 1)), elsewhere }
}

const activeOf = ({ versions }: ListedContract) => versions.find(({ state }) => state === 'active')
const forceOf = (one: ListedContract | undefined) =>
  one?.versions.find(({ state }) => state === 'active' || state === 'deprecated')
/** Whether it is in force, or governs tables without a document. */
const isThere = (one: ListedContract) => forceOf(one) !== undefined || one.tables.length > 0

function planGone(one: ListedContract, prune: boolean): PlannedContract {
  const inForce = activeOf(one)
  return {
    ...headOf(one),
    ...(inForce && { inForce }),
    ...{ action: prune ? 'deprecate' : 'none', differences: [], drift: one.outside_changes },
    notes: prune ? [] : ['It is gone from the folder and stays in force; --prune deprecates it'],
  }
}

function headOf({ id, revision }: ListedContract) {
  return { id, ...(revision !== undefined && { revision }) }
}

async function planFile(
  service: ContractService,
  file: ContractFile,
  there: ListedContract | undefined,
  managedBy: string,
): Promise<PlannedContract> {
  const inForce = forceOf(there)
  const base = {
    ...(there === undefined ? { id: file.id } : headOf(there)),
    file,
    ...(inForce && { inForce }),
    differences: [],
    drift: there?.outside_changes ?? [],
    notes: notesOn(inForce, there, managedBy),
  }
  if (inForce?.sha256 === file.sha256) return { ...base, action: 'none' }
  const waiting = there?.versions.find(
    ({ sha256, state }) => sha256 === file.sha256 && onItsWay.includes(state) && state !== 'draft',
  )
  const differences = await differencesFrom(service, file, there)
  if (differences?.length === 0)
    return {
      ...base,
      action: 'none',
      notes: [...base.notes, 'Its text differs, and every value is the same'],
    }
  const drift = [...base.drift, ...outsideVersion(inForce, there, managedBy)]
  const found = { ...base, drift, differences: differences ?? [] }
  if (waiting !== undefined) return { ...found, action: 'none', waiting }
  const comparison = await service.compare(file.id, file.bytes, file.format)
  const problem = rejection(file, there) ?? comparison.problem
  const action = differences === undefined ? 'add' : 'change'
  return { ...found, action, comparison, ...(problem !== undefined && { problem }) }
}

/** The differences from the document in force; undefined where there is none. */
async function differencesFrom(
  service: ContractService,
  { id, document }: ContractFile,
  there: ListedContract | undefined,
): Promise<readonly Difference[] | undefined> {
  if (there === undefined || !isThere(there)) return undefined
  try {
    const { bytes, format } = await service.document(id)
    return differencesOf(readDocument(bytes, format).value, document.value)
  } catch (thrown) {
    // It ended since it was listed.
    if (isNotFound(thrown)) return undefined
    throw thrown
  }
}

function notesOn(
  inForce: ListedVersion | undefined,
  there: ListedContract | undefined,
  managedBy: string,
): readonly string[] {
  const others = (there?.versions ?? []).filter(
    (one) => onItsWay.includes(one.state) && one.managed_by !== managedBy,
  )
  return [
    ...(inForce?.state === 'deprecated' ? ['It is deprecated on the service'] : []),
    ...others.map(
      ({ version, state, author }) => `Version ${version} of ${author} is ${state} on the service`,
    ),
  ]
}

/** A version that came in force by other hands, where the contract is kept in the folder. */
function outsideVersion(
  inForce: ListedVersion | undefined,
  there: ListedContract | undefined,
  managedBy: string,
): readonly string[] {
  if (inForce === undefined || there?.managed_by !== managedBy || inForce.managed_by === managedBy) return []
  const { version, author, created_at: at } = inForce
  return [
    `Version ${version} is in force, by ${author} on ${at.slice(0, 10)}, and did not come from the folder`,
  ]
}

function rejection({ sha256 }: ContractFile, there: ListedContract | undefined): string | undefined {
  const newest = there?.versions[0]
  if (newest?.state !== 'rejected' || newest.sha256 !== sha256) return undefined
  return `Version ${newest.version} with this text was rejected; change it`
}

/** What the folder would change in all: nothing, something, something that breaks, or nothing that can be applied. */
export function outcomeOf({ contracts }: Plan): 'none' | 'changes' | 'breaking' | 'problem' {
  if (contracts.some(({ problem }) => problem !== undefined)) return 'problem'
  if (contracts.some(({ comparison }) => comparison?.breaking)) return 'breaking'
  const changed = contracts.some(({ action, drift }) => action !== 'none' || drift.length > 0)
  return changed ? 'changes' : 'none'
}

/** A value in one line, for people. */
export function shortValue(value: unknown): string {
  const text = stringifyJson(value as never)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
