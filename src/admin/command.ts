/** Finds and prepares the administration command that the arguments name, and writes its help and its output. */

import type { Client, Input } from './client.ts'
import { exitStatusHelp, UsageError } from './exit-status.ts'
import { Flags } from './flags.ts'
import { pagesOf } from './pages.ts'
import { parseWords } from './parse-words.ts'
import type { Terminal } from './terminal.ts'

/** The operation that a call runs, and its input. */
export interface Wanted {
  readonly operation: string
  readonly input: Input
  /** An operation that runs before, and whose output may say why the other one should not. */
  readonly first?: {
    readonly operation: string
    readonly input: Input
    /** @throws Fault that tells why not @returns what is worth to be told on standard error */
    readonly permit: (output: unknown) => readonly string[]
  }
  /** What is wrong by an output that was printed, so that the call fails. */
  readonly problem?: (output: unknown) => Error | undefined
  /** Makes calls of the operation itself, and gives what is printed. */
  readonly calls?: (client: Client) => Promise<unknown>
  /** Prints the items of all pages as one list. */
  readonly everyItem?: true
  /** Prints the items of each page as text of its own, before the next page is loaded. Each text ends its line. */
  readonly printsItems?: { readonly head: string; readonly item: (item: unknown) => string }
  /** Bodies that no schema describes, each sent by a call of its own, and what their answers say together. */
  readonly bodies?: {
    readonly texts: readonly string[]
    readonly together: (answers: readonly unknown[]) => { readonly answer: unknown; readonly problem?: Error }
  }
}

export interface Command {
  /** The words that name it, such as `session create`. */
  readonly words: string
  /** Its flags as the help shows them; only these and the common ones are accepted. */
  readonly usage: string
  /** Those of its flags that take no value. */
  readonly switches?: readonly string[]
  readonly summary: string
  /** More for the help of this command alone. */
  readonly details?: string
  /** The fields that --field may select; none where the result is a list, or nothing. */
  readonly fields?: readonly string[]
  /** Reads and checks every flag, before anything is opened or sent. Throws UsageError where one is missing or wrong. */
  readonly prepare: (flags: Flags) => Wanted | Promise<Wanted>
}

/**
 * The operation for the tenant that --tenant names. Without it, a call over HTTP concerns the tenant of its session.
 * @param own the operation under /api/v1, and `admin` its like under /admin
 */
export function onTenant(
  flags: Flags,
  { own, admin }: { readonly own: string; readonly admin: string },
  input: Input = {},
): Wanted {
  const tenant = flags.optionalTenant()
  return tenant === undefined ? { operation: own, input } : { operation: admin, input: { tenant, ...input } }
}

/** @throws UsageError for a command that asks a running service, where the call would work on the store */
export function requireService(flags: Flags): void {
  if (!flags.isRemote) throw new UsageError('this command asks a running service: give --url or COVENANT_URL')
}

export interface Call extends Wanted {
  /** The one field to print, if --field is given. */
  readonly field: string | undefined
  readonly url: string | undefined
  readonly sessionFile: string | undefined
}

/** Flags of every command. */
const common = ['url', 'session-file']

/**
 * Finds the command that `words` begin with and has it check its flags.
 * @param stdin the text that a flag's `-` refers to
 * @param isRemote whether a call without --url goes over HTTP, too
 * @throws UsageError where there is none, or a flag is unknown, missing or wrong
 */
export async function prepareCall(
  words: readonly string[],
  commands: readonly Command[],
  stdin: () => Promise<string>,
  isRemote = false,
): Promise<Call> {
  const names = leadingWords(words)
  const command = commands.find((one) => `${names.join(' ')} `.startsWith(`${one.words} `))
  if (command === undefined) throw new UsageError(unknownCommand(names, commands))
  const flags = readFlags(words.slice(command.words.split(' ').length), command, stdin, isRemote)
  const field = flags.choice('field', command.fields ?? [])
  const where = { url: flags.optional('url'), sessionFile: flags.optional('session-file') }
  return { ...(await command.prepare(flags)), field, ...where }
}

/** Runs a prepared call. @param terminal prints a text, or complains of one, and ends its line */
export async function runPrepared(
  call: Call,
  client: Client,
  { print, complain }: Pick<Terminal, 'print' | 'complain'>,
): Promise<void> {
  const { operation, input, first, problem, everyItem, printsItems, bodies, calls, field } = call
  if (first !== undefined)
    for (const line of first.permit(await client.run(first.operation, first.input))) complain(line)
  if (bodies !== undefined) {
    const answers: unknown[] = []
    for (const text of bodies.texts) answers.push(await client.run(operation, input, text))
    const together = bodies.together(answers)
    print(printable(together.answer, field) ?? '')
    if (together.problem !== undefined) throw together.problem
    return
  }
  const printLines = (text: string) => {
    if (text !== '') print(text.slice(0, -1))
  }
  if (printsItems !== undefined) {
    printLines(printsItems.head)
    for await (const items of pagesOf(client, operation, input))
      printLines(items.map(printsItems.item).join(''))
    return
  }
  let result: unknown
  if (everyItem) {
    const items: unknown[] = []
    for await (const page of pagesOf(client, operation, input)) items.push(...page)
    result = items
  } else result = calls === undefined ? await client.run(operation, input) : await calls(client)
  const text = printable(result, field)
  if (text !== undefined) print(text)
  const wrong = problem?.(result)
  if (wrong !== undefined) throw wrong
}

function readFlags(
  args: readonly string[],
  command: Command,
  stdin: () => Promise<string>,
  isRemote: boolean,
): Flags {
  const own = [...usageOf(command).matchAll(/--([a-z]+(?:-[a-z]+)*)/g)].map(([, name = '']) => name)
  const switches = new Set(command.switches)
  const options = Object.fromEntries(
    [...own, ...common].map((name) => [name, { type: switches.has(name) ? 'boolean' : 'string' } as const]),
  )
  const read = parseWords(args, options)
  // Not quoted, because it may be a secret in the wrong place.
  if (read.positionals.length > 0) throw new UsageError(`\`${command.words}\` takes flags only`)
  const given = read.tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))
  const repeated = given.find((name, index) => given.indexOf(name) < index)
  if (repeated !== undefined) throw new UsageError(`--${repeated} is given more than once`)
  return new Flags(read.values, stdin, isRemote || given.includes('url'))
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
  const details = names.length === 0 ? [] : shown.flatMap((command) => command.details ?? [])
  return [
    `Usage: covenant admin <command> [flags] [--url URL [--session-file FILE]]\n\n${lines.join('\n')}`,
    ...details,
    `Prints JSON; with --field, only the value of that field, or nothing if it is empty.

With --url or COVENANT_URL, a call goes to the service there, over HTTP. Its session is the secret in COVENANT_SESSION,
or in the file that --session-file or COVENANT_SESSION_FILE names. --profile NAME has both. Without --tenant it concerns the session's tenant.
Otherwise it works on the store that SVC_DATABASE_URL or SVC_DATA_DIR names, as the operator. The embedded store has
one owner at a time: while a service runs on it, use --url.
${exitStatusHelp}`,
  ].join('\n\n')
}

/** A command's result as text for standard output; undefined for nothing. */
function printable(result: unknown, field: string | undefined): string | undefined {
  const shown = field === undefined ? result : fieldOf(result as Readonly<Record<string, unknown>>, field)
  if (shown === undefined || typeof shown === 'string') return shown
  return JSON.stringify(shown, undefined, 2)
}

function fieldOf(result: Readonly<Record<string, unknown>>, field: string): unknown {
  const value = result[field]
  return value instanceof Date ? value.toISOString() : value
}
