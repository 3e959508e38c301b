/** HTTP of detection: the alpha webhook (SPEC 4.4) and the REST resources under /api/v1/detection. */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import { answerFaults } from '../auth/answer.ts'
import { type FindSession, requireSession } from '../auth/guard.ts'
import { pageOf } from '../auth/page-query.ts'
import type { IdentifyPrincipal } from '../auth/principal-chain.ts'
import { readBodyOf } from '../auth/read-body.ts'
import { requireRole, verifiedPrincipal } from '../auth/verified-principal.ts'
import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts'
import { classes } from '../core/classification.ts'
import { detectionDecisions, findingStatuses, runStates } from '../core/detection.ts'
import type { Session, SessionScope } from '../core/session.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { Licensed } from '../license/licensed.ts'
import { limits } from '../limits.ts'
import { decideFinding, type ListedFinding, listFindings } from '../store/detection-findings.ts'
import { type DetectionRun, findRun, listRuns, requestRescan } from '../store/detection-run-list.ts'
import type { Page } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import { type AlphaWebhookParts, receiveAlphaWebhook } from './alpha-webhook.ts'
import {
  alphaWebhookDetail,
  decisionDetail,
  findingsDetail,
  rescanDetail,
  runDetail,
  runsDetail,
} from './open-api.ts'

export interface DetectionRouteParts extends AlphaWebhookParts {
  readonly store: Store
  readonly log: Logger
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
  readonly licensed: Licensed
  /** Called when a rescan was asked for. */
  readonly wake: () => void
}

interface Context {
  readonly request: Request
  readonly params: Readonly<Record<string, string>>
}

const base = '/api/v1/detection'

/**
 * The routes; bodies are read here, never by the framework. What people do with findings is the licensed
 * capability; the webhook feeds a check and asks for no license (ADR 5).
 */
export function detectionRoutes(parts: DetectionRouteParts) {
  const answer = (work: (context: Context) => Promise<Response>) => (context: Context) =>
    answerFaults(parts.log, () => work(context))
  return new Elysia({ name: 'detection' })
    .post(
      '/v1/webhooks/alpha',
      answer(async ({ request }) => {
        await receiveAlphaWebhook(parts, request)
        return new Response(null, { status: 200 })
      }),
      { parse: 'none', detail: alphaWebhookDetail },
    )
    .get(
      `${base}/runs`,
      answer(({ request }) => getRuns(parts, request)),
      { parse: 'none', detail: runsDetail },
    )
    .get(
      `${base}/runs/:id`,
      answer(({ request, params }) => getRun(parts, request, params.id ?? '')),
      { parse: 'none', detail: runDetail },
    )
    .get(
      `${base}/findings`,
      answer(({ request }) => getFindings(parts, request)),
      { parse: 'none', detail: findingsDetail },
    )
    .post(
      `${base}/findings/:id/decisions`,
      answer(({ request, params }) => postDecision(parts, request, params.id ?? '')),
      { parse: 'none', detail: decisionDetail },
    )
    .post(
      `${base}/rescans`,
      answer(({ request }) => postRescan(parts, request)),
      { parse: 'none', detail: rescanDetail },
    )
}

/**
 * @throws Fault `unauthenticated`, `forbidden` as requireSession and the principal chain do, then `forbidden` without
 *   a license
 */
async function licensedSession(
  { findSession, identify, licensed }: DetectionRouteParts,
  request: Request,
  scope: SessionScope,
): Promise<Session> {
  const session = await requireSession(request, findSession, scope)
  await verifiedPrincipal(identify, request, session)
  licensed.require('detection')
  return session
}

async function getRuns(parts: DetectionRouteParts, request: Request): Promise<Response> {
  const { tenant } = await licensedSession(parts, request, 'read')
  const query = new URL(request.url).searchParams
  const page = await listRuns(parts.store, tenant, {
    ...pageOf(request),
    table: tableOf(query),
    state: oneOf(query, 'state', runStates),
  })
  return Response.json(pageView(page, runView))
}

async function getRun(parts: DetectionRouteParts, request: Request, id: string): Promise<Response> {
  const { tenant } = await licensedSession(parts, request, 'read')
  const run = await findRun(parts.store, tenant, id)
  if (run === undefined) throw new Fault('not_found', 'There is no such detection run.')
  return Response.json({ ...runView(run), attempts: run.attempts })
}

async function getFindings(parts: DetectionRouteParts, request: Request): Promise<Response> {
  const { tenant } = await licensedSession(parts, request, 'read')
  const query = new URL(request.url).searchParams
  const page = await listFindings(parts.store, tenant, {
    ...pageOf(request),
    table: tableOf(query),
    runId: query.get('run') ?? undefined,
    status: oneOf(query, 'status', findingStatuses),
    class: oneOf(query, 'class', classes),
    confidenceMin: numberOf(query, 'confidence_min'),
  })
  return Response.json(pageView(page, findingView))
}

async function postDecision(parts: DetectionRouteParts, request: Request, id: string): Promise<Response> {
  const again = () => licensedSession(parts, request, 'admin')
  const session = await again()
  const body = await readObject(request, again)
  const decision = detectionDecisions.find((one) => one === body.get('decision'))
  if (decision === undefined)
    throw new Fault('bad_request', `The decision must be one of ${detectionDecisions.join(', ')}.`)
  const reason = body.get('reason') ?? ''
  if (typeof reason !== 'string' || reason.length > limits.decisionReasonCharsMax)
    throw new Fault(
      'bad_request',
      `The reason must be a text of at most ${limits.decisionReasonCharsMax} characters.`,
    )
  // Taking a Tag away is declassification: a steward attests to it (SPEC 2.10).
  const declassifies = decision !== 'confirm'
  const principal = declassifies
    ? await requireRole(parts.identify, request, session, 'steward')
    : await verifiedPrincipal(parts.identify, request, session)
  if (declassifies && reason.trim() === '') throw new Fault('bad_request', 'An attestation needs a reason.')
  const finding = await decideFinding(parts.store, session.tenant, id, {
    decision,
    reason,
    decidedBy: principal.sub,
  })
  if (finding === undefined) throw new Fault('not_found', 'There is no such finding.')
  return Response.json(findingView(finding))
}

async function postRescan(parts: DetectionRouteParts, request: Request): Promise<Response> {
  const again = () => licensedSession(parts, request, 'admin')
  const session = await again()
  const principal = await verifiedPrincipal(parts.identify, request, session)
  const body = await readObject(request, again)
  const namespace = body.get('namespace')
  const name = body.get('table')
  if (!isNames(namespace) || typeof name !== 'string' || name === '')
    throw new Fault('bad_request', 'A rescan needs namespace, an array of names, and table.')
  const run = await requestRescan(parts.store, session.tenant, { namespace, name }, principal.sub)
  if (run === undefined) throw new Fault('not_found', 'No snapshot of this table is known to detection.')
  parts.wake()
  return Response.json(runView(run), { status: 202 })
}

function isNames(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '')
  )
}

/** @param again as that of readBodyOf */
async function readObject(request: Request, again: () => Promise<unknown>): Promise<JsonObject> {
  const { bytes } = await readBodyOf(request, limits.apiBodyBytesMax, again)
  const body = parseJson(bytes)
  if (!isJsonObject(body)) throw new Fault('bad_request', 'The body is not a JSON object.')
  return body
}

/** `table=a.b.name`: names hold no dot. */
function tableOf(query: URLSearchParams): TableRef | undefined {
  const text = query.get('table')
  if (text === null) return undefined
  const parts = text.split('.')
  const name = parts.pop() ?? ''
  if (parts.length === 0 || name === '' || parts.some((part) => part === ''))
    throw new Fault('bad_request', 'A table is given as namespace.table.')
  return { namespace: parts, name }
}

function oneOf<T extends string>(query: URLSearchParams, name: string, values: readonly T[]): T | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = values.find((one) => one === text)
  if (value === undefined) throw new Fault('bad_request', `${name} must be one of ${values.join(', ')}.`)
  return value
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^(0(\.\d{1,4})?|1(\.0{1,4})?)$/.test(text))
    throw new Fault('bad_request', `${name} must be from 0 to 1.`)
  return Number(text)
}

function pageView<T>({ items, next }: Page<T>, view: (item: T) => object): object {
  return { items: items.map(view), ...(next !== undefined && { next }) }
}

function runView(run: DetectionRun): object {
  const { id, metadataLocation, source, table, state, attempt, reason, report, createdAt, finishedAt } = run
  return { id, metadataLocation, source, table, state, attempt, reason, report, createdAt, finishedAt }
}

function findingView(finding: ListedFinding): object {
  return finding
}
