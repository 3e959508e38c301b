/** Lets a steward of a lake declare tables and metrics over REST, as a user does. */

import { createServiceSession } from '../../src/store/session/sessions.ts'
import { ask } from './identity.ts'
import type { Lake } from './lake.ts'

/** The secret of a steward's session. */
export async function openSteward(lake: Lake, tenant = lake.tenant, sub = 'stella'): Promise<string> {
  const session = { name: sub, principal: { sub, roles: ['steward'] }, scopes: ['read', 'admin'] as const }
  return (await createServiceSession(lake.store, tenant, session)).secret
}

/** Puts what a steward declares. @throws Error with the answer where it is refused */
export function declaringAs(lake: Lake, steward: string): (path: string, body: object) => Promise<void> {
  return async (path, body) => {
    const { status, body: answer } = await ask(lake, 'PUT', path, steward, body)
    if (status >= 300) throw new Error(JSON.stringify(answer))
  }
}
