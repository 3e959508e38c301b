/** The community's capabilities run without a license and after its end, with all their checks. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import pg from 'pg'
import { setProperties } from '../../demo/commits.ts'
import { licenseForAll } from '../support/license.ts'
import { lineageEvent, sendLineage } from '../support/lineage.ts'
import { audit, commit, governOrders, startTestService } from '../support/service.ts'

setDefaultTimeout(300_000)

describe.each([
  ['without a license', {}, 'none', 0],
  ['with a license that has expired', { SVC_LICENSE: licenseForAll() }, 'expired', 60 * 86_400_000],
] as const)('%s', (_, env, state, laterMs) => {
  test('commits are judged and audited, lineage is taken, and SQL clients are served', async () => {
    await using service = await startTestService({
      env,
      clock: { now: () => Date.now() + laterMs },
    })
    expect(service.app.licensed.state()).toBe(state)

    await governOrders(service, { id: 'writers', definitionCel: 'principal.role(principal, "writer")' })
    expect((await commit(service, setProperties({ reviewed: 'yes' }), { roles: ['writer'] })).status).toBe(
      200,
    )
    const denied = await commit(service, setProperties({ reviewed: 'no' }))
    expect([denied.status, await denied.text()]).toEqual([403, expect.stringMatching(/^policy denied: /)])
    expect((await audit(service)).map(({ decision }) => decision)).toEqual(['REJECTED', 'APPROVED'])

    expect((await sendLineage(service, lineageEvent({ inputs: ['a'], outputs: ['b'] }))).status).toBe(202)

    const client = new pg.Client({
      host: '127.0.0.1',
      port: service.app.pgwirePort,
      user: 'acme',
      database: 'main',
      password: service.owner.secret,
    })
    await client.connect()
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    // Not under contract, so it is not there for a reader: the read path judges, too.
    expect(await client.query('select * from sales.orders').catch(({ code }) => code)).toBe('42P01')
    await client.end()
  })
})
