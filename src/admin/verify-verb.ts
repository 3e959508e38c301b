/** `covenant verify`: checks files that hold proofs of the audit. It asks no service. */

import { parseArgs } from 'node:util'
import {
  type Finding,
  readKeys,
  type ShownBeginning,
  type ShownProof,
  verifyBeginning,
  verifyCheckpoints,
  verifyEntry,
} from '../proof/verify.ts'
import { exitStatus, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant verify FILE … --key KEY [--key KEY]

Verifies proofs of the audit without a service, and names what is wrong. A file holds a checkpoint (a signed note), or
what \`covenant audit checkpoint\`, \`audit proof\` or \`audit consistency\` prints with --json. Of several checkpoints of one
log, no two of one size may differ.

  --key KEY   a key that is trusted, as the operator told you it: name+id+key

Exit status: 0 all is well, 1 something is wrong, 64 wrong usage.`

/**
 * Runs `covenant verify`. It never throws.
 * @returns the exit status
 */
export async function verify(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    const { files, key: texts } = readWords(words)
    const keys = readKeys(texts)
    if (keys === undefined) throw new UsageError('A key has another form than name+id+key')
    const notes: { name: string; note: string }[] = []
    let wrong = 0
    for (const [at, path] of files.entries()) {
      const name = `file ${at + 1}`
      const text = await textOf(path, name)
      const answer = jsonOf(text)
      const note = answer === undefined ? text : noteOf(answer)
      if (note !== undefined) notes.push({ name, note })
      if (answer !== undefined && note === undefined)
        wrong += report(terminal, name, findingsOf(answer, keys))
    }
    wrong += report(terminal, '', verifyCheckpoints(notes, keys))
    if (wrong === 0) terminal.print(`All is well: ${files.length} file${files.length === 1 ? '' : 's'}.`)
    return wrong === 0 ? exitStatus.done : exitStatus.failed
  } catch (error) {
    return reportFailure(error, 'covenant verify', terminal)
  }
}

function readWords(words: readonly string[]) {
  try {
    const options = { key: { type: 'string', multiple: true } } as const
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true })
    const { key = [] } = values
    if (positionals.length === 0 || key.length === 0) throw new UsageError('Name files, and a key')
    return { files: positionals, key }
  } catch {
    throw new UsageError('Name files, and at least one --key')
  }
}

async function textOf(path: string, name: string): Promise<string> {
  try {
    return await Bun.file(path).text()
  } catch {
    throw new UsageError(`${name} cannot be read`)
  }
}

/** @returns undefined where the text is no JSON object */
function jsonOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** The note of an answer that is a checkpoint and nothing else. */
function noteOf(answer: Readonly<Record<string, unknown>>): string | undefined {
  const { checkpoint } = answer
  return typeof checkpoint === 'string' && answer.leaf_hash === undefined ? checkpoint : undefined
}

function findingsOf(
  answer: Readonly<Record<string, unknown>>,
  keys: NonNullable<ReturnType<typeof readKeys>>,
): readonly Finding[] {
  try {
    if (answer.leaf_hash !== undefined) return verifyEntry(answer as unknown as ShownProof, keys)
    if (Array.isArray(answer.hashes)) return verifyBeginning(answer as unknown as ShownBeginning, keys)
  } catch {
    // A member of another type than it must have.
  }
  return [{ kind: 'malformed', text: 'it holds no proof' }]
}

/** @returns how many there are */
function report({ complain }: Terminal, name: string, findings: readonly Finding[]): number {
  for (const { kind, text } of findings) complain(`${name === '' ? '' : `${name}: `}${kind}: ${text}`)
  return findings.length
}
