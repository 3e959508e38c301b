/** Starts Spark with Iceberg for a suite: its configuration folder, its jars, and statements one by one or all at once. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageFile, packageFolder } from './packages.ts'
import type { Package } from './pins.ts'
import { type OpenSession, openSession, runSession, type Step } from './sessions.ts'

export interface SparkOptions {
  /** The text of `spark-defaults.conf`. */
  readonly settings: string
  readonly log: string
  /** After which it is ended. */
  readonly seconds: number
  /** Jars beside Iceberg's runtime. */
  readonly jars?: readonly string[]
  /** Where Spark's own tables go; a folder of the session otherwise. */
  readonly folder?: string
  /** Its packages; `python:spark` where absent. */
  readonly python?: Package
  readonly env?: Readonly<Record<string, string>>
}

/** What S3FileIO needs beside Iceberg's runtime for Spark. */
export const s3Jars = () => [packageFile('maven:iceberg-s3', 'iceberg-aws-bundle-')]

/** Runs all statements. @returns one report a statement, in order */
export async function runSpark(
  options: SparkOptions,
  statements: readonly string[],
): Promise<readonly Step[]> {
  await using stack = new AsyncDisposableStack()
  return await runSession(await sessionOf(stack, options, [JSON.stringify(statements)]))
}

/** Starts a session that takes its statements one by one. */
export async function openSpark(options: SparkOptions): Promise<OpenSession> {
  const stack = new AsyncDisposableStack()
  const session = stack.use(openSession(await sessionOf(stack, options, [])))
  return { ask: session.ask, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

async function sessionOf(
  stack: AsyncDisposableStack,
  { settings, log, seconds, jars = [], folder, python = 'python:spark', env }: SparkOptions,
  args: readonly string[],
) {
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'covenant-spark-')))
  if (folder === undefined) stack.defer(() => rm(home, { recursive: true, force: true }))
  await Bun.write(join(home, 'spark-defaults.conf'), settings)
  const runtime = packageFile('maven:iceberg-spark', 'iceberg-spark-runtime-')
  return {
    python: join(packageFolder(python), 'bin/python'),
    script: 'sql_session.py',
    args: ['spark', ...args],
    env: { SPARK_CONF_DIR: home, ICEBERG_JAR: [runtime, ...jars].join(','), ...env },
    ...{ log, seconds },
  }
}
