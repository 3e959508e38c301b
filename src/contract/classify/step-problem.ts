/** Says why the version number of a proposal takes too small a step. */

import { type ChangeVerdict, isEnough, parseVersion, stepBetween } from './judge-change.ts'
import { sentence } from './verdict-view.ts'

/**
 * Why a version may not be proposed under its number; undefined where it may.
 * @param base the version number in force; undefined where none is
 */
export function stepProblemOf(
  base: string | undefined,
  version: string,
  { step: wanted, because }: ChangeVerdict,
): string | undefined {
  if (parseVersion(version) === undefined)
    return `The version ${version} is no version number of one to three parts`
  if (base === undefined || parseVersion(base) === undefined) return undefined
  const step = stepBetween(base, version)
  if (step === undefined) return `The version ${version} is not greater than ${base}, which is in force`
  if (isEnough(step, wanted)) return undefined
  const why = because === undefined ? '' : `: ${sentence(because)}`
  return `From ${base} the version must take a ${wanted} step, not ${step}${why}`
}
