/**
 * Refuses a pooler that gives one connection the sessions of others by turns. Roles, prepared statements, locks and
 * notifications belong to a session. The test is what happens, and not who answers.
 */

import { Fault } from '../../base/fault.ts'
import type { Link } from './link.ts'
import { limited } from './session.ts'

/** Others may use the pooler meanwhile, so that one round may show nothing. */
const rounds = 4

/**
 * Looks whether two connections keep their sessions while their transactions begin and end by turns.
 * @throws Fault `misconfigured` where they do not; the driver's error
 */
export async function assertOwnSessions(open: () => Promise<Link>, ms: number): Promise<void> {
  const links: Link[] = []
  try {
    for (const _ of ['one', 'other']) links.push(await open())
    const run = (link: Link, text: string) => limited(link, ms, link.sql.unsafe(text).simple())
    const sessions = async () => {
      const pids: unknown[] = []
      for (const link of links) pids.push((await run(link, 'select pg_backend_pid() as pid'))[0]?.pid)
      return pids
    }
    const first = await sessions()
    if (first[0] === first[1]) throw shared()
    for (let round = 0; round < rounds; round++) {
      for (const link of links) await run(link, 'begin')
      // A pooler hands out the session that was given back last, or first.
      for (const link of round % 2 === 0 ? links : links.toReversed()) await run(link, 'commit')
      const now = await sessions()
      if (now[0] !== first[0] || now[1] !== first[1]) throw shared()
    }
  } finally {
    await Promise.all(links.map((link) => link.close()))
  }
}

const shared = () =>
  new Fault(
    'misconfigured',
    'The database is behind a pooler that moves connections between sessions, as PgBouncer does by transaction. Set pool_mode = session for this service, or connect to the server itself (docs/operations.md).',
  )
