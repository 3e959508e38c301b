/** Judges a new version of a contract by its findings: whether it breaks, loosens access, and takes a large enough step. */

import { type Compatibility, type ContractModel, compatibilities } from '../../wire/odcs/model.ts'
import { type ClassifyOptions, classify } from './classify.ts'
import type { Finding } from './finding.ts'

export const steps = ['none', 'patch', 'minor', 'major'] as const
/** How far a version number moves. */
export type Step = (typeof steps)[number]

export interface ChangeVerdict {
  readonly findings: readonly Finding[]
  /** Whether it breaks whom the contract promises not to break. */
  readonly breaking: boolean
  /** Whether somebody sees more than before. */
  readonly loosensAccess: boolean
  /** The smallest step that the findings allow. */
  readonly step: Step
  /** The finding that asks for that step; undefined where nothing changed. */
  readonly because: Finding | undefined
}

/**
 * Judges a version.
 * @param earlier versions that were in force since the last major one, newest first: each is compared, because a
 * change and its reversal may break what the newest alone does not show
 */
export function judgeChange(
  earlier: readonly ContractModel[],
  after: ContractModel,
  options: ClassifyOptions = {},
): ChangeVerdict {
  const [newest] = earlier
  const compared: readonly (ContractModel | undefined)[] = newest === undefined ? [undefined] : earlier
  const all = compared.map((one, index) => [
    ...classify(one, after, options),
    ...(index === 0 ? (options.tags ?? []) : []),
  ])
  // Access is what the newest version gives; what an older one hid does not matter.
  const access = all[0]?.some((one) => one.access === 'loosened') ?? false
  const unique = new Map(all.flat().map((one) => [`${one.at} ${one.change} ${one.message}`, one]))
  const findings = [...unique.values()]
  const level = strictest(after.compatibility, ...(newest === undefined ? [] : [newest.compatibility]))
  const breaks = findings.find((one) => isBreaking(one, level))
  const minor = findings.find(
    ({ change, access: one }) =>
      one === 'loosened' || change.startsWith('column-added') || change === 'object-added',
  )
  const [step, because]: [Step, Finding | undefined] =
    newest === undefined || findings.length === 0
      ? ['none', undefined]
      : breaks !== undefined
        ? ['major', breaks]
        : minor !== undefined
          ? ['minor', minor]
          : ['patch', findings[0]]
  return { findings, breaking: breaks !== undefined, loosensAccess: access, step, because }
}

/** Whether a finding breaks whom the contract promises not to break. */
export function isBreaking({ consumer, producer }: Finding, level: Compatibility): boolean {
  if (level === 'none') return false
  return consumer === 'breaking' || (level === 'full' && producer === 'breaking')
}

/** A version must not lower its own bar: the stricter of the two levels holds. */
function strictest(...levels: readonly Compatibility[]): Compatibility {
  const order: readonly Compatibility[] = ['full', 'backward', 'none']
  return order.find((level) => levels.includes(level)) ?? compatibilities[0]
}

/** A version number of three parts; missing ones are 0. Undefined for other text. */
export function parseVersion(text: string): readonly [number, number, number] | undefined {
  const [, major, minor = '0', patch = '0'] = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?$/.exec(text) ?? []
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

/** The step between two version numbers; undefined where the later is not greater, or one is no version number. */
export function stepBetween(before: string, after: string): Exclude<Step, 'none'> | undefined {
  const [old, now] = [parseVersion(before), parseVersion(after)]
  if (old === undefined || now === undefined) return undefined
  const place = now.findIndex((part, index) => part !== old[index])
  if (place < 0 || (now[place] ?? 0) < (old[place] ?? 0)) return undefined
  return (['major', 'minor', 'patch'] as const)[place]
}

/** Whether a step is at least as large as another. */
export function isEnough(step: Step, wanted: Step): boolean {
  return steps.indexOf(step) >= steps.indexOf(wanted)
}
