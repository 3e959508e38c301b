/** Functions that take advisory locks are refused, so that no two clients are told that each is alone. */

import { expect, test } from 'bun:test'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { governedTables, principal } from '../../support/fixture.ts'

const stateOf = (text: string): string | undefined => {
  try {
    compileQuery({ text, principal, tables: governedTables, searchPath: ['sales'] })
    return undefined
  } catch (thrown) {
    return thrown instanceof SqlError ? `${thrown.sqlState} ${thrown.message}` : String(thrown)
  }
}

const names = ['', 'try_'].flatMap((tries) =>
  ['', 'xact_'].flatMap((scope) => ['', '_shared'].map((kind) => `pg_${tries}advisory_${scope}lock${kind}`)),
)

test.each(names)('%s is refused, because nothing is written here', (name) => {
  const refusal = `25006 cannot execute ${name}() in a read-only transaction`
  expect(stateOf(`select ${name}(1)`)).toStartWith(refusal)
  expect(stateOf(`select pg_catalog.${name}(1, 2), id from orders`)).toStartWith(refusal)
  expect(stateOf(`select id from orders where ${name}(hashtext('x'))`)).toStartWith(refusal)
})
