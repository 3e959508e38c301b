/** Iceberg's REST compatibility kit, directly on the reference server and through the gateway. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startGateway } from './gateway.ts'
import { java, packageFolder } from './packages.ts'
import { type Finished, runClient } from './processes.ts'
import { startRestFixture } from './servers.ts'

/** Names of kit tests by what became of them. */
interface KitReport {
  readonly passed: ReadonlySet<string>
  readonly failed: ReadonlySet<string>
  /** The kit itself gave up: the server does not claim what the test is of. */
  readonly aborted: ReadonlySet<string>
}

async function runKit(name: string, settings: Readonly<Record<string, string>>): Promise<KitReport> {
  const properties = Object.entries(settings).map(([key, value]) => `-D${key}=${value}`)
  const kit = ['RESTCompatibilityKitCatalogTests', 'RESTCompatibilityKitViewCatalogTests']
  const { output } = await runClient(
    name,
    [
      java(),
      '-Xmx600m',
      ...properties,
      '-cp',
      join(packageFolder('maven:iceberg-rest'), 'lib/*'),
      'org.junit.platform.console.ConsoleLauncher',
      'execute',
      '--config=rck.local=false',
      ...kit.map((one) => `--select-class=org.apache.iceberg.rest.${one}`),
      '--exclude-engine=junit-platform-suite',
      '--details=tree',
      '--disable-ansi-colors',
      '--disable-banner',
    ],
    { seconds: 300 },
  )
  return reportOf({ output, exitCode: 0 })
}

function reportOf({ output }: Finished): KitReport {
  const marked = (mark: string) =>
    new Set(
      [...output.matchAll(new RegExp(`─ (\\w+)\\([^)]*\\)(?: \\d+ ms)? ${mark}`, 'g'))].map(
        ([, n = '']) => n,
      ),
    )
  const report = { passed: marked('✔'), failed: marked('✘'), aborted: marked('■') }
  if (report.passed.size === 0) throw new Error(`the kit did not run:\n${output.slice(-2000)}`)
  return report
}

test('rck: every test of the kit that passes at the reference server passes through the gateway', async () => {
  const direct = await at((url) => runKit('rck-direct', { uri: url }))
  const through = await at(async (url) => {
    await using gateway = await startGateway({ kind: 'alpha', url, config: { warehouse: 'rck' } })
    return await runKit('rck-gateway', {
      uri: gateway.catalogUri(),
      'header.X-Svc-Session': gateway.secret,
    })
  })
  expect([...through.failed]).toEqual([...direct.failed])
  expect([...through.aborted].sort()).toEqual([...direct.aborted].sort())
  expect(through.passed.size).toBe(direct.passed.size)
  expect(through.passed.size).toBeGreaterThan(100)
})

async function at<T>(run: (url: string) => Promise<T>): Promise<T> {
  await using fixture = await startRestFixture()
  return await run(fixture.url)
}
