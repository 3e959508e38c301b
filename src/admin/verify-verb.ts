/** `covenant verify`: checks files that hold proofs of the audit. It asks no service. */

import { parseArgs } from 'node:util'
import {
  compareCheckpoints,
  type Finding,
  type Review,
  readKeys,
  reviewBeginning,
  reviewCheckpoint,
  reviewEntry,
  type ShownBeginning,
  type ShownProof,
} from '../proof/verify.ts'
import { exitStatus, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant verify FILE … --key KEY [--key KEY]

Verifies proofs of the audit without a service, says what each file proves, and names what is wrong. A file holds a
checkpoint (a signed note), or what \`covenant audit checkpoint\`, \`audit proof\` or \`audit consistency\` prints with
--json. Of all checkpoints in the files, no two of one log and size may differ; of two sizes, a file must show that one
begins with the other.

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
    const reviews: { name: string; review: Review }[] = []
    for (const [at, path] of files.entries()) {
      const name = `file ${at + 1}`
      reviews.push({ name, review: reviewOf(await textOf(path, name), keys) })
    }
    let wrong = 0
    for (const { name, review } of reviews) {
      wrong += report(terminal, name, review.findings)
      if (review.findings.length === 0) terminal.print(`${name}: ${review.proven}`)
    }
    wrong += report(terminal, '', compareCheckpoints(reviews))
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

function reviewOf(text: string, keys: NonNullable<ReturnType<typeof readKeys>>): Review {
  const answer = jsonOf(text)
  if (answer === undefined) return reviewCheckpoint(text, keys)
  try {
    if (answer.leaf_hash !== undefined) return reviewEntry(answer as unknown as ShownProof, keys)
    if (typeof answer.checkpoint === 'string') return reviewCheckpoint(answer.checkpoint, keys)
    if (Array.isArray(answer.hashes)) return reviewBeginning(answer as unknown as ShownBeginning, keys)
  } catch {
    // A member of another type than it must have.
  }
  const finding: Finding = { kind: 'malformed', text: 'it holds no proof' }
  return { findings: [finding], proven: '', checkpoints: [] }
}

/** @returns how many there are */
function report({ complain }: Terminal, name: string, findings: readonly Finding[]): number {
  for (const { kind, text } of findings) complain(`${name === '' ? '' : `${name}: `}${kind}: ${text}`)
  return findings.length
}
