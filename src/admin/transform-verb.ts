/**
 * `covenant transform`: shows rows of a file before and after the plan of a table, or the plan as SQL. The rows stay on
 * this machine; only the plan is asked for. What it prints holds the values of the file, for the person who has it.
 */

import { parseArgs } from 'node:util'
import type { MaskValue } from '../core/mask.ts'
import { emitProtected, writerDialects } from '../query/compile/emit/protect.ts'
import { fetchPlan, type PlanRequest } from '../transform/fetch-plan.ts'
import { withSubjectKeys } from '../transform/fetch-subject-keys.ts'
import type { OpenPlan } from '../transform/open-plan.ts'
import { type ColumnRule, isSubjectRule } from '../transform/plan.ts'
import { proofProperty } from '../transform/plan-proof.ts'
import { asRefusal, protectColumn } from '../transform/protect-values.ts'
import { TransformRefused } from '../transform/refusal.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import { serviceAddress } from './service-address.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant transform preview --table NAMESPACE.TABLE --file FILE
         [--catalog NAME] [--rows N] [--url URL] [--session-file FILE]
       covenant transform sql --table NAMESPACE.TABLE --dialect DIALECT
         [--catalog NAME] [--url URL] [--session-file FILE]
       covenant transform status|rules|reveals|subjects|shred|rotate …   (each has its own --help)

preview shows rows before and after the plan of a table. FILE has a JSON object of columns on each line; - is standard input.
Dates are 2026-11-23, timestamps 2026-11-23T08:00:00Z, decimals and uuids text, bytes hexadecimal text. The
rows stay here.

sql writes the plan as the columns of a SELECT, for INSERT … SELECT. DIALECT is duckdb, trino or spark. A plan with a
column to tokenize or encrypt is refused, because a key in SQL would land in query logs.

  --catalog NAME   the catalog that has the table, where the tenant has several
  --rows N         how many rows, 10 where it is left out, at most 1000

The service is that of --url or COVENANT_URL. The session is the secret in COVENANT_SESSION, or in the file that
--session-file or COVENANT_SESSION_FILE names; it needs the scope commit.
${exitStatusHelp}`

const rowsMax = 1_000

/**
 * Runs the verb. It never throws.
 *
 * @returns the exit status
 */
export async function transform(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    const { flags, word } = readFlags(words)
    await (word === 'sql' ? showSql(flags, terminal) : preview(flags, terminal))
    return exitStatus.done
  } catch (error) {
    if (!(error instanceof TransformRefused)) return reportFailure(error, 'covenant transform', terminal)
    terminal.complain(`Refused (${error.code}): ${error.message}.`)
    return exitStatus.failed
  }
}

async function preview(flags: Flags, terminal: Terminal): Promise<void> {
  const table = tableOf(flags)
  const { file, rows: rowsText = '10' } = flags
  if (file === undefined) throw new UsageError('--file takes the name of a file with rows')
  const count = /^\d{1,4}$/.test(rowsText) ? Number(rowsText) : 0
  if (count < 1 || count > rowsMax) throw new UsageError(`--rows must be a number from 1 to ${rowsMax}`)
  const request = await requestOf(flags, table, terminal)
  const rows = readRows(await contentOf(file, terminal), count)
  const open = await fetchPlan(request)
  const after = await protectRows(request, open, rows)
  for (const [index, row] of rows.entries()) {
    terminal.print(`before ${JSON.stringify(row)}`)
    terminal.print(`after  ${JSON.stringify(after[index])}`)
  }
}

/** Nothing is printed unless every column can be written as SQL: part of a plan would write the rest in clear. */
async function showSql(flags: Flags, terminal: Terminal): Promise<void> {
  const table = tableOf(flags)
  if (flags.file !== undefined || flags.rows !== undefined) throw new UsageError('sql takes no rows')
  const dialect = writerDialects.find((name) => name === flags.dialect)
  if (dialect === undefined) throw new UsageError(`--dialect is one of ${writerDialects.join(', ')}`)
  const { plan } = await fetchPlan(await requestOf(flags, table, terminal))
  // Both are opaque, and stand in a comment of one line.
  if (!/^[\x21-\x7e]+$/.test(`${plan.policy_version}:${plan.nonce}`))
    throw new TransformRefused('malformed_plan', 'its proof is not printable')
  const columns = emitProtected(dialect, plan.columns).map(({ sql, quoted }) =>
    sql === quoted ? sql : `${sql} AS ${quoted}`,
  )
  terminal.print(`-- ${proofProperty}=${plan.policy_version}:${plan.nonce}`)
  for (const [index, column] of columns.entries())
    terminal.print(index === columns.length - 1 ? column : `${column},`)
}

type Flags = ReturnType<typeof parseFlags>['values']

function parseFlags(words: readonly string[]) {
  const text = { type: 'string' } as const
  const options = {
    table: text,
    file: text,
    dialect: text,
    catalog: text,
    rows: text,
    url: text,
    'session-file': text,
  }
  return parseArgs({ args: [...words], options, allowPositionals: true })
}

function readFlags(words: readonly string[]): { readonly flags: Flags; readonly word: 'preview' | 'sql' } {
  let parsed: ReturnType<typeof parseFlags>
  try {
    parsed = parseFlags(words)
  } catch {
    throw new UsageError('There is no such flag, or one lacks its value')
  }
  const [word] = parsed.positionals
  if (parsed.positionals.length !== 1 || (word !== 'preview' && word !== 'sql'))
    throw new UsageError('The word is preview or sql')
  if (word === 'preview' && parsed.values.dialect !== undefined)
    throw new UsageError('preview takes no dialect')
  return { flags: parsed.values, word }
}

function tableOf({ table }: Flags): readonly string[] {
  const parts = table?.split('.') ?? []
  if (parts.length < 2 || parts.includes(''))
    throw new UsageError('--table takes a namespace and a table, as in sales.orders')
  return parts
}

async function requestOf(
  { url, catalog, 'session-file': sessionFile }: Flags,
  table: readonly string[],
  terminal: Terminal,
): Promise<PlanRequest> {
  const address = await serviceAddress({ url, sessionFile }, terminal.env)
  if (address === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
  const headers = {
    'X-Svc-Session': address.session,
    ...(address.token !== undefined && { Authorization: `Bearer ${address.token}` }),
  }
  return { url: address.url, table, headers, ...(catalog !== undefined && { catalog }) }
}

async function contentOf(file: string, terminal: Terminal): Promise<string> {
  if (file === '-') return await terminal.stdin()
  try {
    return await Bun.file(file).text()
  } catch {
    throw new UsageError('--file takes the name of a file that can be read')
  }
}

type Row = Readonly<Record<string, unknown>>

function readRows(text: string, count: number): readonly Row[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(0, count).map((line, index) => {
    try {
      const row: unknown = JSON.parse(line)
      if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Row
    } catch {
      // Not quoted: it may be what is to be protected.
    }
    throw new UsageError(`Line ${index + 1} of the file is no JSON object`)
  })
}

async function protectRows(
  request: PlanRequest,
  given: OpenPlan,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const rules = names.map((name) => {
    const rule = given.plan.columns.find((column) => column.name === name)
    if (rule === undefined) throw new TransformRefused('unknown_column', 'the plan does not know it', name)
    return rule
  })
  const subjects = new Set(given.plan.columns.filter(isSubjectRule).map((rule) => rule.subject_key_of))
  const columns = Object.fromEntries(
    rules
      .filter(({ action, name }) => action !== 'keep' || subjects.has(name))
      .map((rule) => [
        rule.name,
        asRefusal(rule, () => rows.map((row) => maskValueOf(rule, row[rule.name]))),
      ]),
  )
  const open = await withSubjectKeys({ ...request, dryRun: true }, given, columns)
  const after = rules.map((rule) =>
    rule.action === 'keep'
      ? rows.map((row) => row[rule.name])
      : protectColumn(open, rule, columns).map((value) => shown(rule, value)),
  )
  return rows.map((_, index) => Object.fromEntries(names.map((name, place) => [name, after[place]?.[index]])))
}

/** A value of JSON as the transform takes it; what does not fit is refused there. */
function maskValueOf({ type }: ColumnRule, value: unknown): MaskValue {
  if (value === null || value === undefined) return null
  if (type === 'date' && typeof value === 'string') return Number(unitsOf(value, 86_400_000_000n))
  if (type.startsWith('timestamp') && typeof value === 'string')
    return type.endsWith('_ns') ? unitsOf(value, 1n) * 1000n : unitsOf(value, 1n)
  if (
    (type === 'long' || type.startsWith('time')) &&
    (typeof value === 'number' || typeof value === 'string')
  )
    return BigInt(value)
  if (type === 'binary' || type.startsWith('fixed['))
    return typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'hex')) : (value as MaskValue)
  return value as MaskValue
}

/** Microseconds since 1970, divided. */
function unitsOf(text: string, microsPerUnit: bigint): bigint {
  const ms = Date.parse(/[Z+]|\d-\d\d:\d\d$/.test(text) || text.length === 10 ? text : `${text}Z`)
  if (Number.isNaN(ms)) throw new TransformRefused('wrong_type', 'a value is no date or timestamp')
  return (BigInt(ms) * 1000n) / microsPerUnit
}

function shown({ type }: ColumnRule, value: MaskValue): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (type === 'date' && typeof value === 'number')
    return new Date(value * 86_400_000).toISOString().slice(0, 10)
  if (type.startsWith('timestamp') && typeof value === 'bigint')
    return new Date(Number(value / (type.endsWith('_ns') ? 1_000_000n : 1000n))).toISOString()
  return typeof value === 'bigint' ? String(value) : value
}
