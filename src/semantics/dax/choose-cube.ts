/** Which cube a DAX query is about: the one that the connection names, or the only one that has all tables of the query. */

import type { DaxExpression, DaxQuery } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import type { Cube } from '../cube/model.ts'
import { columnNamed, isSame, measureNamed, type TabularModel, tabularOf, wholeModel } from './tabular.ts'

interface Names {
  /** `table[name]`; the table is absent for a name alone. */
  readonly columns: readonly { readonly table: string | undefined; readonly name: string }[]
}

/** @throws Fault `bad_request` where no cube fits, or several do */
export function cubeOf(cubes: readonly Cube[], name: string | undefined, query: DaxQuery): Cube {
  if (name !== undefined && name !== '' && !isSame(name, wholeModel))
    return cubes.find((cube) => isSame(cube.name, name)) ?? refuseDax('there is no such cube in this catalog')
  const names = namesOf(query)
  const own = new Set(query.measures.map((measure) => measure.name.toLowerCase()))
  const fitting = cubes.filter((cube) => {
    const model = tabularOf(cube)
    return names.columns.every(({ table, name: each }) => {
      if (table === undefined || own.has(each.toLowerCase())) return true
      return isIn(model, table, each)
    })
  })
  const [only, ...others] = fitting
  if (only === undefined) return refuseDax('a table, column or measure is not in this catalog')
  return others.length === 0 ? only : refuseDax('the query fits several cubes; name one by the property Cube')
}

function isIn(model: TabularModel, table: string, name: string): boolean {
  const found = model.tables.find((each) => isSame(each.name, table))
  if (found === undefined) return false
  if (columnNamed(model, table, name) !== undefined) return true
  return found.measures.length > 0 && measureNamed(model, name) !== undefined
}

function namesOf({ variables, measures, evaluations }: DaxQuery): Names {
  const columns = new Map<string, Names['columns'][number]>()
  const visit = (expression: DaxExpression | undefined): void => {
    if (expression?.kind === 'column') {
      const { table, name } = expression
      // A long query names few columns, and each is looked for in every cube.
      columns.set(JSON.stringify([table, name]), { table, name })
    }
    for (const each of partsOf(expression)) visit(each)
  }
  for (const { value } of [...variables, ...measures]) visit(value)
  // Columns of ORDER BY are those of the result.
  for (const { table } of evaluations) visit(table)
  return { columns: [...columns.values()] }
}

/** The expressions directly within one. */
function partsOf(expression: DaxExpression | undefined): readonly (DaxExpression | undefined)[] {
  switch (expression?.kind) {
    case 'not':
    case 'negate':
      return [expression.of]
    case 'operation':
      return [expression.left, expression.right]
    case 'call':
    case 'tuple':
      return expression.items
    case 'rows':
      return expression.rows.flat()
    case 'let':
      return [...expression.variables.map(({ value }) => value), expression.body]
    default:
      return []
  }
}
