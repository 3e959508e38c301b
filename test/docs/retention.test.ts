/** Runs the commands of docs/retention.md, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { commands } from '../../src/admin/commands.ts'
import { historyKinds } from '../../src/core/retention.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { keepMonths, listMonths } from '../../src/store/history/months.ts'
import { putRetentionDefault } from '../../src/store/history/retention.ts'
import { actorOf } from '../support/actor.ts'
import { intentOf, rejectedOf } from '../support/commits.ts'
import { session, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(300_000)

const root = new URL('../../', import.meta.url).pathname
const page = await Bun.file(`${root}docs/retention.md`).text()

const scriptOf = (fence: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${fence}\n(.*?)^\`\`\``, 'gms'))].map(([, block]) => block).join('\n')

test('the commands do what the page says', async () => {
  await using service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  const roles = ['administrator', 'steward']
  const secret = await session(service, service.owner.tenant, ['read', 'admin'], roles)
  const run = async (fence: string, COVENANT_SESSION: string) => {
    const script = `covenant() { "${process.execPath}" "${root}src/main.ts" "$@"; }\n${scriptOf(fence)}`
    const shell = Bun.spawn(['bash', '-e', '-c', script], {
      env: { ...process.env, COVENANT_URL: service.app.url.href, COVENANT_SESSION },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err, exit] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    return out
  }
  // A month of 2024 with one decision; the page's installation keeps it for 400 days.
  const { store, owner } = service
  await keepMonths(store, new Date('2024-01-15'))
  await recordVerdict(store, owner.tenant, rejectedOf(intentOf({ receivedAtMs: Date.UTC(2024, 0, 15) })))
  await putRetentionDefault(store, 'audit', 400, actorOf('root'))
  const own = await run('sh', secret)
  expect(own).toContain('"release": {')
  expect(own).toContain('Case 4711')
  const installation = await run('sh operator', service.operator)
  expect(installation).toContain('"keep_days": 60')
  expect(installation).toContain('"expired": true')
  expect(installation).toContain('{"step":"detached","rows":1}')
  expect(installation).toContain('{"verified":true,"rows":1}')
  const [month] = (await listMonths(store)).filter(({ detached }) => detached !== undefined)
  expect(month).toMatchObject({ name: 'audit_log_2024_01', detached: { rows: 1 } })
})

test('the page shows every kind, and every command on it', () => {
  expect(historyKinds.filter((kind) => !page.includes(`| \`${kind}\` |`))).toEqual([])
  const words = commands
    .map((command) => command.words)
    .filter((name) => /^(?:retention|hold|month) /.test(name))
  expect(words.filter((name) => !page.includes(`covenant admin ${name}`))).toEqual([])
})
