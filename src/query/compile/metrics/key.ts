/** A dimension of a metric relation as a key of a result: as a node, and as text for statements that are shown. */

import type { Node } from 'libpg-query'
import { quoteIdentifier } from '../../../base/sql-text.ts'
import { type Grain, grains } from '../../../core/metric.ts'
import { SqlError } from '../base/sql-error.ts'
import { callNode, castNode, columnNode, textNode } from './nodes.ts'
import { periodName } from './own-names.ts'

export interface Key {
  readonly name: string
  readonly grain: Grain | undefined
}

/** A key over the relation `f`. @throws SqlError 22023 for an unknown grain */
export function keyNode({ name, grain }: Key): Node {
  const column = columnNode('f', name)
  if (grain === undefined) return column
  assertGrain(grain)
  if (grain === 'hour') return callNode('date_trunc', [textNode('hour'), castNode('timestamp', column)])
  return callNode(periodName, [textNode(grain), column])
}

/** The text of {@link keyNode}. @throws SqlError 22023 for an unknown grain */
export function keySql({ name, grain }: Key): string {
  const column = `"f".${quoteIdentifier(name)}`
  if (grain === undefined) return column
  assertGrain(grain)
  if (grain === 'hour') return `date_trunc('hour', CAST(${column} AS timestamp))`
  return `${periodName}('${grain}', ${column})`
}

function assertGrain(grain: Grain): void {
  if (!grains.includes(grain)) throw new SqlError('22023', 'There is no such grain.')
}
