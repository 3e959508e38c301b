/** The frame of the administration commands: words to a command, flags to values, problems to one sentence. */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { parseTenantId, type TenantId } from '../core/tenant.ts'
import type { Store } from '../store/store.ts'

export interface Command {
  /** The words that name it, such as `session create`. */
  readonly words: string
  /** Its flags, as the usage line shows them. */
  readonly usage: string
  readonly summary: string
  readonly options: NonNullable<ParseArgsConfig['options']>
  /** @returns what to print: an object or an array as JSON, a string as it is */
  readonly run: (flags: Flags, store: Store) => Promise<unknown>
}

/** The user's words were wrong; the message says how. */
export class UsageError extends Error {}

/** The flags of one call. */
export class Flags {
  constructor(readonly values: Readonly<Record<string, unknown>>) {}

  /** @throws UsageError where the flag is missing or empty */
  required(name: string): string {
    const value = this.optional(name)
    if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
    return value
  }

  optional(name: string): string | undefined {
    const value = this.values[name]
    return typeof value === 'string' ? value : undefined
  }

  /** A comma-separated list; empty where the flag is absent. */
  list(name: string): readonly string[] {
    return (this.optional(name) ?? '').split(',').filter((item) => item !== '')
  }

  /** @throws UsageError where the flag is not one of `choices` */
  choice<T extends string>(name: string, choices: readonly T[]): T {
    const value = this.required(name)
    const found = choices.find((choice) => choice === value)
    if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(', ')}`)
    return found
  }

  /** @throws UsageError where --tenant is not a UUID version 4 */
  tenant(): TenantId {
    const tenant = parseTenantId(this.required('tenant'))
    if (tenant === undefined) throw new UsageError('--tenant must be a UUID version 4')
    return tenant
  }

  /** The text of the file that the flag names; `-` is standard input. */
  async file(name: string): Promise<string> {
    const path = this.required(name)
    if (path === '-') return await Bun.stdin.text()
    const file = Bun.file(path)
    if (!(await file.exists())) throw new UsageError(`--${name}: there is no file ${path}`)
    return await file.text()
  }
}

/**
 * Finds the command that `words` begin with and reads its flags.
 * @throws UsageError where there is none, or a flag is unknown
 */
export function parseCommand(
  words: readonly string[],
  commands: readonly Command[],
): { readonly command: Command; readonly flags: Flags } {
  const command = commands.find((one) => one.words === words.slice(0, one.words.split(' ').length).join(' '))
  if (command === undefined) throw new UsageError(`there is no command \`${words.slice(0, 2).join(' ')}\``)
  try {
    const args = words.slice(command.words.split(' ').length)
    const { values } = parseArgs({ args, options: command.options, allowPositionals: false, strict: true })
    return { command, flags: new Flags(values) }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** The page that --help prints. */
export function usageText(commands: readonly Command[]): string {
  const lines = commands.map(({ words, usage, summary }) => `  ${words} ${usage}\n      ${summary}`)
  return `Usage: bun run admin <command> [flags]

Works on the store that SVC_DATABASE_URL or SVC_DATA_DIR names. The embedded store has one owner at a time:
stop the service first, or use a PostgreSQL store.

${lines.join('\n')}
`
}
