/** Asks a PostgreSQL as a program did: with the types that it named, its values in text, and results in text. */

import type { SqlType } from '../../../src/core/sql-type.ts'
import { frames, reportFields, rowValues, WireClient } from '../../support/wire-client.ts'
import type { ProgramStatement } from '../corpus/recorded-programs.ts'
import type { Answer } from './duckdb.ts'

export interface WireOracle {
  /** Columns with OIDs as types, and rows; or the SQLSTATE. */
  ask(statement: ProgramStatement): Promise<Answer | string>
  /** The OIDs of a statement's parameters. */
  parameterOids(statement: ProgramStatement): Promise<readonly number[]>
  close(): void
}

/** @param port of a PostgreSQL that asks for no password */
export async function openWireOracle(port: number, user: string, database = 'postgres'): Promise<WireOracle> {
  const client = await WireClient.connect({ port })
  client.send(frames.startup({ user, database }))
  await client.until('Z')
  const parse = ({ text, oids }: ProgramStatement) => frames.parse(text, '', oids)
  return {
    async ask(statement) {
      const bind = frames.bind({ parameters: statement.values ?? [] })
      client.send(parse(statement), bind, frames.describe('P'), frames.execute(), frames.sync())
      const answers = await client.until('Z')
      const error = answers.find(({ type }) => type === 'E')
      if (error !== undefined) return reportFields(error).C ?? ''
      const described = answers.find(({ type }) => type === 'T')
      return {
        columns: described === undefined ? [] : columnsOf(described.body),
        rows: answers
          .filter(({ type }) => type === 'D')
          .map((row) => rowValues(row).map((value) => value?.toString() ?? null)),
      }
    },
    async parameterOids(statement) {
      client.send(parse(statement), frames.describe('S'), frames.sync())
      const described = (await client.until('Z')).find(({ type }) => type === 't')?.body
      const count = described?.readUInt16BE(0) ?? 0
      return Array.from({ length: count }, (_, index) => described?.readUInt32BE(2 + 4 * index) ?? 0)
    },
    close: () => client.close(),
  }
}

/** Of a RowDescription. */
function columnsOf(body: Buffer): Answer['columns'] {
  let at = 2
  return Array.from({ length: body.readUInt16BE(0) }, () => {
    const end = body.indexOf(0, at)
    const name = body.toString('utf8', at, end)
    at = end + 19
    return { name, type: String(body.readUInt32BE(end + 7)) as SqlType }
  })
}
