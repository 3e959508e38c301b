/** Reads the words after a contract verb: a folder or file, and flags. No value is repeated in a refusal. */

import { UsageError } from '../exit-status.ts'
import { parseWords } from '../parse-words.ts'

export interface ContractArguments {
  /** The folder, or for `apply` also a plan's file. */
  readonly place: string
  readonly json: boolean
  readonly url: string | undefined
  readonly sessionFile: string | undefined
  readonly managedBy: string
  readonly prune: boolean
  /** Whether settings that are not in a list of the files are removed. */
  readonly pruneSettings: boolean
  readonly out: string | undefined
  /** Where `apply` writes secrets that are shown once. */
  readonly secrets: string | undefined
  readonly wait: boolean
  readonly deploy: boolean
  readonly overwrite: boolean
  readonly timeoutMs: number
  readonly failOn: 'error' | 'warning'
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const remote = { url: text, 'session-file': text }

/** The flags of each verb; `--json` is of all. */
const flagsOf = {
  validate: { 'fail-on': text },
  test: {},
  plan: { ...remote, out: text, prune: flag, 'prune-settings': flag, 'managed-by': text },
  diff: { ...remote, 'managed-by': text },
  apply: {
    ...remote,
    secrets: text,
    prune: flag,
    'prune-settings': flag,
    'managed-by': text,
    deploy: flag,
    wait: flag,
    timeout: text,
  },
  export: { ...remote, overwrite: flag },
} as const

export type ContractVerb = keyof typeof flagsOf

/** Reads the words. @throws UsageError */
export function readArguments(
  verb: ContractVerb,
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ContractArguments {
  const { values, positionals } = parseWords(words, { ...flagsOf[verb], json: flag })
  if (positionals.length > 1) throw new UsageError(`\`${verb}\` takes one folder`)
  const optional = (name: string): string | undefined => {
    const value = values[name]
    if (value === '') throw new UsageError(`--${name} is empty`)
    return typeof value === 'string' ? value : undefined
  }
  const managedBy = optional('managed-by') ?? (env.COVENANT_MANAGED_BY || 'git')
  if (managedBy.length > 255) throw new UsageError('--managed-by must have 255 characters at most')
  return {
    place: positionals[0] ?? 'contracts',
    json: values.json === true,
    url: optional('url'),
    sessionFile: optional('session-file'),
    managedBy,
    prune: values.prune === true,
    pruneSettings: values['prune-settings'] === true,
    out: optional('out'),
    secrets: optional('secrets'),
    wait: values.wait === true,
    deploy: values.deploy === true,
    overwrite: values.overwrite === true,
    timeoutMs: secondsOf(optional('timeout')) * 1_000,
    failOn: severityOf(optional('fail-on')),
  }
}

function secondsOf(given = '600'): number {
  if (!/^[1-9]\d{0,5}$/.test(given))
    throw new UsageError('--timeout must be a whole number of seconds from 1')
  return Number(given)
}

function severityOf(given = 'error'): 'error' | 'warning' {
  if (given !== 'error' && given !== 'warning') throw new UsageError('--fail-on must be error or warning')
  return given
}
