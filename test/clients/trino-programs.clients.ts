/** What programs write of their own accord, as corpus.clients.ts recorded it, on a real Trino beside a PostgreSQL 18. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { typeOfOid } from '../../src/core/sql-type.ts'
import { programDifferences } from '../query/corpus/program-differences.ts'
import { type ProgramStatement, recordedPrograms } from '../query/corpus/recorded-programs.ts'
import { type Answer, openSubject, type Subject } from '../query/support/duckdb.ts'
import { canary, governedTables, postgresSetup } from '../query/support/fixture.ts'
import { startOracle } from '../query/support/postgres.ts'
import { differenceOf } from '../query/support/same-answer.ts'
import { openWireOracle, type WireOracle } from '../query/support/wire-oracle.ts'
import { freePort } from '../support/free-port.ts'
import { startRestFixture } from './servers.ts'
import { icebergCatalog, startTrino } from './trino-server.ts'
import {
  currentSnapshot,
  type GovernedReader,
  governedReader,
  trinoEngine,
  writeFixture,
} from './trino-tables.ts'

setDefaultTimeout(600_000)

const stack = new AsyncDisposableStack()
let reader: GovernedReader
let wire: WireOracle
let subject: Subject

beforeAll(async () => {
  const port = freePort()
  const oracle = await startOracle({ port })
  if (oracle === undefined) throw new Error('this platform has no packaged PostgreSQL')
  stack.defer(() => oracle.stop())
  for (const statement of postgresSetup()) await oracle.admin.unsafe(statement)
  wire = await openWireOracle(port, 'reader')
  stack.defer(() => wire.close())
  const fixture = stack.use(await startRestFixture())
  const trino = stack.use(await startTrino({ catalogs: { lake: icebergCatalog(fixture.url) } }))
  subject = await openSubject()
  stack.defer(() => subject.close())
  await writeFixture(trino.url, subject)
  const engine = trinoEngine(trino.url, fixture.url)
  const snapshots = await Promise.all(governedTables.map((table) => currentSnapshot(fixture.url, table)))
  reader = governedReader(engine, snapshots, ['sales', 'hr'])
})
afterAll(() => stack.disposeAsync())

/** The answer, or the SQLSTATE. */
async function ask({ text, values, oids }: ProgramStatement): Promise<Answer | string> {
  const named = oids?.map((oid) => (oid === 0 ? undefined : typeOfOid(oid)))
  try {
    const { parameters } = subject.compile(text, named ? { parameterTypes: named } : {})
    return await reader.run(text, values, undefined, parameters)
  } catch (thrown) {
    const code = Reflect.get(thrown as object, 'code') ?? Reflect.get(thrown as object, 'sqlState')
    if (typeof code !== 'string') throw thrown
    return code
  }
}

/** docs/sql.md: intervals in results, on Trino. */
const toTheMillisecond = { written: /created_at"? - cast|shipped_at - sales\.orders\.created_at/ }

/** A statement waits for Trino most of its time. */
const runsAtOnce = 6

/** Refused for Trino, of all statements. */
const refused: string[] = []

describe.each(recordedPrograms.map((each) => [each.tool, each.statements] as const))(
  '%s',
  (_, statements) => {
    test('gets on Trino what it gets from PostgreSQL, or is refused there', async () => {
      const differences: unknown[] = []
      const waiting = [...statements]
      const compare = async () => {
        for (let statement = waiting.shift(); statement !== undefined; statement = waiting.shift()) {
          const actual = await ask(statement)
          expect(JSON.stringify(actual)).not.toContain(canary)
          if (actual === '0A000') refused.push(statement.text)
          else answers.push([statement, actual])
        }
      }
      const answers: (readonly [ProgramStatement, Answer | string])[] = []
      await Promise.all(Array.from({ length: runsAtOnce }, compare))
      for (const [statement, actual] of answers) {
        const difference = differenceOf(statement.text, actual, await wire.ask(statement))
        const isListed = [...programDifferences, toTheMillisecond].some(({ written }) =>
          written.test(statement.text),
        )
        if (difference !== undefined && !isListed) differences.push([statement, difference])
      }
      expect(differences).toEqual([])
    })
  },
)

test('a twelfth is refused at most', () => {
  const all = recordedPrograms.flatMap(({ statements }) => statements)
  console.log(`${all.length} statements, ${refused.length} refused on Trino`)
  expect(refused.length).toBeLessThan(all.length / 12)
})
