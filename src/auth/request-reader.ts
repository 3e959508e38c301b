/** Gives the credential of an admitted request in the form in which the read path checks it while a statement runs. */

import type { Caller } from '../core/operation.ts'
import { mayBrowserSessionRead } from '../store/session/browser-sessions.ts'
import { findServiceSessionById } from '../store/session/sessions.ts'
import type { Store } from '../store/store.ts'
import type { ReadCredential } from './read-credential.ts'

/** The credential of a request whose operation needs the scope `read`. */
export function requestReader(store: Store, { session, principal, identified }: Caller): ReadCredential {
  const { tenant, sessionId, expiresAtMs, kind } = session
  return {
    tenant,
    principal,
    principalSource: principal === session.principal ? 'session' : identified.source,
    expiresAtMs,
    // The store's load of a statement knows service sessions only.
    sessionToCheck: () => (kind === 'service' ? sessionId : undefined),
    async stillValid() {
      if (kind === 'browser') return await mayBrowserSessionRead(store, tenant, sessionId)
      const now = await findServiceSessionById(store, sessionId)
      return now?.tenant === tenant && now.scopes.includes('read')
    },
  }
}
