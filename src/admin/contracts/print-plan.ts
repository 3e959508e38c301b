/** Writes a plan for people and as JSON. */

import { tableName } from '../../core/table-ref.ts'
import { placeOf } from '../../wire/odcs/read-document.ts'
import { shownText } from '../text-table.ts'
import type { Comparison, Finding } from './contract-service.ts'
import { type Plan, type PlannedContract, shortValue } from './make-plan.ts'

const marks = { add: '+', change: '~', deprecate: '-', none: ' ' } as const

/** The plan as lines. */
export function planText({ contracts, elsewhere }: Plan): string {
  const shown = contracts.filter((one) => !isQuiet(one))
  const count = (action: string) => contracts.filter((one) => one.action === action).length
  const waiting = contracts.filter((one) => one.waiting !== undefined).length
  const total = [
    `${count('add')} to add, ${count('change')} to change, ${count('deprecate')} to deprecate`,
    `${contracts.filter(({ action }) => action === 'none').length} unchanged`,
    ...(waiting > 0 ? [`of these ${waiting} on their way`] : []),
  ].join(', ')
  const rest = elsewhere.length === 0 ? [] : [`Not kept in the folder: ${elsewhere.join(', ')}.`]
  return [...shown.flatMap(contractLines), `${total}.`, ...rest].join('\n')
}

const isQuiet = ({ action, drift, notes, waiting }: PlannedContract) =>
  action === 'none' && drift.length === 0 && notes.length === 0 && waiting === undefined

function contractLines(one: PlannedContract): readonly string[] {
  const { id, action, file, inForce, waiting, comparison, drift, notes, problem } = one
  const versions = [inForce?.version, file?.version].filter((version) => version !== undefined)
  const from = file === undefined ? '' : `  (${file.file})`
  return [
    `${marks[action]} ${id} ${[...new Set(versions)].join(' → ')}${from}`,
    ...(comparison === undefined ? [] : comparisonLines(comparison.findings)),
    ...(comparison?.breaking ? [`    breaks: ${namesOf(comparison.breaks)}`] : []),
    ...(comparison?.warnings ?? []).map((text) => `    warning: ${text}`),
    ...(comparison?.commits ?? []).flatMap(deadlineLines),
    ...(comparison === undefined ? [] : [`    ${needs(comparison.waits_for)}`]),
    ...(waiting === undefined
      ? []
      : [`    ${waiting.version} is ${waiting.state} already, by ${waiting.author}`]),
    ...drift.map((text) => `    drift: ${text}`),
    ...notes.map((text) => `    ${text}`),
    ...(problem === undefined ? [] : [`    cannot be applied: ${problem}`]),
  ]
}

/** What a document would change, whom it breaks, and what it needs, as lines. */
export function comparisonText(comparison: Comparison): string {
  const { findings, breaking, breaks, warnings = [], commits = [], waits_for, problem } = comparison
  const lines = [
    ...comparisonLines(findings),
    ...(breaking ? [`    breaks: ${namesOf(breaks)}`] : []),
    ...warnings.map((text) => `    warning: ${text}`),
    ...commits.flatMap(deadlineLines),
    ...(problem === undefined ? [] : [`    cannot be put in force: ${problem}`]),
    `    ${needs(waits_for)}`,
  ]
  const shown = findings.length === 0 ? ['    no change that a reader or writer notices', ...lines] : lines
  return shown
    .map((line) => line.trimStart())
    .map(shownText)
    .join('\n')
}

/** Findings as lines, for a terminal. */
export function changeLines(findings: readonly Finding[]): readonly string[] {
  return comparisonLines(findings).map((line) => `  ${shownText(line.trimStart())}`)
}

function comparisonLines(findings: readonly Finding[]): readonly string[] {
  return findings.map((found) => {
    const where = found.at === '' ? '' : `${found.at}: `
    return `    ${classOf(found)}: ${where}${found.message}`
  })
}

/** From when on commits that break the contract are refused, where that is not at once. */
function deadlineLines({
  table,
  mode,
  ...from
}: NonNullable<Comparison['commits']>[number]): readonly string[] {
  if (mode !== 'shadow') return []
  const { enforced_from: time, enforced_after_days: days } = from
  const name = tableName(table)
  if (time !== undefined)
    return [`    commits that break it on ${name} are recorded, and refused from ${time} on`]
  if (days === undefined) return []
  return [`    commits that break it on ${name} are recorded for ${days} days, and refused from then on`]
}

function classOf({ consumer, producer, access }: Finding): string {
  const broken = [
    ...(consumer === 'breaking' ? ['consumers'] : []),
    ...(producer === 'breaking' ? ['producers'] : []),
  ]
  if (broken.length > 0) return `breaks ${broken.join(' and ')}`
  if (access !== 'none') return `access is ${access}`
  return [consumer, producer].includes('warning') ? 'warning' : 'info'
}

function namesOf(consumers: readonly { readonly name: string; readonly contact?: string }[]): string {
  if (consumers.length === 0) return 'consumers that the document in force does not name'
  return consumers
    .map(({ name, contact }) => (contact === undefined ? name : `${name} (${contact})`))
    .join(', ')
}

/** The sign-offs that a proposal needs, as a sentence without a full stop. */
export function needs(signOffs: readonly string[]): string {
  const who = { first: 'a steward who did not write it', second: 'an administrator' } as const
  const names = signOffs.map((level) => who[level as keyof typeof who] ?? level)
  return names.length === 0 ? 'needs no sign-off' : `needs sign-off by ${names.join(', then by ')}`
}

/** What differs from the documents in force, value by value, as lines. */
export function differencesText({ contracts }: Plan): string {
  const lines = contracts.flatMap((one) => {
    const { id, file, inForce, action, differences, drift } = one
    if (differences.length === 0 && drift.length === 0 && action === 'none') return []
    const head = file === undefined ? `${id}: gone from the folder` : `${file.file}: ${id}`
    const before =
      inForce === undefined ? 'the service has no version in force' : `in force: ${inForce.version}`
    return [`${head} (${before})`, ...drift.map((text) => `    drift: ${text}`), ...differenceLines(one)]
  })
  return lines.length === 0 ? 'No differences.' : lines.join('\n')
}

function differenceLines({ file, differences }: PlannedContract): readonly string[] {
  return differences.map(({ path, steps, before, after }) => {
    const line = file === undefined || after === undefined ? undefined : placeOf(file.document, steps)?.line
    const where = line === undefined ? '' : `  (line ${line})`
    if (after === undefined) return `  - ${path}: ${shortValue(before)}`
    if (before === undefined) return `  + ${path}: ${shortValue(after)}${where}`
    return `  ~ ${path}: ${shortValue(before)} → ${shortValue(after)}${where}`
  })
}

/** The plan as JSON values. */
export function planView({ managedBy, contracts, elsewhere }: Plan) {
  return {
    managed_by: managedBy,
    contracts: contracts.map(({ file, inForce, waiting, comparison, differences, ...one }) => ({
      ...one,
      ...(file && { file: file.file, version: file.version, sha256: file.sha256 }),
      ...(inForce && { in_force: inForce }),
      ...(waiting && { waiting }),
      ...(comparison && { comparison }),
      differences: differences.map(({ path, before, after }) => ({
        path,
        ...(before !== undefined && { before: shortValue(before) }),
        ...(after !== undefined && { after: shortValue(after) }),
      })),
    })),
    elsewhere,
  }
}
