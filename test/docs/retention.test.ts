/** Runs the commands of docs/retention.md, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { commands } from '../../src/admin/commands.ts'
import { historyKinds } from '../../src/core/retention.ts'
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
  const own = await run('sh', secret)
  expect(own).toContain('"release": {')
  expect(own).toContain('Case 4711')
  const installation = await run('sh operator', service.operator)
  expect(installation).toContain('"keep_days": 60')
})

test('the page shows every kind, and every command on it', () => {
  expect(historyKinds.filter((kind) => !page.includes(`| \`${kind}\` |`))).toEqual([])
  const words = commands
    .map((command) => command.words)
    .filter((name) => /^(?:retention|hold|month) /.test(name))
  expect(words.filter((name) => !page.includes(`covenant admin ${name}`))).toEqual([])
})
