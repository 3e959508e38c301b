/**
 * What is at work: the connections of clients with the requests that they carry, and Cancel, which ends requests by
 * session, by its number, or by connection. A principal sees and ends its own; an administrator or owner those of the
 * tenant. Another tenant's look like none.
 */

import { Fault } from '../../base/fault.ts'
import type { CancelTarget } from '../../wire/soap/read-request.ts'
import type { ReadSession } from '../read-session.ts'
import type { Connection } from './connection.ts'
import type { XmlaSession, XmlaSessions } from './sessions.ts'

type WorkCaller = Pick<ReadSession, 'tenant' | 'principal'>

interface CarriedRequest {
  readonly controller: AbortController
  readonly session: XmlaSession | undefined
}

export interface OpenConnection {
  readonly id: number
  readonly tenant: string
  readonly sub: string
  readonly startedMs: number
  readonly requests: Set<CarriedRequest>
}

/** Whether a caller may see and end what is another's. */
function isSeen({ tenant, principal }: WorkCaller, owner: { readonly tenant: string; readonly sub: string }) {
  if (owner.tenant !== tenant) return false
  return (
    owner.sub === principal.sub || principal.roles.some((role) => ['administrator', 'owner'].includes(role))
  )
}

export class AtWork {
  readonly #connections = new Map<number, OpenConnection>()

  constructor(
    readonly sessions: XmlaSessions,
    readonly nowMs: () => number,
  ) {}

  /** Notes a request until it is left. @returns leaves it */
  enter(
    { tenant, principal }: WorkCaller,
    { id, gone }: Pick<Connection, 'id' | 'gone'>,
    request: CarriedRequest,
  ): () => void {
    const known = this.#connections.get(id)
    const isSame = known?.tenant === tenant && known.sub === principal.sub
    const connection: OpenConnection =
      isSame && known !== undefined
        ? known
        : {
            ...{ id, tenant, sub: principal.sub, startedMs: this.nowMs() },
            requests: new Set<CarriedRequest>(),
          }
    if (known === undefined)
      gone.addEventListener('abort', () => this.#connections.delete(id), { once: true })
    if (!gone.aborted) this.#connections.set(id, connection)
    connection.requests.add(request)
    return () => connection.requests.delete(request)
  }

  /** Sessions that a caller may see. */
  sessionsOf(caller: WorkCaller): readonly XmlaSession[] {
    return this.sessions.all().filter(({ owner }) => isSeen(caller, owner))
  }

  /** Connections that a caller may see. */
  connectionsOf(caller: WorkCaller): readonly OpenConnection[] {
    return [...this.#connections.values()].filter((connection) => isSeen(caller, connection))
  }

  /**
   * Ends the requests that are meant, but for the one that says so.
   * @param own the session of the message
   * @throws Fault `gone` where there is no such session or connection, or the caller may not see it
   */
  cancel(
    caller: WorkCaller,
    { sessionId, spid, connectionId }: CancelTarget,
    { own, controller }: { readonly own: XmlaSession | undefined; readonly controller: AbortController },
  ): void {
    const isByConnection = sessionId === undefined && spid === undefined && connectionId !== undefined
    const controllers = isByConnection
      ? this.#ofConnection(caller, connectionId)
      : this.#ofSession(caller, { sessionId, spid, connectionId }, own)
    for (const each of controllers) if (each !== controller) each.abort()
  }

  #ofConnection(caller: WorkCaller, id: number): readonly AbortController[] {
    const found = this.#connections.get(id)
    if (found === undefined || !isSeen(caller, found)) throw unknown()
    return [...found.requests].map(({ controller }) => controller)
  }

  #ofSession(
    caller: WorkCaller,
    { sessionId, spid, connectionId }: CancelTarget,
    own: XmlaSession | undefined,
  ): readonly AbortController[] {
    const isMeant = (session: XmlaSession) =>
      sessionId === undefined && spid === undefined
        ? session === own
        : (sessionId === undefined || session.id === sessionId) &&
          (spid === undefined || session.spid === spid)
    const session = this.sessionsOf(caller).find(isMeant)
    if (session === undefined) throw unknown()
    if (connectionId === undefined) return [...session.running]
    const carried = this.#connections.get(connectionId)
    if (carried === undefined || !isSeen(caller, carried)) throw unknown()
    return [...carried.requests].flatMap((request) => (request.session === session ? request.controller : []))
  }
}

function unknown(): Fault {
  return new Fault('gone', 'The session or connection is unknown or has ended.')
}
