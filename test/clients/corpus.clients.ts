/**
 * Programs that write SQL of their own accord write what test/query/corpus/programs has of them: each runs over what its
 * users do with the fixture's tables, at a PostgreSQL 18 behind a recorder. With RECORD_CORPUS=1 the recordings are
 * written instead. What the service gives for them is compared elsewhere: test/query/programs.test.ts on DuckDB,
 * trino-read.clients.ts on Trino.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { readRecording, recordingOf } from '../query/corpus/recorded-programs.ts'
import { postgresSetup } from '../query/support/fixture.ts'
import { type Oracle, startOracle } from '../query/support/postgres.ts'
import { openWireOracle, type WireOracle } from '../query/support/wire-oracle.ts'
import { freePort } from '../support/free-port.ts'
import { type RecordedStatement, startRecorder } from '../support/wire-recorder.ts'
import { distill, kindOf } from './corpus/distill.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'
import { hasProgram, type Program } from './programs.ts'

setDefaultTimeout(300_000)

const here = join(import.meta.dir, 'corpus')
const folder = mkdtempSync(join(tmpdir(), 'corpus-'))
const stack = new AsyncDisposableStack()
stack.defer(() => rmSync(folder, { recursive: true, force: true }))
const isRecording = process.env.RECORD_CORPUS !== undefined
const jars = [
  ...new Glob('*.jar').scanSync({ cwd: join(packageFolder('maven:orms'), 'lib'), absolute: true }),
]

const inPython = (script: string, ...words: readonly string[]) => [
  ...[join(packageFolder('python:corpus'), 'bin/python'), '-W', 'ignore', join(here, script), ...words],
]
const inRuby = (name: string) => ['ruby', '-W0', join(here, 'ruby_corpus.rb'), name]
const inGo = (name: string) => ['go', 'run', '-C', join(here, 'go'), '.', name]
const inNode = (name: string) => ['node', join(here, 'node_corpus.mjs'), packageFolder('npm:corpus'), name]
const inJava = (name: string) => [
  ...['java', '-Duser.timezone=UTC', '-Dorg.jooq.no-logo=true', '-Dorg.jooq.no-tips=true'],
  ...['-cp', [folder, ...jars].join(':'), 'Corpus', name],
]

interface RecordedRun {
  readonly tool: string
  readonly command: readonly string[]
  /** Of the distribution. */
  readonly program?: Program
}

/** By the names of the recordings. A kind of statement is recorded with the first of them that sends it. */
const runs: Readonly<Record<string, RecordedRun>> = {
  ...Object.fromEntries(
    ['psycopg2', 'psycopg', 'asyncpg', 'pg8000'].map((driver) => [
      `sqlalchemy-${driver}`,
      { tool: `SQLAlchemy on ${driver}`, command: inPython('sqlalchemy_corpus.py', driver) },
    ]),
  ),
  django: { tool: 'Django', command: inPython('django_corpus.py') },
  peewee: { tool: 'Peewee', command: inPython('small_orms_corpus.py', 'peewee') },
  pony: { tool: 'Pony', command: inPython('small_orms_corpus.py', 'pony') },
  tortoise: { tool: 'Tortoise ORM', command: inPython('small_orms_corpus.py', 'tortoise') },
  ibis: { tool: 'Ibis', command: inPython('ibis_corpus.py') },
  knex: { tool: 'Knex', command: inNode('knex') },
  kysely: { tool: 'Kysely', command: inNode('kysely') },
  drizzle: { tool: 'Drizzle', command: inNode('drizzle') },
  sequelize: { tool: 'Sequelize', command: inNode('sequelize') },
  typeorm: { tool: 'TypeORM', command: inNode('typeorm') },
  objection: { tool: 'Objection', command: inNode('objection') },
  mikroorm: { tool: 'MikroORM', command: inNode('mikroorm') },
  jooq: { tool: 'jOOQ', command: inJava('jooq') },
  hibernate: { tool: 'Hibernate', command: inJava('hibernate') },
  'active-record': { tool: 'Active Record', command: inRuby('active-record'), program: 'ruby' },
  sequel: { tool: 'Sequel', command: inRuby('sequel'), program: 'ruby' },
  gorm: { tool: 'GORM', command: inGo('gorm'), program: 'go' },
  bun: { tool: 'Bun', command: inGo('bun'), program: 'go' },
  squirrel: { tool: 'Squirrel on pgx', command: inGo('squirrel'), program: 'go' },
}

let oracle: Oracle
let port: number
let wire: WireOracle

beforeAll(async () => {
  port = freePort()
  const started = await startOracle({ port })
  if (started === undefined) throw new Error('there are no PostgreSQL binaries for this platform')
  oracle = started
  stack.defer(() => oracle.stop())
  for (const statement of postgresSetup()) await oracle.admin.unsafe(statement)
  wire = await openWireOracle(port, 'reader')
  stack.defer(() => wire.close())
  const compiler = ['-m', 'jdk.compiler/com.sun.tools.javac.Main', '-nowarn', '-cp', jars.join(':')]
  const command = ['java', ...compiler, '-d', folder, join(here, 'Corpus.java')]
  const { exitCode, output } = await runClient('corpus-javac', command, { seconds: 120 })
  if (exitCode !== 0) throw new Error(output.slice(-3_000))
})
afterAll(() => stack.disposeAsync())

/** Runs a program at the PostgreSQL. @returns its version, and what it sent */
async function record(name: string, command: readonly string[]) {
  const file = join(folder, `${name}.jsonl`)
  writeFileSync(file, '')
  await using recorder = await startRecorder(port, file)
  const env = {
    ...{ PGHOST: '127.0.0.1', PGPORT: String(recorder.port), PGSSLMODE: 'disable' },
    ...{ PGUSER: 'reader', PGPASSWORD: 'secret', PGDATABASE: 'postgres', PGTZ: 'UTC', TZ: 'UTC' },
    // Tortoise writes the columns of a set.
    PYTHONHASHSEED: '0',
  }
  const { exitCode, output } = await runClient(`corpus-${name}`, command, { env, seconds: 240 })
  if (exitCode !== 0) throw new Error(output.slice(-3_000))
  const version = /^VERSION (.*)$/m.exec(output)?.[1]
  if (version === undefined) throw new Error(`${name} does not say its version`)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return { version, sent: lines.map((line) => JSON.parse(line) as RecordedStatement) }
}

test.each(Object.entries(runs))(
  '%s writes what is recorded of it',
  async (name, { tool, command, program }) => {
    if (program !== undefined && !hasProgram(program)) return
    const { version, sent } = await record(name, command)
    const before = Object.keys(runs).slice(0, Object.keys(runs).indexOf(name))
    const others = new Set(before.flatMap((each) => readRecording(each).statements.map(kindOf)))
    const statements = await distill(sent, wire, others)
    const lines = [{ tool, version }, ...statements].map((line) => JSON.stringify(line))
    if (isRecording) writeFileSync(recordingOf(name), `${lines.join('\n')}\n`)
    expect(readRecording(name).statements).toEqual(statements)
  },
)
