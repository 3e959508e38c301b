/** Lists the connections of this process as rows of pg_stat_activity. A principal sees only its own. */

import type { ActivityRow } from './catalog/session-sql.ts'
import type { CatalogSession } from './catalog-service.ts'
import type { SessionState } from './session-state.ts'

/** Characters of a statement that are shown. PostgreSQL's own limit is 1,024 bytes. */
const shownMax = 1024

/** The shown part of a statement. It is a copy, because a slice would keep the whole string in memory. */
export function shownText(text: string): string {
  return text.length <= shownMax ? text : Buffer.from(text.slice(0, shownMax)).toString()
}

/** An open connection. */
export interface Connected {
  readonly state: SessionState
  readonly address: string
  readonly isEncrypted: boolean
  /** Milliseconds since 1970. */
  readonly startedAtMs: number
}

export class Activity {
  readonly #open = new Set<Connected>()

  /** @returns a function that removes the connection */
  add(connected: Connected): () => void {
    this.#open.add(connected)
    return () => this.#open.delete(connected)
  }

  /** The connections of the session's principal, in its tenant and catalog. */
  of({ tenant, principal, catalog }: CatalogSession): readonly ActivityRow[] {
    return [...this.#open]
      .filter(
        ({ state }) =>
          state.reader.tenant === tenant &&
          state.reader.principal.sub === principal.sub &&
          state.catalog === catalog,
      )
      .map(rowOf)
  }
}

function rowOf({ state, address, isEncrypted, startedAtMs }: Connected): ActivityRow {
  const { current, transaction, processId, settings } = state
  const time = (ms: number) => new Date(ms).toISOString()
  return {
    pid: processId,
    application_name: settings.get('application_name'),
    client_addr: address,
    client_port: null,
    backend_start: time(startedAtMs),
    query_start: current.startedAtMs === undefined ? null : time(current.startedAtMs),
    state: current.isRunning ? 'active' : transaction.status === 'I' ? 'idle' : 'idle in transaction',
    query: current.text,
    ssl: isEncrypted,
    version: null,
    cipher: null,
  }
}
