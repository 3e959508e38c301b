/**
 * A literal's text changes nothing else of the emitted SQL. Each text literal of the corpus and of the served attacks
 * is replaced by texts that look like SQL or template syntax.
 */

import { expect, test } from 'bun:test'
import { quoteText } from '../../../../src/base/sql-text.ts'
import type { DialectName } from '../../../../src/core/sql-type.ts'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { attacks } from '../../attacks/all.ts'
import { corpus } from '../../corpus/all.ts'
import { parameterValues } from '../../corpus/query.ts'
import { governedTables, principal } from '../../support/fixture.ts'

const plain = 'qqzxq'
const hostile = [
  '{0}',
  '{1}',
  '{*}',
  "'",
  "{0}' OR '{0}",
  ']',
  '[',
  '$&',
  "$'",
  '$`',
  '$$',
  '$1',
  '\\',
  '"',
  '--',
  '/*',
  'é\n',
]

/** Undefined where the statement is refused. */
function emit(
  text: string,
  dialect: DialectName,
  parameters: readonly (string | null)[],
): string | undefined {
  try {
    const compiled = compileQuery({
      text,
      principal,
      tables: governedTables,
      searchPath: ['sales', 'hr'],
      parameterValues: parameterValues(parameters),
    })
    return renderSql(compiled.emit(dialect), dialect, { salt: new Uint8Array(16), parameters })
  } catch (error) {
    if (error instanceof SqlError) return undefined
    throw error
  }
}

/** Where a plain text literal stands in a statement. */
const literals = /(?<![A-Za-z'$&])'[^'\\]*'(?!')/g

test.each(['duckdb', 'trino'] as const)(
  'for %s',
  (dialect) => {
    let compared = 0
    const served = [...corpus, ...attacks.filter(({ expect: expected }) => expected === 'same')].filter(
      // Replacements are rewritten in the engine's terms, and keys of jsonb are sorted.
      ({ sql }) => !/regexp_replace|jsonb_build_object/i.test(sql),
    )
    for (const each of served) {
      const parameters = 'parameters' in each ? (each.parameters ?? []) : []
      for (const { 0: literal, index } of each.sql.matchAll(literals)) {
        const withText = (text: string) =>
          each.sql.slice(0, index) + quoteText(text) + each.sql.slice(index + literal.length)
        const expected = emit(withText(plain), dialect, parameters)
        // The text has a meaning of its own there: a pattern, a key, a separator that is checked.
        if (expected === undefined || !expected.includes(quoteText(plain))) continue
        for (const text of hostile) {
          const actual = emit(withText(text), dialect, parameters)
          if (actual === undefined) continue
          expect([each.sql, text, actual]).toEqual([
            each.sql,
            text,
            expected.replaceAll(quoteText(plain), () => quoteText(text)),
          ])
          compared++
        }
      }
    }
    expect(compared).toBeGreaterThan(3_000)
  },
  60_000,
)

test.each(['duckdb', 'trino'] as const)(
  'a numeric of more than 38 digits is exact or refused: for %s',
  (dialect) => {
    const most = '9'.repeat(38)
    const more = `1${'0'.repeat(38)}`
    const one = (sql: string, parameters: readonly (string | null)[] = []) => {
      try {
        const values = parameterValues(parameters)
        const input = {
          text: `SELECT ${sql}`,
          principal,
          tables: [],
          searchPath: [],
          parameterValues: values,
        }
        const compiled = compileQuery(input)
        return renderSql(compiled.emit(dialect), dialect, { parameters })
      } catch (error) {
        return error instanceof SqlError ? error.sqlState : String(error)
      }
    }
    expect(one(most)).toContain(`CAST('${most}' AS DECIMAL(38,0))`)
    for (const text of [
      more,
      `-${more}`,
      '1e-39',
      `0.${'1'.repeat(39)}`,
      `${more} + 1`,
      `${more} > 1`,
      `${more}::text`,
    ])
      expect([text, one(text)]).toEqual([text, '0A000'])
    expect(one('$1::numeric + 1.5', [more])).toBe('0A000')
    for (const text of [
      '1e300::float8',
      '1e-40::real',
      '-(1e300)::float8',
      '1e300 * 1.5::float8',
      'sqrt(1e300::float8)',
    ])
      expect([text, one(text)]).toEqual([text, expect.stringMatching(/^SELECT .*1e[+-]/)])
  },
)
