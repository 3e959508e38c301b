/** Flattens ROLLUP, CUBE and GROUPING SETS to one list of sets, the only form that all engines accept. */

import type { Expr, GroupElement } from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import { groupExprs } from '../resolve/grouping.ts'

const setsMax = 1_024
/** Bound on the keys in all sets together. */
const keysMax = 50_000

/**
 * The grouping sets of a GROUP BY list: the product of the sets of its elements.
 *
 * @throws SqlError 54001 where there are too many
 */
export function groupingSets(elements: readonly GroupElement[]): readonly (readonly Expr[])[] {
  const { sets, keys } = elements.map(measure).reduce(product, { sets: 1, keys: 0 })
  // Counted before they are made, because a short text may stand for more sets than fit in memory.
  if (sets > setsMax || keys > keysMax)
    throw new SqlError('54001', `There are too many grouping sets; at most ${setsMax} are allowed.`)
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

/** Counts the sets of an element and the keys in them. */
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
