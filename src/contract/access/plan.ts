/**
 * What a contract's review plan says about access: who approves, for how long, for what purposes, and who needs nobody
 * else. A pure function over the model of the version in force; where it holds no plan, what holds everywhere.
 */

import type { ModelAccess } from '../../wire/odcs/model.ts'
import { grantSecondsMax } from './review.ts'

/** The longest time of access by break-glass where a plan names none, in seconds. */
const breakGlassSecondsDefault = 4 * 3_600

interface AccessPlan {
  readonly approvers: 1 | 2
  /** The longest time of a grant, in seconds. */
  readonly secondsMax: number
  /** Undefined: any purpose. */
  readonly purposes: readonly string[] | undefined
  readonly selfServiceRoles: readonly string[]
  readonly breakGlassRoles: readonly string[]
  /** The longest time of access by break-glass, in seconds. */
  readonly breakGlassSecondsMax: number
}

/** The plan with what holds where it says nothing. */
export function planOf(access: ModelAccess | undefined): AccessPlan {
  const secondsMax = access?.maxSeconds ?? grantSecondsMax
  return {
    ...{ approvers: access?.approvers ?? 1, secondsMax, purposes: access?.purposes },
    selfServiceRoles: access?.selfServiceRoles ?? [],
    breakGlassRoles: access?.breakGlassRoles ?? [],
    breakGlassSecondsMax: Math.min(secondsMax, access?.breakGlassMaxSeconds ?? breakGlassSecondsDefault),
  }
}

/**
 * Why a request is not within the plan of the version in force, which names what is; undefined where it is.
 * @param secondsMax of the plan, for a request or for break-glass
 */
export function planProblem(
  { purposes }: Pick<AccessPlan, 'purposes'>,
  secondsMax: number,
  { purpose, seconds }: { readonly purpose: string; readonly seconds: number },
): string | undefined {
  if (seconds > secondsMax) return `The contract gives such access for at most ${secondsMax} seconds.`
  if (purposes === undefined || purposes.includes(purpose)) return undefined
  return `The contract allows these purposes, each by its exact text: ${purposes.join('; ')}.`
}
