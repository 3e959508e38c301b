/** Takes from what a program sent the statements about the fixture's tables, one of each form and types of parameters. */

import { parseSync } from 'libpg-query'
import { typeOfOid } from '../../../src/core/sql-type.ts'
import { parameterText } from '../../../src/wire/postgres/parameters.ts'
import { formOf, type ProgramStatement } from '../../query/corpus/recorded-programs.ts'
import { fixtures } from '../../query/support/fixture.ts'
import type { WireOracle } from '../../query/support/wire-oracle.ts'
import type { RecordedStatement } from '../../support/wire-recorder.ts'

const tables = new RegExp(`\\b(${fixtures.map(({ governed }) => governed.tableName).join('|')})\\b`)

/** Whether it is one SELECT that reads a table of the fixture, and nothing of the catalog. */
function readsData({ text }: RecordedStatement): boolean {
  if (!tables.test(text) || /\bpg_|information_schema/.test(text)) return false
  try {
    const { stmts } = parseSync(text) as { readonly stmts: readonly { readonly stmt: object }[] }
    return stmts.length === 1 && stmts.every(({ stmt }) => 'SelectStmt' in stmt)
  } catch {
    return false
  }
}

/** By which a statement is one of another's kind. */
export const kindOf = (statement: ProgramStatement): string => `${formOf(statement)} ${statement.oids ?? ''}`

/**
 * @param oracle where the program's statements can be described, for values that came in binary
 * @param others kinds of statements that are left out
 */
export async function distill(
  sent: readonly RecordedStatement[],
  oracle: WireOracle,
  others: ReadonlySet<string>,
): Promise<readonly ProgramStatement[]> {
  const found = new Map<string, ProgramStatement>()
  for (const statement of sent) {
    if (!readsData(statement)) continue
    const text = statement.text.trim().replace(/;$/, '')
    const oids = statement.oids.some((oid) => oid !== 0) ? statement.oids : undefined
    const kind = kindOf({ text, ...(oids && { oids }) })
    if (found.has(kind) || others.has(kind)) continue
    const types = await oracle.parameterOids({ text, oids: statement.oids })
    const values = statement.values?.map((value, index) => {
      if (value === null || typeof value === 'string') return value
      const type = typeOfOid(types[index] ?? 0) ?? 'unknown'
      return parameterText(Buffer.from(value.binary, 'base64'), 1, type)
    })
    found.set(kind, { text, ...(oids && { oids }), ...(values?.length && { values }) })
  }
  return [...found.values()]
}
