/** The schemas of custom classifiers, and how they are shown. */

import { Type } from '@sinclair/typebox'
import {
  type ClassifierDefinition,
  classifierCheckKinds,
  classifierLimits,
  classifierNamePattern,
  classifierStates,
  defaultThresholds,
  tenDigits,
} from '../core/classifier.ts'
import {
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  tableIdentifier,
  time,
} from '../http/schemas.ts'
import type { StoredClassifier } from '../store/detection/classifiers.ts'

const short = { ...nonEmpty, maxLength: classifierLimits.patternCharsMax }
const pattern = described(short, 'RE2')
const share = Type.Number({ minimum: 0.01, maximum: 1 })
const check = object({
  kind: oneOf(classifierCheckKinds),
  weights: maybe(
    described(
      list(Type.Integer({ minimum: -99, maximum: 99 }), { minItems: 1, maxItems: 40 }),
      'with mod10, mod11 and mod11_digit: one for each digit from the left',
    ),
  ),
  ten: maybe(described(oneOf(tenDigits), 'with mod11_digit: how ten is written; default none')),
  alphabet: maybe(
    described(
      Type.String({ pattern: '^[0-9A-Z]{2,36}$' }),
      'with letter: the letter at the end is that at the remainder of the number by the length',
    ),
  ),
})

export const classifierName = Type.String({ pattern: classifierNamePattern })

export const definitionSchema = object({
  description: maybe(Type.String({ maxLength: 500 })),
  names: maybe(
    described(
      list(pattern, { maxItems: 10 }),
      'searched in the path of a column and in its words joined by `_`, in lower case',
    ),
  ),
  values: maybe(
    described(
      list(object({ pattern, checks: maybe(list(check, { maxItems: 5 })) }), { maxItems: 10 }),
      'the whole value matches one, and passes all of its checks',
    ),
  ),
  in_text: maybe(described(flag, 'also finds values inside text; default false')),
  thresholds: maybe(
    object({
      share: maybe(described(share, `of the values that must be valid; default ${defaultThresholds.share}`)),
      matches: maybe(
        described(
          Type.Integer({ minimum: 1, maximum: 1_000 }),
          `valid values that are needed where the name does not match; default ${defaultThresholds.matches}`,
        ),
      ),
      valid_share: maybe(
        described(
          share,
          `of the values of a pattern that must pass its checks; default ${defaultThresholds.valid_share}`,
        ),
      ),
    }),
  ),
  allow: maybe(
    described(
      list(
        object({
          table: tableIdentifier,
          columns: maybe(described(list(short, { minItems: 1, maxItems: 100 }), 'dotted paths; absent: all')),
          values: maybe(
            described(
              list(short, { minItems: 1, maxItems: 100 }),
              'kept and shown as they are; absent: all values, and the name',
            ),
          ),
        }),
        { maxItems: 100 },
      ),
      'what is no finding in a table',
    ),
  ),
})

export const classifierSchema = object({
  name: described(classifierName, 'the class of its findings'),
  state: described(oneOf(classifierStates), 'a draft does not count in scans'),
  definition: definitionSchema,
  revision: described(ordinal, 'of the definition; raised with each change'),
  tried: described(flag, 'whether this revision was tried'),
  active_revision: maybe(
    described(ordinal, 'what counts in scans; it stays while the definition is changed'),
  ),
  created_at: time,
  updated_at: time,
})

/** Shows a classifier. */
export function classifierView(one: StoredClassifier) {
  return {
    name: one.name,
    state: one.activeRevision === undefined ? ('draft' as const) : ('active' as const),
    definition: one.definition as ClassifierDefinition,
    revision: one.revision,
    tried: one.isTried,
    active_revision: one.activeRevision,
    created_at: one.createdAt,
    updated_at: one.updatedAt,
  }
}
