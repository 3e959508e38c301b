/** Runs statements over the PostgreSQL wire: by psql if it is installed, else by a driver that prints the same. */

import postgres from 'postgres'
import { psqlTable } from './psql-table.ts'

export interface DemoReader {
  /** The user of the connection, which is the principal's subject. */
  readonly sub: string
  /** The password: the secret of a service session with the scope `read`. */
  readonly secret: string
  readonly host: string
  readonly port: number
  /** Nickname of a catalog. */
  readonly database: string
}

const connection = ({ sub, host, port, database }: DemoReader) =>
  `postgresql://${sub}@${host}:${port}/${database}`

/** The command line for a POSIX shell. */
export function psqlCommand(reader: DemoReader, statement: string): string {
  return `PGPASSWORD=${reader.secret} psql -X '${connection(reader)}' -c ${shellQuoted(statement)}`
}

/** @returns what psql prints, errors of the server included */
export async function runPsql(reader: DemoReader, statement: string): Promise<string> {
  const psql = Bun.which('psql')
  if (psql !== null) return runProgram(psql, reader, statement)
  const { printed, error } = await runDriver(reader, statement)
  return printed + error
}

async function runProgram(psql: string, reader: DemoReader, statement: string): Promise<string> {
  const child = Bun.spawn([psql, '-X', connection(reader), '-c', statement], {
    // No settings of the machine, so that it prints the same everywhere, and no notices, as the driver prints none.
    env: {
      PATH: process.env.PATH,
      PGPASSWORD: reader.secret,
      PGOPTIONS: '-c client_min_messages=warning',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [printed, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return printed + errors
}

/** OIDs of the types whose values psql aligns to the right. */
const rightOids = new Set([20, 21, 23, 26, 700, 701, 1700])

/** Runs the statement by a driver. @returns the rows or the error as psql prints them */
export async function runDriver(
  reader: DemoReader,
  statement: string,
): Promise<{ readonly printed: string; readonly error: string }> {
  const sql = postgres({
    host: reader.host,
    port: reader.port,
    database: reader.database,
    username: reader.sub,
    password: reader.secret,
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  })
  try {
    const result = await sql.unsafe(statement).simple().raw()
    const columns = (result.columns ?? []).map(({ name, type }) => ({ name, right: rightOids.has(type) }))
    const text = (value: Uint8Array | null) => value && new TextDecoder().decode(value)
    const rows = result as unknown as readonly (readonly (Uint8Array | null)[])[]
    return {
      printed: psqlTable(
        columns,
        rows.map((row) => row.map(text)),
      ),
      error: '',
    }
  } catch (error) {
    if (!(error instanceof postgres.PostgresError)) throw error
    return { printed: '', error: `${error.severity}:  ${error.message}\n` }
  } finally {
    await sql.end()
  }
}

/** Uses double quotes if the statement's literals then need no quoting of their own. */
function shellQuoted(text: string): string {
  return text.includes("'") && !/["$`\\!]/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`
}
