/**
 * Reads the members of a level by the read path, so that filters and masks hold: a value that the reader may not see is
 * no member.
 */

import { Fault } from '../../base/fault.ts'
import { quoteIdentifier } from '../../base/sql-text.ts'
import { isNull } from '../../core/result-batch.ts'
import type { QueryContext, QueryService } from '../../query/query-service.ts'
import { defaultTextOptions, textOf } from '../../wire/postgres/text-values.ts'
import type { Cube, KeyLevel, LevelKey } from './model.ts'

interface MemberQuery {
  readonly cube: Cube
  readonly level: KeyLevel
  /** Only members with this value at another level of the hierarchy; null for NULL. */
  readonly where?: { readonly level: KeyLevel; readonly key: string | null }
  readonly membersMax: number
}

/** An expression for the keys of a level over the relation `f`. */
export function keySql({ column, grain }: LevelKey): string {
  const name = `"f".${quoteIdentifier(column)}`
  return grain === undefined ? name : `CAST(date_trunc('${grain}', CAST(${name} AS timestamp)) AS date)`
}

/**
 * The keys of the members, NULL first, then in order.
 * @throws Fault `unprocessable` where there are more than `membersMax`; SqlError of the read path
 */
export async function readMembers(
  queries: QueryService,
  on: QueryContext,
  { cube, level, where, membersMax }: MemberQuery,
  signal: AbortSignal,
): Promise<readonly (string | null)[]> {
  const { schema, name } = cube.relation
  const condition =
    where === undefined
      ? ''
      : where.key === null
        ? ` WHERE ${keySql(where.level.key)} IS NULL`
        : ` WHERE ${keySql(where.level.key)} = $1`
  const text = `SELECT ${keySql(level.key)} AS "key" FROM ${quoteIdentifier(schema)}.${quoteIdentifier(name)} AS "f"${condition} GROUP BY 1 ORDER BY 1 NULLS FIRST LIMIT ${membersMax + 1}`
  const prepared = await queries.prepare(on, text, [], { runsAtOnce: true, signal })
  const parameters = where === undefined || where.key === null ? [] : [where.key]
  const keys: (string | null)[] = []
  for await (const { columns, rowCount } of queries.run(on, prepared, { parameters, signal }))
    for (let row = 0; row < rowCount; row++) {
      const [column] = columns
      if (column !== undefined)
        keys.push(isNull(column, row) ? null : textOf(column, row, defaultTextOptions))
    }
  if (keys.length > membersMax)
    throw new Fault(
      'unprocessable',
      `The level ${level.uniqueName} has more than ${membersMax} members. Filter it, or ask for fewer.`,
    )
  return keys
}
