/** Finds and prepares the administration command that the arguments name, and writes its help and its output. */

import { parseArgs } from 'node:util'
import { Fault } from '../base/fault.ts'
import type { Config } from '../config.ts'
import type { TenantId } from '../core/tenant.ts'
import { everyItem, type Page, type PageRequest } from '../store/database/page.ts'
import type { Store } from '../store/store.ts'
import { getTenant } from '../store/tenant/tenants.ts'
import { exitStatusHelp, UsageError } from './exit-status.ts'
import { Flags } from './flags.ts'

/**
 * Runs a command after its flags were checked.
 * @param config of the service whose store it is
 * @returns the output: an object or an array is printed as JSON, a string unchanged, undefined not at all
 */
export type Action = (store: Store, config: Config) => Promise<unknown>

export interface Command {
  /** The words that name it, such as `session create`. */
  readonly words: string
  /** Its flags as the help shows them; only these are accepted. */
  readonly usage: string
  readonly summary: string
  /** The fields that --field may select; none where the result is a list, or nothing. */
  readonly fields?: readonly string[]
  /** Reads and checks every flag, before the store is opened. Throws UsageError where one is missing or wrong. */
  readonly prepare: (flags: Flags) => Action | Promise<Action>
}

/** An action that first checks that the tenant exists. */
export function onTenant(flags: Flags, run: (store: Store, tenant: TenantId) => Promise<unknown>): Action {
  const tenant = flags.tenant()
  return async (store) => {
    if ((await getTenant(store, tenant)) === undefined)
      throw new Fault('not_found', 'There is no such tenant.')
    return await run(store, tenant)
  }
}

/** All items of a paged listing. */
export function everyPage<T>(load: (page: PageRequest) => Promise<Page<T>>): Promise<readonly T[]> {
  return Array.fromAsync(everyItem(load))
}

/**
 * Checks the result of a change that returns nothing to print.
 * @throws Fault `not_found` with `message` where there was nothing to change
 */
export function assertFound(found: boolean, message: string): void {
  if (!found) throw new Fault('not_found', message)
}

export interface Call {
  readonly action: Action
  /** The one field to print, if --field is given. */
  readonly field: string | undefined
}

/**
 * Finds the command that `words` begin with and has it check its flags.
 * @param stdin the text that a flag's `-` refers to
 * @throws UsageError where there is none, or a flag is unknown, missing or wrong
 */
export async function prepareCall(
  words: readonly string[],
  commands: readonly Command[],
  stdin: () => Promise<string>,
): Promise<Call> {
  const names = leadingWords(words)
  const command = commands.find((one) => `${names.join(' ')} `.startsWith(`${one.words} `))
  if (command === undefined) throw new UsageError(unknownCommand(names, commands))
  const flags = readFlags(words.slice(command.words.split(' ').length), command, stdin)
  const field = flags.choice('field', command.fields ?? [])
  return { action: await command.prepare(flags), field }
}

function readFlags(args: readonly string[], command: Command, stdin: () => Promise<string>): Flags {
  const names = [...usageOf(command).matchAll(/--([a-z]+)/g)].map(([, name = '']) => name)
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  const parse = () =>
    parseArgs({ args: [...args], options, allowPositionals: true, strict: true, tokens: true })
  let read: ReturnType<typeof parse>
  try {
    read = parse()
  } catch (error) {
    // Only the first sentence: the rest is Node's advice on positional arguments.
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(message.split(/\.? To specify a positional|\n/)[0] ?? message)
  }
  // Not quoted, because it may be a secret in the wrong place.
  if (read.positionals.length > 0) throw new UsageError(`\`${command.words}\` takes flags only`)
  const given = read.tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))
  const repeated = given.find((name, index) => given.indexOf(name) < index)
  if (repeated !== undefined) throw new UsageError(`--${repeated} is given more than once`)
  return new Flags(read.values, stdin)
}

function usageOf({ words, usage, fields = [] }: Command): string {
  const field = fields.length === 0 ? '' : `[--field ${fields.join('|')}]`
  return [words, usage, field].filter((part) => part !== '').join(' ')
}

function leadingWords(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => word.startsWith('-'))
  return end < 0 ? words : words.slice(0, end)
}

function unknownCommand(names: readonly string[], commands: readonly Command[]): string {
  const group = commands.filter((one) => one.words.split(' ')[0] === names[0])
  if (names[0] === undefined) return 'the command comes first, then its flags'
  if (group.length === 0) return `there is no command \`${names[0]}\``
  return `\`${names[0]}\` is followed by ${group.map((one) => one.words.split(' ')[1]).join(', ')}`
}

/**
 * The help for the commands that `words` name: one, a group such as `tenant`, or all.
 * @throws UsageError where they name none
 */
export function helpText(words: readonly string[], commands: readonly Command[]): string {
  const names = leadingWords(words).slice(0, 2)
  const named = commands.filter((one) => `${one.words} `.startsWith(`${names.join(' ')} `))
  const shown = names.length === 0 ? commands : named
  if (shown.length === 0) throw new UsageError(unknownCommand(names, commands))
  const lines = shown.map((command) => `  ${usageOf(command)}\n      ${command.summary}`)
  return `Usage: covenant admin <command> [flags]

${lines.join('\n')}

Prints JSON; with --field, only the value of that field, or nothing if it is empty. Works on the store that SVC_DATABASE_URL or
SVC_DATA_DIR names. The embedded store has one owner at a time: stop the service first.
${exitStatusHelp}`
}

/** A command's result as text for standard output; undefined for nothing. */
export function printable(result: unknown, field: string | undefined): string | undefined {
  const shown = field === undefined ? result : fieldOf(result as Readonly<Record<string, unknown>>, field)
  if (shown === undefined || typeof shown === 'string') return shown
  return JSON.stringify(shown, undefined, 2)
}

function fieldOf(result: Readonly<Record<string, unknown>>, field: string): unknown {
  const value = result[field]
  return value instanceof Date ? value.toISOString() : value
}
