/**
 * Runs drivers and tools against a lake and a PostgreSQL 18: once as a principal who sees everything, once as one whom
 * a filter and a mask concern. A foreign tenant has a database and a schema of the same names.
 */

import { join } from 'node:path'
import { type Lake, type LakeOptions, startLake } from '../../support/lake.ts'
import { type LakeTable, ordersTable, regionsTable } from '../../support/lake-tables.ts'
import { packageFolder } from '../packages.ts'
import type { Package } from '../pins.ts'
import { runClient } from '../processes.ts'
import type { Program } from '../programs.ts'
import { type ClientStep, differences, stepsOf } from './compare.ts'
import { type Oracle, startPostgres } from './oracle.ts'

export interface Driver {
  /** Of the distribution, where it is not of a pinned package. */
  readonly program?: Program
  /** In the folder `drivers`. */
  readonly command: readonly string[]
  /** Steps whose answers differ, and why; docs/postgres-compatibility.md lists the same. */
  readonly documented?: Readonly<Record<string, string>>
}

export interface Servers {
  readonly lake: Lake
  readonly oracle: Oracle
}

/** Of another tenant. */
export const payrollTable: LakeTable = {
  name: 'payroll',
  columns: [
    ['id', 'bigint', 'i'],
    ['person', 'text', "'person ' || i"],
    ['salary', 'integer', 'i * 1000'],
  ],
  rowCount: 4,
}

/** @param options of the lake, beside the tables that both servers have */
export async function startServers(stack: AsyncDisposableStack, options: LakeOptions = {}): Promise<Servers> {
  const oracle = stack.use(await startPostgres())
  const lake = stack.use(await startLake({ tables: [ordersTable, regionsTable], ...options }))
  stack.use(await startLake({ store: lake.store, tables: [payrollTable] }))
  return { oracle, lake }
}

/** A command of a Python environment. */
export const inPython = (name: Package, ...words: readonly string[]): readonly string[] => [
  join(packageFolder(name), 'bin/python'),
  ...words,
]

/** @returns steps of the lake, and those that differ though nothing says why, or do not though something does */
export async function compareServers(
  name: string,
  { command, documented = {} }: Driver,
  { ours, theirs }: Readonly<Record<'ours' | 'theirs', Readonly<Record<string, string>>>>,
): Promise<{ readonly steps: readonly ClientStep[]; readonly found: readonly unknown[] }> {
  const run = async (server: string, env: Readonly<Record<string, string>>) => {
    const cwd = new URL('./drivers', import.meta.url).pathname
    const log = `drivers-${name.replaceAll(/\W+/g, '-')}-${server}-${env.PGUSER}`
    return stepsOf(name, await runClient(log, command, { env, seconds: 120, cwd }))
  }
  const [expected, steps] = [await run('postgres', theirs), await run('covenant', ours)]
  const different = differences(steps, expected)
  const stale = Object.keys(documented).filter((step) => !different.some(([one]) => one === step))
  return { steps, found: [...different.filter(([step]) => documented[step] === undefined), ...stale] }
}
