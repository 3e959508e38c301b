/** Names the compute engine that reads a catalog's tables: `read_engine` of its credential's configuration. */

import { Fault } from '../base/fault.ts'

const readEngineNames = ['duckdb', 'trino'] as const
export type ReadEngineName = (typeof readEngineNames)[number]

/**
 * The engine that a catalog credential's configuration names; default: `duckdb`.
 * @throws Fault `bad_request` for another name
 */
export function readEngineOf(config: Readonly<Record<string, unknown>>): ReadEngineName {
  const named = config.read_engine ?? 'duckdb'
  const name = readEngineNames.find((one) => one === named)
  if (name === undefined)
    throw new Fault('bad_request', `\`read_engine\` must be one of ${readEngineNames.join(', ')}.`)
  return name
}
