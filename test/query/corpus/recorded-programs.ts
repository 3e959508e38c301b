/**
 * Statements that programs sent to a PostgreSQL with the fixture's tables, a file for each program: its name and version
 * in the first line, then one statement of each form. test/clients/corpus.clients.ts records them.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprintStatement } from '../../../src/query/compile/parse/fingerprint.ts'

export interface ProgramStatement {
  readonly text: string
  /** Types that the program names; 0 where it names none. */
  readonly oids?: readonly number[]
  /** In their text form; none where the statement has no parameters. */
  readonly values?: readonly (string | null)[]
}

export interface RecordedProgram {
  readonly tool: string
  readonly version: string
  readonly statements: readonly ProgramStatement[]
}

const folder = join(import.meta.dir, 'programs')

/** Where a program's statements lie. */
export const recordingOf = (name: string): string => join(folder, `${name}.jsonl`)

/** The recording of a program. @throws Error where there is none */
export function readRecording(name: string): RecordedProgram {
  const [head = '', ...lines] = readFileSync(recordingOf(name), 'utf8').trim().split('\n')
  const statements = lines.map((line) => JSON.parse(line) as ProgramStatement)
  return { ...(JSON.parse(head) as Pick<RecordedProgram, 'tool' | 'version'>), statements }
}

/** All of them, by the names of their files. */
export const recordedPrograms: readonly RecordedProgram[] = readdirSync(folder)
  .sort()
  .map((file) => readRecording(file.replace('.jsonl', '')))

/** What statements share that differ in literals, in lengths of lists and in names of aliases alone. */
export function formOf({ text }: ProgramStatement): string {
  return fingerprintStatement(text) ?? text
}
