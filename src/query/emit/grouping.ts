/** GROUP BY with ROLLUP, CUBE and GROUPING SETS as one flat list of sets: the only form that all engines take. */

import type { Expr, GroupElement } from '../ir.ts'
import { groupExprs } from '../resolve/grouping.ts'
import { SqlError } from '../sql-error.ts'

const setsMax = 1_024

/**
 * The grouping sets that a GROUP BY list means: the product of what its elements mean.
 *
 * @throws SqlError 54001 where there are too many
 */
export function groupingSets(elements: readonly GroupElement[]): readonly (readonly Expr[])[] {
  let sets: readonly (readonly Expr[])[] = [[]]
  for (const element of elements) {
    const own = setsOf(element)
    if (sets.length * own.length > setsMax) throw new SqlError('54001', 'There are too many grouping sets.')
    sets = sets.flatMap((left) => own.map((right) => [...left, ...right]))
  }
  return sets
}

function setsOf(element: GroupElement): readonly (readonly Expr[])[] {
  switch (element.kind) {
    case 'expr':
      return [[element.expr]]
    case 'empty':
      return [[]]
    case 'row':
      return [groupExprs(element)]
    case 'sets':
      return element.items.flatMap(setsOf)
    case 'rollup': {
      const items = element.items.map(groupExprs)
      return Array.from({ length: items.length + 1 }, (_, index) =>
        items.slice(0, items.length - index).flat(),
      )
    }
    case 'cube': {
      const items = element.items.map(groupExprs)
      if (items.length > 10) throw new SqlError('54001', 'There are too many grouping sets.')
      return Array.from({ length: 2 ** items.length }, (_, bits) =>
        items.filter((_item, index) => (bits & (1 << index)) === 0).flat(),
      )
    }
  }
}
