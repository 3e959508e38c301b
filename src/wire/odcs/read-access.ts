/**
 * Reads the review plan of a contract's document: how access is asked for and decided. Our schema has checked its form;
 * here is what a schema cannot say. Nothing is decided about access.
 */

import { cleanText } from '../../base/clean-text.ts'
import type { PrivilegedRole } from '../../core/principal.ts'
import type { ModelAccess } from './model.ts'

/** Roles that decide about others, so that no plan may let them decide about themselves. */
const deciding: readonly string[] = [
  'steward',
  'administrator',
  'owner',
  'auditor',
] satisfies PrivilegedRole[]

/**
 * The plan.
 * @param value the member `access`, which our schema accepts
 * @param refuse takes each mistake, with the steps from the plan to it
 */
export function readAccess(
  value: unknown,
  refuse: (steps: readonly string[], message: string) => void,
): { readonly access?: ModelAccess } {
  if (typeof value !== 'object' || value === null) return {}
  const plan = value as ModelAccess
  for (const [index, purpose] of (plan.purposes ?? []).entries())
    if (cleanText(purpose.replaceAll(/\s+/g, ' ').trim(), purpose.length) !== purpose)
      refuse(
        ['purposes', String(index)],
        'A purpose must be one line, without spaces at its ends or two together, and without unseen characters',
      )
  for (const [index, role] of (plan.selfServiceRoles ?? []).entries())
    if (deciding.includes(role))
      refuse(
        ['selfServiceRoles', String(index)],
        `The role ${role} decides or oversees, so it may not have access without a decision by somebody else`,
      )
  const { maxSeconds, breakGlassMaxSeconds } = plan
  if (maxSeconds !== undefined && breakGlassMaxSeconds !== undefined && breakGlassMaxSeconds > maxSeconds)
    refuse(['breakGlassMaxSeconds'], '`breakGlassMaxSeconds` must not be more than `maxSeconds`')
  return { access: plan }
}
