/** Asks a warehouse's metrics at random, and compares each answer with PostgreSQL's to the same request by hand. */

import { expect } from 'bun:test'
import type { Principal } from '../../../src/core/principal.ts'
import type { SemanticModel } from '../../../src/core/semantic-model.ts'
import { type Expansion, expandMetrics } from '../../../src/query/compile/metrics/expand.ts'
import { compileMetricRequest, type MetricRequest } from '../../../src/query/compile/metrics/request.ts'
import { normal } from '../../query/support/compare.ts'
import type { Answer } from '../../query/support/duckdb.ts'
import { askOracle, type Oracle } from '../../query/support/postgres.ts'
import { generator } from '../../support/generator.ts'
import { byHand, type Hand, randomRequest } from './hand.ts'
import { tpcds, tpcdsHand, tpcdsModel } from './tpcds.ts'
import { tpch, tpchHand, tpchModel } from './tpch.ts'
import { postgresSetup, viewsOf, type Warehouse } from './warehouse.ts'

/** Of every random choice; printed in the names of the tests. */
export const seed = 20_261_124

export interface Case {
  readonly warehouse: Warehouse
  readonly model: SemanticModel
  readonly hand: Hand
}

export const cases: readonly Case[] = [
  { warehouse: tpch, model: tpchModel, hand: tpchHand },
  { warehouse: tpcds, model: tpcdsModel, hand: tpcdsHand },
]

/** Every warehouse with each of its readers. */
export const readings = cases.flatMap((one) =>
  one.warehouse.readers.map((reader) => [one.warehouse.namespace, reader.sub, one, reader] as const),
)

/** Makes the tables, views and roles of every warehouse. */
export async function fillOracle({ admin }: Oracle): Promise<void> {
  for (const { warehouse } of cases)
    for (const statement of postgresSetup(warehouse)) await admin.unsafe(statement)
}

/** Runs a compiled request as a reader. */
export type Ask = (
  text: string,
  parameters: readonly string[],
  as: { readonly reader: Principal; readonly expansion: Expansion },
) => Promise<Answer>

export interface Compared {
  readonly requests: number
  readonly rows: number
  /** Values that are not NULL. */
  readonly values: number
  readonly metrics: ReadonlySet<string>
}

/** Compares `rounds` random requests of one reader. It connects as a role that reads the reader's views alone. */
export async function compareRandom(
  oracle: Oracle,
  { warehouse, model, hand }: Case,
  reader: Principal,
  rounds: number,
  ask: Ask,
): Promise<Compared> {
  const barrier = oracle.connect(viewsOf(warehouse, reader))
  const random = generator(seed)
  const metrics = new Set<string>()
  let [rows, values] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    const request: MetricRequest = randomRequest(hand, random)
    const sql = byHand(hand, request)
    const expected = await askOracle(barrier, sql)
    if (typeof expected === 'string') throw new Error(`PostgreSQL refuses with ${expected}: ${sql}`)
    const { tree, parameters } = compileMetricRequest(model, request)
    const expansion = expandMetrics(tree, { model, searchPath: [], generated: true })
    const actual = await ask('', parameters, { reader, expansion }).catch((cause: unknown) => {
      throw new Error(`round ${round}: ${JSON.stringify(request)}`, { cause })
    })
    const types = actual.columns.map(({ type }) => type)
    const shown = (answer: Answer) => ({ round, request, rows: normal(answer.rows, types, true) })
    expect(shown(actual)).toEqual(shown(expected))
    for (const name of request.metrics) metrics.add(name)
    rows += actual.rows.length
    values += actual.rows
      .flatMap((row) => row.slice(-request.metrics.length))
      .filter((cell) => cell !== null).length
  }
  return { requests: rounds, rows, values, metrics }
}
