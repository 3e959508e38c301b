/**
 * Serves `GET /console/request`, to which refusals and notices lead: what is asked for, and the command and the REST call
 * that ask. It looks nothing up, so it tells of no table. Who is signed in by a browser's session asks from the page
 * itself; nobody signs in here, and no secret is typed in. It runs no script.
 */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Admit } from '../auth/admit.ts'
import { readCookie, sessionCookie } from '../auth/credentials.ts'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { requestAccess } from '../contract/access/request-access.ts'
import { type AskableAccess, accessCommand, requestPagePath } from '../core/access-hint.ts'
import { isPathIdentifier, tableName } from '../core/table-ref.ts'
import { readBody } from '../http/read-body.ts'
import type { Store } from '../store/store.ts'
import { consolePage, pageOrFault } from './console-page.ts'

interface RequestPageParts {
  readonly store: Store
  readonly clock: Clock
  readonly admit: Admit
  readonly log: Logger
}

const bodyBytesMax = 16 * 1024
const levelsMax = 20
const columnsMax = 100
/** As hints name columns; others are asked for by command. */
const column = /^[A-Za-z0-9_.]{1,255}$/
const day = 86_400
const times = [3_600, day, 7 * day, 30 * day] as const

/** GET and POST /console/request. */
export function requestPageRoutes(parts: RequestPageParts) {
  const answered = pageOrFault(parts.log)
  return new Elysia({ name: 'request-page' })
    .get(
      requestPagePath,
      ({ request }) =>
        answered(() => {
          const asked = askedIn(new URL(request.url).searchParams, ['table', 'columns'])
          const isSignedIn = readCookie(request.headers, sessionCookie) !== undefined
          return consolePage(`Ask for access to ${tableName(asked.table)}`, introduction(asked, isSignedIn))
        }),
      { detail: { hide: true } },
    )
    .post(requestPagePath, ({ request }) => answered(() => take(parts, request)), {
      parse: 'none',
      detail: { hide: true },
    })
}

/** Makes the request that the form says, in the name of who is signed in. @throws Fault */
async function take({ store, clock, admit }: RequestPageParts, request: Request): Promise<Response> {
  const caller = await admit(request, { scope: 'read' })
  if (caller?.session.kind !== 'browser')
    throw new Fault('forbidden', 'The form is for people who are signed in; others use the REST API.')
  const { bytes } = await readBody(request, bodyBytesMax)
  const form = new URLSearchParams(Buffer.from(bytes).toString())
  const asked = askedIn(form, ['table', 'columns', 'purpose', 'seconds', 'ticket'])
  const { tenant } = caller
  const { request: made, grant } = await requestAccess(
    { store, clock, tenant, actor: await caller.actor() },
    {
      ...asked,
      purpose: form.get('purpose') ?? '',
      seconds: secondsOf(form.get('seconds') ?? ''),
      ...((form.get('ticket') ?? '') !== '' && { ticket: form.get('ticket') ?? '' }),
    },
  )
  if (grant !== undefined)
    return consolePage(
      'You have the access',
      `<p>It ends by itself at ${grant.until.toISOString()}. Its id is <code>${grant.id}</code>. Run your statement again.</p>`,
    )
  return consolePage(
    'The request waits for a decision',
    `<p>Its id is <code>${made.id}</code>. Stewards and the owners of the contract decide; you do not. <code>covenant access requests</code> shows what they said.</p>`,
  )
}

/** @throws Fault `bad_request` */
function secondsOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new Fault('bad_request', '`seconds` must be a whole number.')
}

/** @throws Fault `bad_request` for other parameters than these, and for what a hint would not name */
function askedIn(given: URLSearchParams, names: readonly string[]): AskableAccess {
  if ([...given.keys()].some((name) => !names.includes(name) || given.getAll(name).length > 1))
    throw new Fault('bad_request', `Give ${names.map((name) => `\`${name}\``).join(', ')} alone, each once.`)
  const levels = (given.get('table') ?? '').split('.')
  const columns = (given.get('columns') ?? '').split(',').filter((name) => name !== '')
  if (levels.length < 2 || levels.length > levelsMax || !levels.every(isPathIdentifier))
    throw new Fault('bad_request', '`table` must be a name as namespace.table.')
  if (columns.length > columnsMax || !columns.every((name) => column.test(name)))
    throw new Fault('bad_request', `\`columns\` must be at most ${columnsMax} names, separated by commas.`)
  const table = { namespace: levels.slice(0, -1), name: levels.at(-1) ?? '' }
  return { table, ...(columns.length > 0 && { columns }) }
}

function introduction(asked: AskableAccess, isSignedIn: boolean): string {
  const { table, columns } = asked
  const html = Bun.escapeHTML
  const what = columns === undefined ? 'all that is hidden from you' : `the columns ${columns.join(', ')}`
  const body = {
    ...{ namespace: table.namespace, table: table.name, ...(columns && { columns }) },
    ...{ purpose: '…', seconds: 7_200 },
  }
  return `<p>You would ask for ${html(what)} of the table <code>${html(tableName(table))}</code>, for a purpose and a time. Stewards and the owners of its contract decide, never who asked, and the access ends by itself.</p>
${isSignedIn ? form(asked) : '<p>Nobody is signed in to this service in this browser. Ask by the command line or over REST, with the session by which you read.</p>'}
<h2>By the command line</h2>
<pre>${html(`${accessCommand(asked)} --purpose '…' --seconds 7200`)}</pre>
<h2>Over REST</h2>
<pre>POST /api/v1/access/requests
X-Svc-Session: …

${html(JSON.stringify(body, null, 2))}</pre>
<p>An agent calls the tool <code>request_access</code>. More is in <a href="/docs/access">the documentation</a>.</p>`
}

function form({ table, columns = [] }: AskableAccess): string {
  const html = Bun.escapeHTML
  const hidden = (name: string, value: string) =>
    value === '' ? '' : `<input type="hidden" name="${name}" value="${html(value)}">`
  const options = times.map((seconds) => `<option value="${seconds}">${wordsOf(seconds)}</option>`)
  return `<form method="post" action="${requestPagePath}">
${hidden('table', tableName(table))}${hidden('columns', columns.join(','))}
<p><label>Purpose <input name="purpose" required maxlength="500"></label></p>
<p><label>For <select name="seconds">${options.join('')}</select></label></p>
<p><label>Ticket <input name="ticket" maxlength="500"></label></p>
<p><button>Ask</button></p>
</form>`
}

function wordsOf(seconds: number): string {
  if (seconds < day) return 'an hour'
  return seconds === day ? 'a day' : `${seconds / day} days`
}
