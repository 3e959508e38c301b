/**
 * Conditions of lists, written from the filters that are given. A condition such as `$2 is null or table_id = $2` keeps
 * the database's kept plan from every index, so a list by table reads all that there is.
 */

import type { Param } from './session.ts'

/** A condition with `?` for each of its values; it is left out where one of them is undefined. */
export type Condition = readonly [text: string, ...values: readonly (Param | undefined)[]]

export interface Given {
  /** Each condition with ` and ` before it, and with its parameters numbered. */
  readonly text: string
  /** All parameters of the statement so far. */
  readonly params: readonly Param[]
}

/** @param first the parameters that the statement has before these conditions */
export function given(first: readonly Param[], ...conditions: readonly Condition[]): Given {
  const params: Param[] = [...first]
  const texts = conditions
    .filter(([, ...values]) => values.every((value) => value !== undefined))
    .map(([text, ...values]) => {
      let next = 0
      return ` and ${text.replaceAll('?', () => `$${params.push(values[next++] as Param)}`)}`
    })
  return { text: texts.join(''), params }
}
