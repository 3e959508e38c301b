/**
 * Serves `/console/access/decision`, to which the link of a message leads: shows a request for access to who is signed in
 * by a browser and may decide about it, and takes their decision. The link gives no rights, and who is not signed in is
 * sent to the identity provider first. It runs no script.
 */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Admit } from '../auth/admit.ts'
import { readCookie, sessionCookie } from '../auth/credentials.ts'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { decideAccess } from '../contract/access/decide-access.ts'
import { type DecisionTicket, decisionPagePath, openDecision } from '../contract/access/decision-ticket.ts'
import { deciderOf } from '../contract/access/oversight.ts'
import { showRequest } from '../contract/access/show-request.ts'
import type { Caller } from '../core/operation.ts'
import type { SeenRows } from '../core/seen-rows.ts'
import { tableName } from '../core/table-ref.ts'
import { readBody } from '../http/read-body.ts'
import type { Store } from '../store/store.ts'
import { consolePage, pageOrFault } from './console-page.ts'

interface DecisionPageParts {
  readonly store: Store
  readonly clock: Clock
  readonly admit: Admit
  readonly seenRows: SeenRows
  readonly log: Logger
}

const bodyBytesMax = 16 * 1024

/** GET and POST /console/access/decision. */
export function decisionPageRoutes(parts: DecisionPageParts) {
  const answered = pageOrFault(parts.log)
  return new Elysia({ name: 'decision-page' })
    .get(decisionPagePath, ({ request }) => answered(() => show(parts, request)), { detail: { hide: true } })
    .post(decisionPagePath, ({ request }) => answered(() => take(parts, request)), {
      parse: 'none',
      detail: { hide: true },
    })
}

/** @throws Fault */
async function show(parts: DecisionPageParts, request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url)
  const sealed = searchParams.get('ticket') ?? ''
  if (readCookie(request.headers, sessionCookie) === undefined) return signIn(sealed)
  const { caller, ticket } = await opened(parts, request, sealed)
  const decider = await deciderOf(parts.store, caller)
  const shown = await showRequest(parts, caller.tenant, decider, ticket.request, request.signal)
  const of = `${tableName(shown.table)}, contract ${shown.contract}`
  if (shown.sha256 !== ticket.sha256) throw staleLink()
  if (shown.waits_for.length === 0)
    return consolePage('There is nothing to decide', `<p>The request is ${Bun.escapeHTML(shown.state)}.</p>`)
  return consolePage(`Access to ${of}`, `${description(shown)}\n${form(sealed, shown.state === 'to_review')}`)
}

type Shown = Awaited<ReturnType<typeof showRequest>>

function description(shown: Shown): string {
  const html = Bun.escapeHTML
  const { grantee, requested_by: by, purpose, seconds, ticket } = shown
  const whose = grantee.role === undefined ? grantee.sub : `everybody with the role ${grantee.role}`
  const lines = [
    ...[`Asked by ${by.sub} for ${whose ?? ''}, for ${seconds} seconds`, `Purpose: ${purpose}`],
    ...(ticket === undefined ? [] : [`Ticket: ${ticket}`]),
    ...('problem' in shown && shown.problem !== undefined ? [`It cannot be granted: ${shown.problem}`] : []),
    ...('reveals' in shown && shown.reveals !== undefined ? revealed(shown.reveals) : []),
    ...shown.decisions.map((one) => `${one.approves ? 'Approved' : 'Denied'} by ${one.by.sub}`),
  ]
  return `<ul>${lines.map((line) => `<li>${html(line)}</li>`).join('')}</ul>`
}

function revealed({
  columns,
  filters,
  policies,
  rows,
  open_grants: grants,
}: NonNullable<Extract<Shown, { reveals: object }>['reveals']>): readonly string[] {
  return [
    ...columns.map(({ name, tags, masks }) => {
      const tagged = tags.length === 0 ? '' : `, tagged ${tags.join(', ')}`
      return `Reveals the column ${name} (${masks.join(', ')}${tagged})`
    }),
    ...filters.map(({ id, expression }) => `Lifts the row filter ${id}: ${expression}`),
    ...policies.map(({ name, expression }) => `Exempts commits from the policy ${name}: ${expression}`),
    'problem' in rows ? rows.problem : `Rows: ${rows.before} before, ${rows.after} after`,
    `Open grants of the table: ${grants.length}`,
  ]
}

function form(sealed: string, isReview: boolean): string {
  const [yes, no] = isReview ? ['Confirm', 'Condemn, and end the access'] : ['Approve', 'Deny']
  return `<form method="post" action="${decisionPagePath}">
<input type="hidden" name="ticket" value="${Bun.escapeHTML(sealed)}">
<p><label>Comment <input name="comment" maxlength="500"></label></p>
<p><button name="decision" value="approve">${yes}</button> <button name="decision" value="deny">${no}</button></p>
</form>`
}

/** @throws Fault */
async function take(parts: DecisionPageParts, request: Request): Promise<Response> {
  // Checks who sends the form, and that a page of this service did, before anything of it is read.
  const caller = await admitted(parts, request)
  const { bytes } = await readBody(request, bodyBytesMax)
  const given = new URLSearchParams(Buffer.from(bytes).toString())
  const ticket = ticketOf(parts, caller, given.get('ticket') ?? '')
  const decision = given.get('decision')
  if (decision !== 'approve' && decision !== 'deny')
    throw new Fault('bad_request', '`decision` must be approve or deny.')
  const comment = given.get('comment') ?? ''
  const { store, clock } = parts
  const { tenant } = caller
  const on = { store, clock, tenant, actor: await caller.actor(), decider: await deciderOf(store, caller) }
  const grant = await decideAccess(on, ticket.request, {
    ...{ approves: decision === 'approve', sha256: ticket.sha256 },
    ...(comment !== '' && { comment }),
  })
  const until = grant === undefined ? '' : ` The access ends by itself at ${grant.until.toISOString()}.`
  return consolePage('Your decision is recorded', `<p>You chose to ${decision}.${until}</p>`)
}

function signIn(sealed: string): Response {
  const back = `${decisionPagePath}?ticket=${encodeURIComponent(sealed)}`
  const location = `/login?return_to=${encodeURIComponent(back)}`
  return new Response(null, { status: 302, headers: { location, 'cache-control': 'no-store' } })
}

/** @throws Fault */
async function opened(parts: DecisionPageParts, request: Request, sealed: string) {
  const caller = await admitted(parts, request)
  return { caller, ticket: ticketOf(parts, caller, sealed) }
}

/** @throws Fault `unauthenticated`, `forbidden` */
async function admitted({ admit }: DecisionPageParts, request: Request): Promise<Caller> {
  const caller = await admit(request, { scope: 'read' })
  if (caller?.session.kind === 'browser') return caller
  throw new Fault('forbidden', 'The page is for people who are signed in; others use the REST API.')
}

/** @throws Fault `not_found` for what is no link of the caller's tenant, and for an old one */
function ticketOf({ store, clock }: DecisionPageParts, caller: Caller, sealed: string): DecisionTicket {
  const ticket = openDecision(store, sealed, clock.now())
  if (ticket === undefined || ticket.tenant !== caller.tenant) throw staleLink()
  return ticket
}

function staleLink(): Fault {
  return new Fault(
    'not_found',
    'The link is not valid, or too old. `covenant access requests --everyone` lists what waits.',
  )
}
