/** Compares the review plans of two versions: a plan by which more access is given, or more easily, is looser. */

import type { ModelAccess } from '../../wire/odcs/model.ts'
import { planOf } from '../access/plan.ts'
import { type Finding, harmless } from './finding.ts'

type Change = readonly [access: 'loosened' | 'tightened', message: string]

/** The findings about how access is asked for and decided. What a reader sees without asking stays as it is. */
export function accessPlanFindings(
  before: ModelAccess | undefined,
  after: ModelAccess | undefined,
): readonly Finding[] {
  const [was, is] = [planOf(before), planOf(after)]
  return [
    ...amount('approvers of a request', was.approvers, is.approvers, 'fewer'),
    ...amount('seconds of a grant', was.secondsMax, is.secondsMax, 'more'),
    ...purposeChanges(was.purposes, is.purposes),
    ...roleChanges('are granted access at once', was.selfServiceRoles, is.selfServiceRoles),
    ...roleChanges('may take access by break-glass', was.breakGlassRoles, is.breakGlassRoles),
    // Where nobody may break the glass, for how long does not matter.
    ...(is.breakGlassRoles.length > 0 && was.breakGlassRoles.length > 0
      ? amount('seconds of break-glass', was.breakGlassSecondsMax, is.breakGlassSecondsMax, 'more')
      : []),
  ].map(([access, message]) => ({
    ...{ at: '', change: `access-plan-${access}`, ...harmless, access, message },
  }))
}

function amount(what: string, was: number, is: number, looser: 'fewer' | 'more'): readonly Change[] {
  if (was === is) return []
  const isLooser = is > was === (looser === 'more')
  return [[isLooser ? 'loosened' : 'tightened', `The ${what} are ${is} instead of ${was}`]]
}

function purposeChanges(
  was: readonly string[] | undefined,
  is: readonly string[] | undefined,
): readonly Change[] {
  if (is === undefined)
    return was === undefined ? [] : [['loosened', 'Access may be asked for with any purpose']]
  if (was === undefined) return [['tightened', 'Access may be asked for with named purposes only']]
  const [added, gone] = [is.filter((one) => !was.includes(one)), was.filter((one) => !is.includes(one))]
  return [
    ...added.map((one): Change => ['loosened', `Access may be asked for with the purpose “${one}”`]),
    ...gone.map((one): Change => ['tightened', `Access may not be asked for with the purpose “${one}”`]),
  ]
}

function roleChanges(may: string, was: readonly string[], is: readonly string[]): readonly Change[] {
  return [
    ...is
      .filter((role) => !was.includes(role))
      .map((role): Change => ['loosened', `Those with the role ${role} ${may}`]),
    ...was
      .filter((role) => !is.includes(role))
      .map((role): Change => ['tightened', `Those with the role ${role} no longer ${may}`]),
  ]
}
