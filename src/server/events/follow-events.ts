/**
 * Follows a tenant's sequence of events from a number, for streams that go on until the client, the session or the
 * process ends. The session is checked again before anything is sent, and while nothing happens.
 */

import type { Clock } from '../../base/clock.ts'
import type { TenantEvent } from '../../core/event.ts'
import type { Caller } from '../../core/operation.ts'
import { readEvents } from '../../store/event/events.ts'
import type { Store } from '../../store/store.ts'
import { graphqlBounds } from '../graphql/bounds.ts'
import type { EventFeed } from '../graphql/event-feed.ts'

export interface FollowParts {
  readonly store: Store
  readonly clock: Clock
  readonly events: EventFeed
}

export interface Follower {
  readonly caller: Caller
  readonly signal: AbortSignal
  /** Checks the caller again. @throws Fault where it may no longer read */
  readonly again: () => Promise<Caller>
}

/** Events, each with the caller as the session is when it is sent; undefined where nothing happened for a while. */
export async function* eventsAfter(
  { store, events, clock }: FollowParts,
  { signal, again, ...follower }: Follower,
  start: bigint,
): AsyncGenerator<readonly [TenantEvent | undefined, Caller]> {
  let { caller } = follower
  let after = start
  let checkedMs = clock.now()
  while (!signal.aborted) {
    const found = await readEvents(store, caller.tenant, after, graphqlBounds.firstMax)
    const isDue = clock.now() - checkedMs >= graphqlBounds.sessionMs
    if (found.length > 0 || isDue) {
      // Nothing is sent to a session that has ended.
      caller = await again()
      checkedMs = clock.now()
    }
    for (const event of found) {
      after = event.sequence
      if (signal.aborted) return
      yield [event, caller]
    }
    if (found.length > 0) continue
    if (isDue) yield [undefined, caller]
    await events.wait(caller.tenant, after, AbortSignal.any([signal, soon()]))
  }
}

const soon = () => AbortSignal.timeout(graphqlBounds.sessionMs)
