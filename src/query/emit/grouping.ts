/** GROUP BY with ROLLUP, CUBE and GROUPING SETS as one flat list of sets: the only form that all engines take. */

import type { Expr, GroupElement } from '../ir.ts'
import { groupExprs } from '../resolve/grouping.ts'
import { SqlError } from '../sql-error.ts'

const setsMax = 1_024
/** Keys in all sets together. */
const keysMax = 50_000

/**
 * The grouping sets that a GROUP BY list means: the product of what its elements mean.
 *
 * @throws SqlError 54001 where there are too many
 */
export function groupingSets(elements: readonly GroupElement[]): readonly (readonly Expr[])[] {
  const { sets, keys } = elements.map(measure).reduce(product, { sets: 1, keys: 0 })
  // Told before they are made: a short text may mean more of them than there is memory.
  if (sets > setsMax || keys > keysMax) throw new SqlError('54001', 'There are too many grouping sets.')
  return elements
    .map(setsOf)
    .reduce<readonly (readonly Expr[])[]>(
      (lefts, own) => lefts.flatMap((left) => own.map((right) => [...left, ...right])),
      [[]],
    )
}

interface Measure {
  readonly sets: number
  readonly keys: number
}

function product(left: Measure, right: Measure): Measure {
  return { sets: left.sets * right.sets, keys: left.keys * right.sets + right.keys * left.sets }
}

function sum(left: Measure, right: Measure): Measure {
  return { sets: left.sets + right.sets, keys: left.keys + right.keys }
}

/** How many sets an element means, and how many keys are in them. */
function measure(element: GroupElement): Measure {
  switch (element.kind) {
    case 'expr':
      return { sets: 1, keys: 1 }
    case 'empty':
      return { sets: 1, keys: 0 }
    case 'row':
      return { sets: 1, keys: groupExprs(element).length }
    case 'sets':
      return element.items.map(measure).reduce(sum, { sets: 0, keys: 0 })
    case 'rollup': {
      const sizes = element.items.map((item) => groupExprs(item).length)
      const keys = sizes.reduce((all, size, index) => all + size * (sizes.length - index), 0)
      return { sets: sizes.length + 1, keys }
    }
    case 'cube': {
      const { length } = element.items
      return { sets: 2 ** length, keys: 2 ** (length - 1) * groupExprs(element).length }
    }
  }
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
      return Array.from({ length: 2 ** items.length }, (_, bits) =>
        items.filter((_item, index) => (bits & (1 << index)) === 0).flat(),
      )
    }
  }
}
