/** Who makes a change in a test that calls the store or a verb itself. */

import type { Actor } from '../../src/core/administration.ts'

/** A principal of this subject, of no session. */
export function actorOf(sub: string): Actor {
  return { sub, roles: [], source: 'session', requestId: 'a-test' }
}
