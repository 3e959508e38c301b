/**
 * Answers once more what an earlier request made, from what is there now. The Iceberg REST specification allows a newer
 * state in such an answer. No answer is kept, because it would hold credentials and what its reader may no longer see.
 */

import { Fault } from '../../base/fault.ts'
import { type JsonValue, jsonObject, stringifyJson } from '../../base/json.ts'
import type { EarlierDecision } from '../../core/idempotency.ts'
import { tableName } from '../../core/table-ref.ts'
import { fieldReader } from '../../wire/iceberg/fields.ts'
import { discloseReply, tableMembers } from '../base/disclosure.ts'
import type { ClientPath } from './client-path.ts'
import { feedLoaded } from './feed-loaded.ts'
import { assertOneViewName } from './one-view-name.ts'
import type { operations } from './operations.ts'
import { loadTable } from './read.ts'
import { disclosureOf, jsonResponse, objectOf, type SurfaceRequest } from './surface-request.ts'
import { assertViewOpen } from './uncontracted.ts'
import { loadedView } from './views.ts'

type ChangingId = Extract<(typeof operations)[number], { readonly treatment: 'gated' }>['id']
type Answer = (surface: SurfaceRequest, made: EarlierDecision) => Promise<Response>

const empty: Answer = async () => jsonResponse(204, null)

const answers = {
  createNamespace: namespaceNow,
  dropNamespace: empty,
  updateProperties: async (surface) => propertiesChanged(surface),
  createTable: newTableNow,
  registerTable: newTableNow,
  updateTable: tableNow,
  dropTable: empty,
  unregisterTable: async (_surface, made) => {
    throw new Fault(
      'commit_unknown',
      `Table ${tableName(made)} was unregistered, so it cannot be loaded again.`,
    )
  },
  renameTable: empty,
  commitTransaction: empty,
  createView: viewNow,
  replaceView: viewNow,
  registerView: viewNow,
  dropView: empty,
  renameView: empty,
} satisfies Record<ChangingId, Answer>

/**
 * @param decisions of the earlier request, at least one
 * @throws Fault `commit_unknown` where what was made cannot be read: no client may clean up
 */
export async function answerMade(
  surface: SurfaceRequest,
  decisions: readonly EarlierDecision[],
): Promise<Response> {
  const made = decisions[0]
  const answer: Answer | undefined = (answers as Readonly<Record<string, Answer>>)[surface.path.operation]
  if (made === undefined || answer === undefined) throw new Error('no change is answered again')
  try {
    return await answer(surface, made)
  } catch (cause) {
    throw new Fault(
      'commit_unknown',
      'The request with this Idempotency-Key was made, but its answer cannot be given again. Reload before you retry.',
      { cause },
    )
  }
}

/** The reply to a commit, without the configuration that loads carry. */
async function tableNow(surface: SurfaceRequest, table: EarlierDecision): Promise<Response> {
  const { upstream, request } = surface
  const { vended: _, ...disclosure } = await disclosureOf(surface, table)
  const loaded = await upstream.catalog.loadTable(table, { signal: request.signal })
  if (loaded.status !== 'loaded') throw new Error('a load without a condition was answered as not modified')
  // Another table may have the name since, which is governed by its own.
  await feedLoaded(surface, table, loaded.body)
  const masked = disclosure.masked || disclosure.denied === true
  const shown = { ...disclosure, masked, vended: false, whole: true }
  const { body } = await discloseReply(loaded.body, tableMembers, shown)
  return jsonResponse(200, body)
}

/** The reply to a creation: a load, with access to the files where the client asks for it. */
async function newTableNow(surface: SurfaceRequest, { namespace, name }: EarlierDecision): Promise<Response> {
  const path: ClientPath = { ...surface.path, operation: 'loadTable', namespace, name }
  const { url, headers: sent } = surface.request
  const headers = new Headers(sent)
  headers.delete('if-none-match')
  const request = new Request(url, { headers, signal: surface.request.signal })
  return await loadTable({ ...surface, request, path, query: new URLSearchParams() })
}

/** Others may have replaced it meanwhile, by a text over tables that this caller may not have. */
async function viewNow(surface: SurfaceRequest, view: EarlierDecision): Promise<Response> {
  const { namespace, name } = view
  const loaded = await loadedView(surface, view)
  await assertOneViewName(surface, view, loaded)
  await assertViewOpen(
    { ...surface, path: { ...surface.path, operation: 'loadView', namespace, name } },
    loaded,
  )
  const { body } = await discloseReply(loaded, tableMembers, { vended: false, masked: false, whole: true })
  return jsonResponse(200, body)
}

async function namespaceNow(
  { upstream, request }: SurfaceRequest,
  { namespace }: EarlierDecision,
): Promise<Response> {
  const { body } = await upstream.catalog.forward({
    method: 'GET',
    path: ['namespaces', namespace],
    mutates: false,
    whole: true,
    subject: `namespace ${namespace.join('.')}`,
    signal: request.signal,
  })
  return jsonResponse(200, body as Uint8Array)
}

const reader = fieldReader((what) => new Fault('bad_request', `Invalid request: ${what}.`))

/** The specification's answer lists what was asked. Which of the removed properties were missing is not known any more. */
function propertiesChanged(surface: SurfaceRequest): Response {
  const object = objectOf(surface.body)
  const updated: readonly JsonValue[] = [...(reader.optionalObject(object, 'updates')?.keys() ?? [])]
  const removed = object.get('removals') ?? []
  return jsonResponse(200, stringifyJson(jsonObject({ updated, removed, missing: [] })))
}
