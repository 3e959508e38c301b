/** A read engine whose every result a test decides, and which records its calls. */

import type { ResultBatch } from '../../src/core/result-batch.ts'
import type { ComputeEngine, EngineRun, EngineStatement, TableSnapshot } from '../../src/engine/engine.ts'

export interface Asked {
  readonly tables: readonly TableSnapshot[]
  readonly run: EngineRun
  statement?: EngineStatement
  closed: number
}

export interface ScriptedEngine {
  readonly engine: ComputeEngine
  /** Every session that was asked for, in order. */
  readonly asked: Asked[]
  /** What the next runs give; a batch of no rows by default. */
  rows: (statement: EngineStatement, run: EngineRun) => AsyncIterable<ResultBatch>
  /** What opening waits for or throws. */
  opening: (run: EngineRun) => Promise<void>
}

/** @param relation how it names a table; by its name and snapshot where absent */
export function scriptedEngine(): ScriptedEngine {
  const asked: Asked[] = []
  const scripted: ScriptedEngine = {
    asked,
    rows: async function* () {},
    opening: async () => {},
    engine: {
      dialect: 'duckdb',
      async open(tables, run) {
        const one: Asked = { tables, run, closed: 0 }
        asked.push(one)
        await scripted.opening(run)
        return {
          relation(table) {
            const at = tables.find((each) => each.table === table)
            if (at === undefined) throw new Error('a relation that was not opened')
            return `"${table.tableName}@${at.snapshotId ?? 'empty'}"`
          },
          hasDeletes: () => false,
          run(statement) {
            one.statement = statement
            const rows = scripted.rows(statement, run)
            return {
              [Symbol.asyncIterator]: () => rows[Symbol.asyncIterator](),
              stats: () => ({ queueMs: 1, runMs: 2, bytesScanned: 3 }),
            }
          },
          async close() {
            one.closed++
          },
        }
      },
      async close() {},
    },
  }
  return scripted
}

/** A batch of one int8 column. */
export function longs(...values: readonly bigint[]): ResultBatch {
  return { rowCount: values.length, columns: [{ type: 'int8', values: BigInt64Array.from(values) }] }
}

/** A result of these batches, and then what `end` does. */
export async function* batches(
  all: readonly ResultBatch[],
  end: () => Promise<void> | void = () => {},
): AsyncGenerator<ResultBatch, void, undefined> {
  yield* all
  await end()
}
