/**
 * `covenant call`: runs any operation of a running service by its name. Names, members and their types are those of the
 * service's own OpenAPI document, so a client of another version asks what that service has. It knows no operation.
 */

import { askService } from './ask-service.ts'
import { listText, operationText } from './call-help.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import { assertRequired, type FileBody, fileBytes, flagOf, memberValue } from './member-values.ts'
import { findOperation, membersOf, type ServedOperation, servedOperations } from './served-operations.ts'
import { serviceAddress } from './service-address.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant call [OPERATION [--MEMBER VALUE]… [--file FILE] [--type MEDIA] [--every]] [--url URL] [--session-file FILE]

Runs an operation of a running service by its name, as GET /api/v1/openapi.json has it. Without a name it lists them
all; a word that is no name lists those that have it. covenant call OPERATION --help shows its members.

  --MEMBER VALUE  a member of its input, with - or _ between words. Levels of a namespace are joined by dots; lists and
                  objects are JSON; a list of texts may be written a,b
  --file FILE     the body, for members that are many or for a document; - is standard input
  --type MEDIA    the media type of that body; left out: application/json, or the one that the operation takes
  --every         prints the items of all pages as one list

The service is that of --url or COVENANT_URL. The session is the secret in COVENANT_SESSION, or in the file that
--session-file or COVENANT_SESSION_FILE names. Without them, both are those of a profile (covenant login --help).
${exitStatusHelp}`

/** Flags of the verb itself. */
const own = ['url', 'session-file', 'file', 'type'] as const
type Own = (typeof own)[number]

interface Asked {
  readonly word: string | undefined
  readonly own: Readonly<Partial<Record<Own, string>>>
  readonly members: ReadonlyMap<string, string>
  readonly every: boolean
  readonly help: boolean
}

/** Runs the verb. It never throws. @returns the exit status */
export async function callOperation(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const asked = readWords(words)
    if (asked.word === undefined && asked.help) {
      terminal.print(help)
      return exitStatus.done
    }
    await run(asked, terminal)
    return exitStatus.done
  } catch (error) {
    return reportFailure(error, 'covenant call', terminal)
  }
}

async function run({ word, own, members, every, help }: Asked, terminal: Terminal): Promise<void> {
  const flags = { url: own.url, sessionFile: own['session-file'] }
  const service = await serviceAddress(flags, terminal.env)
  if (service === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
  const signal = terminal.interrupted?.()
  const operations = await servedOperations(service, signal)
  const operation = word === undefined ? undefined : findOperation(operations, word)
  if (operation === undefined) return terminal.print(listText(operations, word))
  if (help) return terminal.print(operationText(operation))
  const body = own.file === undefined ? undefined : await bodyOf(own.file, own.type, operation, terminal)
  const input = inputOf(operation, members, body !== undefined)
  await askService(service, operation, { input, body, every, signal }, terminal.print)
}

/** @throws UsageError for a flag without a value, or one that is there twice */
function readWords(words: readonly string[]): Asked {
  const given = new Map<string, string>()
  const switches = new Set<string>()
  let word: string | undefined
  for (let at = 0; at < words.length; at++) {
    const text = words[at] ?? ''
    const [, name, joined] = /^--([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(text) ?? []
    if (name === undefined) {
      if (word !== undefined) throw new UsageError('One operation is called at a time')
      word = text
    } else if (name === 'help' || name === 'every') switches.add(name)
    else {
      const value = joined ?? words[++at]
      if (value === undefined) throw new UsageError('A flag has no value')
      if (given.has(name)) throw new UsageError('A flag is there twice')
      given.set(name, value)
    }
  }
  const isOwn = (name: string): name is Own => (own as readonly string[]).includes(name)
  return {
    word,
    own: Object.fromEntries([...given].filter(([name]) => isOwn(name))),
    members: new Map([...given].filter(([name]) => !isOwn(name))),
    every: switches.has('every'),
    help: switches.has('help'),
  }
}

async function bodyOf(
  file: string,
  type: string | undefined,
  { media }: ServedOperation,
  { stdin }: Terminal,
): Promise<FileBody> {
  const [first] = media
  if (first === undefined) throw new UsageError('The operation takes no body, so no --file')
  const bytes = await fileBytes(file, stdin, '--file')
  return { bytes, type: type ?? (media.includes('application/json') ? 'application/json' : first) }
}

/** @throws UsageError for a member that the operation has not, lacks, or that is not of its type */
function inputOf(
  operation: ServedOperation,
  given: ReadonlyMap<string, string>,
  hasFile: boolean,
): ReadonlyMap<string, unknown> {
  const members = membersOf(operation)
  const input = new Map<string, unknown>()
  for (const [flag, value] of given) {
    const member = members.find((one) => flagOf(one.name) === flagOf(flag))
    if (member === undefined)
      throw new UsageError(
        `${operation.name} has no member of that name; covenant call ${operation.name} --help lists them`,
      )
    if (hasFile && member.place === 'body')
      throw new UsageError(`--${member.name} and --file are both the body`)
    input.set(member.name, memberValue(member, value))
  }
  assertRequired(operation, input, hasFile)
  return input
}
