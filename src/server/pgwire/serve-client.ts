/** Serves one client from its first packet to its last: start-up, authentication, messages, final error. */

import { asOwner } from '../../base/owner.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import {
  writeAuthentication,
  writeBackendKeyData,
  writeParameterStatus,
  writeReadyForQuery,
  writeReport,
} from '../../wire/postgres/backend-messages.ts'
import { ReadSession } from '../read-session.ts'
import type { Activity } from './activity.ts'
import { type AuthenticationParts, authenticate } from './authenticate.ts'
import type { CancelKeys } from './cancel-keys.ts'
import type { Client } from './client.ts'
import type { ConnectionSlots } from './connection-slots.ts'
import { WireSession } from './session.ts'
import type { SessionState, WireSessionParts } from './session-state.ts'
import { Settings } from './settings.ts'
import { negotiate, type StartUp } from './start-up.ts'
import { Transaction } from './transaction.ts'
import { ConnectionClosed, toReport, WireError } from './wire-error.ts'

export interface ServeParts extends AuthenticationParts, WireSessionParts {
  readonly slots: ConnectionSlots
  readonly cancelKeys: CancelKeys
  readonly activity: Activity
  /** Whether a tenant has a catalog of this nickname. @throws Fault where the look-up fails */
  readonly hasCatalog: (tenant: TenantId, nickname: string) => Promise<boolean>
  /** Milliseconds; limits.ts unless a test shortens it. */
  readonly authenticationMs?: number
}

/** Serves one client. Resolves when its connection is over, also after an error. */
export async function serveClient(parts: ServeParts, client: Client): Promise<void> {
  const release: (() => void)[] = []
  try {
    const leave = parts.slots.enter(client.address)
    if (leave === undefined) throw new WireError('53300', 'sorry, too many clients already', 'FATAL')
    release.push(leave)
    await converse(parts, client, release, leave)
  } catch (thrown) {
    await farewell(parts, client, thrown)
  } finally {
    for (const each of release.reverse()) each()
    client.end()
  }
}

async function converse(
  parts: ServeParts,
  client: Client,
  release: (() => void)[],
  leave: () => void,
): Promise<void> {
  const deadlineMs = performance.now() + (parts.authenticationMs ?? limits.pgwireAuthenticationMs)
  const startUp = await negotiate(client, deadlineMs)
  if (startUp === undefined) return
  if ('kind' in startUp) {
    await parts.cancelKeys.request(startUp.processId, startUp.key)
    return
  }
  const reader = new ReadSession(await authenticate(parts, client, startUp, deadlineMs))
  const { tenant, principal } = reader
  release.push(parts.slots.admit(tenant, principal))
  leave()
  if (!(await parts.hasCatalog(tenant, startUp.database)))
    throw new WireError('3D000', `database "${startUp.database}" does not exist`, 'FATAL')
  parts.meter.connected(tenant)
  release.push(() => parts.meter.disconnected(tenant))
  const session = openSession(parts, client, startUp, reader, release)
  await client.outbox.flush(true)
  await asOwner(tenant, () => session.run())
}

function openSession(
  parts: ServeParts,
  client: Client,
  startUp: StartUp,
  reader: ReadSession,
  release: (() => void)[],
): WireSession {
  const { inbox, outbox } = client
  const { writer } = outbox
  let ready = false
  const report = (name: string, value: string) => {
    if (ready) writeParameterStatus(writer, name, value)
  }
  const settings = new Settings(startUp.user, report, client.offersTls)
  for (const [name, value] of startUp.settings) initialize(settings, name, value)
  const cancelKey = parts.cancelKeys.register(startUp.cancelKeyBytes, () => session.cancel())
  release.push(() => cancelKey.release())
  const state: SessionState = {
    parts,
    reader,
    catalog: startUp.database,
    processId: cancelKey.processId,
    outbox,
    settings,
    transaction: new Transaction(settings),
    statements: new Map(),
    portals: new Map(),
    current: { text: '', startedAtMs: undefined, isRunning: false },
    check: undefined,
    tally: { rows: 0, planMs: 0, runMs: 0, queryId: undefined },
    toldStatements: new Set(),
    notice: (severity, sqlState, message, hint) => writeReport(writer, { severity, sqlState, message, hint }),
  }
  const session = new WireSession(state, inbox)
  const { address, isEncrypted } = client
  release.push(parts.activity.add({ state, address, isEncrypted, startedAtMs: parts.clock.now() }))
  client.cut = (reason) => session.cancel(reason)
  const close = () => session.close()
  client.gone.addEventListener('abort', close, { once: true })
  release.push(() => {
    client.gone.removeEventListener('abort', close)
    session.close()
  })
  writeAuthentication(writer, { kind: 'ok' })
  for (const [name, value] of settings.reported()) writeParameterStatus(writer, name, value)
  writeBackendKeyData(writer, cancelKey.processId, cancelKey.key)
  writeReadyForQuery(writer, 'I')
  ready = true
  return session
}

/** @throws WireError FATAL */
function initialize(settings: Settings, name: string, value: string): void {
  try {
    settings.initialize(name, value)
  } catch (thrown) {
    if (!(thrown instanceof WireError)) throw thrown
    throw new WireError(thrown.sqlState, thrown.message, 'FATAL', thrown.hint)
  }
}

/** Sends the reason why the connection ends, to a client that is still connected and reads. */
async function farewell({ meter, log }: ServeParts, client: Client, thrown: unknown): Promise<void> {
  if (thrown instanceof ConnectionClosed || client.gone.aborted) return
  const report = { ...toReport(thrown), severity: 'FATAL' as const }
  if (report.sqlState.startsWith('XX')) log.error({ err: thrown }, 'a connection failed unexpectedly')
  meter.refused(report.sqlState)
  writeReport(client.outbox.writer, report)
  await Promise.race([client.outbox.flush(), Bun.sleep(limits.flushMs)]).catch(() => {})
}
