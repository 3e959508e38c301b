/** Runs the commands of docs/webhooks.md, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { eventTypes } from '../../src/core/event.ts'
import { appendEvent } from '../../src/store/event/events.ts'
import { session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { startTestService } from '../support/service.ts'

setDefaultTimeout(300_000)

const page = await Bun.file(new URL('../../docs/webhooks.md', import.meta.url)).text()

test('the commands do what the page says', async () => {
  await using service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const secret = await session(service, service.owner.tenant, ['read', 'admin'], ['administrator'])
  const received: { headers: Readonly<Record<string, string>>; body: string }[] = []
  await using receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      received.push({ headers: Object.fromEntries(request.headers), body: await request.text() })
      return new Response()
    },
  })
  await service.store.tenantTransaction(service.owner.tenant, (tx) =>
    appendEvent(tx, { type: 'contract.moved', subject: 'people', data: { to: 'active' } }),
  )
  const cwd = mkdtempSync(join(tmpdir(), 'covenant-docs-'))
  const script = [...page.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block]) => block)
    .join('\n')
    .replaceAll('https://covenant.example', service.app.url.href.replace(/\/$/, ''))
    .replaceAll('curl -sS', 'curl -sS --fail-with-body')
    // The event is sent before the webhook is removed.
    .replace('call -X DELETE', 'sh deliver.sh; call -X DELETE')
  const done = Promise.withResolvers<void>()
  await using pause = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch() {
      await service.app.webhooks.deliver()
      done.resolve()
      return new Response()
    },
  })
  await Bun.write(join(cwd, 'deliver.sh'), `curl -sS ${pause.url.href}\n`)
  const shell = Bun.spawn(['bash', '-e', '-c', script], {
    cwd,
    env: { ...process.env, SECRET: secret, RECEIVER: `${receiver.url.href}hook` },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exit] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out).toContain('{"queued":0}')
  expect(out).toContain('{"queued":1}')
  expect(out).toContain('"state":"disabled"')
  expect(out).not.toContain('whsec_')
  const made = (await Bun.file(join(cwd, 'hook.json')).json()) as { secret: string }
  const rotated = (await Bun.file(join(cwd, 'rotated.json')).json()) as { secret: string }
  expect(received).toHaveLength(1)
  for (const valid of [made.secret, rotated.secret])
    expect(new Webhook(valid).verify(received[0]?.body ?? '', received[0]?.headers ?? {})).toMatchObject({
      subject: 'people',
    })
  rmSync(cwd, { recursive: true })
})

test('the page names every type of event', () => {
  expect(eventTypes.filter((type) => !page.includes(`\`${type}\``))).toEqual([])
})
